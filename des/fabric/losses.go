package fabric

import "cmp"

// Loss is a packet that was lost, or that a switch cut to its header.
type Loss struct {
	Drop
	Cut bool
}

// keptLosses is how many losses are kept in a place.
const keptLosses = 8

// firstLosses are the first losses of the flows that lost something first, at an output, on
// a link with faults, or at a switch from which no way led on. What is kept depends on what
// is lost there alone, not on the order in which it is told of.
type firstLosses []Loss

// keep takes a loss, if it is one of them.
func (f *firstLosses) keep(l *Loss) {
	list := *f
	at, last := -1, 0
	for i := range list {
		if list[i].flow() == l.flow() {
			at = i
		}
		if list[i].compare(&list[last]) > 0 {
			last = i
		}
	}
	switch {
	case at < 0 && len(list) < keptLosses:
		*f = append(list, *l)
	case at < 0 && l.compare(&list[last]) < 0:
		list[last] = *l
	case at >= 0 && l.compare(&list[at]) < 0:
		list[at] = *l
	}
}

// lossFlow is what the packets of a flow that go in one direction have in common.
type lossFlow struct {
	from int32
	qp   uint32
	kind uint8
}

func (l *Loss) flow() lossFlow {
	return lossFlow{l.Packet.From(), l.Packet.QP, l.Packet.Kind()}
}

// compare orders losses by time; no two packets of a kind agree in all else.
func (l *Loss) compare(m *Loss) int {
	a, b := l.flow(), m.flow()
	return cmp.Or(cmp.Compare(l.At, m.At), cmp.Compare(a.from, b.from), cmp.Compare(a.qp, b.qp), cmp.Compare(l.Packet.PSN, m.Packet.PSN), cmp.Compare(a.kind, b.kind))
}

// Losses hands over the losses that are kept of a link with faults.
func (f *LinkFaults) Losses(visit func(*Loss)) {
	for i := range f.losses {
		visit(&f.losses[i])
	}
}

// Astray hands over the losses that are kept of packets for which there was no way.
func (s *Switch) Astray(visit func(*Loss)) {
	if s.detours == nil {
		return
	}
	for i := range s.detours.losses {
		visit(&s.detours.losses[i])
	}
}
