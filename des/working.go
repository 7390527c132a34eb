package des

import "hybrid/internal/units"

// working says whether anything goes on at the nodes without the network: operations that
// will end, messages that are being prepared, packets of a scale-up fabric. A run whose
// network stands still ends only after that, so that what it has done until then does not
// depend on when the standstill was noticed, which is between windows.
func (r *run) working() bool {
	for _, d := range r.domains {
		if d.events.Len() > 0 || d.fabric != nil && d.fabric.Next() < units.Never {
			return true
		}
	}
	return false
}
