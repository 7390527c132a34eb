package replay

// Written returns the size as written of the collective that an issued transfer belongs
// to, and 0 for any other instance.
func (c *Cursor) Written(handle int32) int64 {
	in := &c.insts[handle]
	if in.step < 0 {
		return 0
	}
	return c.parts[in.part].call.Bytes
}
