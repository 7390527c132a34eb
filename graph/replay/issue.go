package replay

import (
	"fmt"
	"math"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// opIssue fills an issue for a plain operation; the issue must be zero.
func (c *Cursor) opIssue(is *Issue, h, at int32) error {
	op := &c.p.Ops[at]
	is.Handle, is.Op, is.Site, is.Step, is.Kind, is.Flags = h, at, op.Site, -1, op.Kind, op.Flags
	c.env.Op = at
	if op.Kind != graph.Send && op.Kind != graph.Recv {
		is.Peer = graph.AnyRank
		return c.workIssue(is, op)
	}
	peer, err := c.eval(op.Peer, at)
	if err != nil {
		return err
	}
	tag, err := c.eval(op.Tag, at)
	if err != nil {
		return err
	}
	bytes, err := c.eval(op.Size, at)
	if err != nil {
		return err
	}
	if peer < 0 && !(op.Kind == graph.Recv && peer == graph.AnyRank) || peer >= int64(c.g.Ranks) {
		return c.located(op, "E301", "rank %d computed on rank %d is outside 0..%d", peer, c.rank, c.g.Ranks-1)
	}
	if bytes < 0 {
		return c.located(op, "E222", "negative size %d B on rank %d", bytes, c.rank)
	}
	if tag < graph.AnyTag || tag >= maxTag || tag == graph.AnyTag && op.Kind == graph.Send {
		return c.located(op, "E404", "tag %d computed on rank %d is outside 0..%d", tag, c.rank, int64(maxTag-1))
	}
	is.Peer, is.Bytes = int32(peer), c.bytes(bytes)
	is.Tag, is.Context = splitTag(tag, op.Arg)
	return nil
}

// maxTag bounds tags: what a tag has beyond 31 bits travels in the context, whose
// top bit is taken.
const maxTag = 1 << 62

// splitTag puts the low 31 bits of a tag in the key's tag and the rest in its
// context.
func splitTag(tag int64, context int32) (int32, uint64) {
	if tag < 0 {
		return graph.AnyTag, uint64(uint32(context))
	}
	return int32(tag & math.MaxInt32), uint64(uint32(context)) | uint64(tag>>31)<<32
}

// bytes applies the graph's scale to the size of a transfer.
func (c *Cursor) bytes(n int64) int64 {
	if c.scaled {
		return c.g.ScaleBytes(n)
	}
	return n
}

func (c *Cursor) workIssue(is *Issue, op *graph.Op) error {
	if c.cfg.NoDurations {
		return nil
	}
	d, err := c.p.Duration(op.Arg, c.slot, &c.env)
	if err != nil {
		return err
	}
	is.Duration = d
	if c.scaled {
		is.Duration = c.g.ScaleTime(d)
	}
	if m := c.p.Costs[op.Arg].Memory; m.Den > 0 {
		n, err := c.p.Eval(m.V, c.slot, &c.env)
		if err != nil {
			return err
		}
		is.Bytes = c.bytes(units.MulDiv(n, m.Num, m.Den))
	}
	return nil
}

func (c *Cursor) eval(v graph.Value, at int32) (int64, error) {
	if n, ok := c.p.Known(v, c.slot); ok {
		return n, nil
	}
	c.env.Op = at
	return c.p.Eval(v, c.slot, &c.env)
}

// located makes a diagnostic at the operation's site.
func (c *Cursor) located(op *graph.Op, code, format string, args ...any) error {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Pos: c.g.Sites[op.Site].Pos, Message: fmt.Sprintf(format, args...)}
}

func (c *Cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
