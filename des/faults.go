package des

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hybrid/des/fabric"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

// faults are those of a run.
type faults struct {
	links  []*fabric.LinkFaults // by link; nil where all is well
	list   []*fabric.LinkFaults
	epochs []fabric.Epoch
}

// maxDetours bounds the entries of the tables of all sets of failed links together.
const maxDetours = 1 << 27

// setFaults reads the faults of the network, on the clocks of the near ends.
func (r *run) setFaults(list *diag.List) {
	n, topo := r.job.Network, r.job.Topology
	found := n.FaultsOn(topo, list)
	if len(found) == 0 || list.HasErrors() {
		return
	}
	f := &faults{links: make([]*fabric.LinkFaults, len(topo.Links()))}
	loses := false
	for _, x := range found {
		l := &fabric.LinkFaults{Link: x.Link, Loss: x.Loss, BitErrors: x.BitErrors, Salt: fabric.FaultSalt(r.job.Seed, x.Link)}
		for _, o := range x.Down {
			l.Down = append(l.Down, fabric.Outage{From: r.nearEnd(x.Link, o.From), Until: r.nearEnd(x.Link, o.Until)})
		}
		f.links[x.Link] = l
		f.list = append(f.list, l)
		loses = loses || !x.Loss.IsZero() || !x.BitErrors.IsZero()
	}
	if loses && !r.params.Packets {
		list.Warnf("W965", positionOf(n, "faults"), "the ideal transport has no packets: loss and bit_error_rate have no effect")
	}
	r.faults, r.params.Lossy = f, true
	r.setEpochs(found, list)
}

// nearEnd converts a time to ticks on the clock of a link's near end.
func (r *run) nearEnd(link int32, ps int64) units.Time {
	t := r.clock.Ticks(ps)
	if t < units.Never && r.job.Topology.Links()[link].From >= r.medium.Hosts {
		t -= r.medium.Lead
	}
	return t
}

// change is a link that goes down, or comes back.
type change struct {
	at   int64
	link int32
	down bool
}

// setEpochs finds when packets take other ways: the reroute time after each change of the
// links, but from the start where they are down from the start.
func (r *run) setEpochs(found []networks.LinkFaults, list *diag.List) {
	var changes []change
	for _, x := range found {
		for _, o := range x.Down {
			changes = append(changes, change{o.From, x.Link, true})
			if r.clock.Ticks(o.Until) < units.Never {
				changes = append(changes, change{o.Until, x.Link, false})
			}
		}
	}
	if len(changes) == 0 {
		return
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.link, b.link)) })
	wiring := networks.NewWiring(r.job.Topology)
	known := map[string]*networks.Degraded{"": nil}
	down := map[int32]bool{}
	for i, c := range changes {
		if down[c.link] = true; !c.down {
			delete(down, c.link)
		}
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		at := r.clock.Ticks(c.at)
		if c.at > 0 {
			at = later(at, r.clock.Ticks(r.job.Network.Fabric.Reroute))
		}
		r.faults.epochs = append(r.faults.epochs, fabric.Epoch{From: at, Ways: waysWithout(wiring, down, known)})
	}
	if sets := int64(len(known) - 1); sets*wiring.Entries() > maxDetours {
		list.Errorf("E968", positionOf(r.job.Network, "faults"), "%s sets of links are down at one time or another; next hops around them need %s entries, more than %s",
			units.FormatCount(sets), units.FormatCount(sets*wiring.Entries()), units.FormatCount(maxDetours))
	}
}

// waysWithout returns the ways of a network without some links; equal sets share one table.
func waysWithout(w *networks.Wiring, down map[int32]bool, known map[string]*networks.Degraded) *networks.Degraded {
	links := slices.Sorted(maps.Keys(down))
	var key []byte
	for _, id := range links {
		key = binary.LittleEndian.AppendUint32(key, uint32(id))
	}
	ways, ok := known[string(key)]
	if !ok {
		ways = w.Without(links)
		known[string(key)] = ways
	}
	return ways
}

// failLink puts the faults of a link on its wire.
func (r *run) failLink(w *fabric.Wire, id int, l networks.Link) {
	if r.faults != nil && r.faults.links[id] != nil {
		w.Fail(r.medium, l, r.faults.links[id])
	}
}

// detour tells NICs and switches of the faults.
func (r *run) detour(first []int32, wires [][]fabric.Wire) {
	if r.faults == nil {
		return
	}
	ports := func(node int) []*fabric.LinkFaults {
		return r.faults.links[first[node]:][:len(wires[node])]
	}
	for i, n := range r.nics {
		n.Detour(r.faults.epochs, ports(i))
	}
	hosts := r.job.Topology.Hosts()
	for i, s := range r.fabricSwitches() {
		s.Detour(r.faults.epochs, ports(hosts+i), r.medium.Lead)
	}
}

// fabricSwitches are the switches by number, with or without a packet memory.
func (r *run) fabricSwitches() []*fabric.Switch {
	if r.buffering == nil {
		return r.switches
	}
	out := make([]*fabric.Switch, len(r.buffered))
	for i, s := range r.buffered {
		out[i] = &s.Switch
	}
	return out
}

// faultLosses adds what links have lost; first is the first loss by simulated time.
func (r *run) faultLosses(sum *losses, first *fabric.Drop) {
	if r.faults == nil {
		return
	}
	take := func(n int64, d fabric.Drop, lead units.Time) {
		if d.At += lead; n > 0 && (sum.drops == 0 || d.At < first.At || d.At == first.At && d.Link < first.Link) {
			*first = d
		}
		sum.drops += n
		sum.faults += n
	}
	for _, f := range r.faults.list {
		lead := units.Time(0)
		if r.job.Topology.Links()[f.Link].From >= r.medium.Hosts {
			lead = r.medium.Lead
		}
		take(f.Packets(), f.First, lead)
	}
	for _, s := range r.fabricSwitches() {
		n, d := s.Stranded()
		take(n, d, r.medium.Lead)
	}
}

// describeLoss tells of a packet that a link lost, or for which there was no way.
func (r *run) describeLoss(d *fabric.Drop) string {
	p := &d.Packet
	head := fmt.Sprintf("at %s %s", r.timeText(d.At), r.frameOf(p))
	if !r.params.Packets {
		head = fmt.Sprintf("at %s a message from %s to %s", r.timeText(d.At), r.nodeName(p.From()), r.nodeName(p.To()))
	}
	if d.Reason == fabric.NoWay {
		return fmt.Sprintf("%s was dropped at %s: no way leads from there to %s", head, r.nodeName(r.job.Topology.Links()[d.Link].From), r.nodeName(p.To()))
	}
	return fmt.Sprintf("%s was lost on the way from %s: %s", head, r.linkName(d.Link), d.Reason)
}

// faultVerdict explains a run that did not end, though nothing was lost: something waits
// for a link that does not come back, or came out of order when its way changed.
func (r *run) faultVerdict(v *replay.Verdict) {
	if r.faults == nil || v.Outcome == replay.Finished && r.acknowledged() {
		return
	}
	switch v.Outcome {
	case replay.Stopped, replay.Interrupted, replay.Failed:
		return
	}
	text := ""
	late := int64(0)
	for i, n := range r.nics {
		late += n.Discarded
		n.Disconnected(func(link int32) {
			if text == "" {
				text = fmt.Sprintf("%s waits for its link to come back, %s, which it does not", r.nodeName(int32(i)), r.linkName(link))
			}
		})
	}
	if text == "" && late > 0 {
		text = fmt.Sprintf("%s packets came out of order when their way changed; the transport cannot put them in order", units.FormatCount(late))
	}
	if text != "" {
		*v = replay.Verdict{Outcome: replay.Failed, Blocked: v.Blocked, Errors: []error{fmt.Errorf("%s", text)}}
	}
}

// stuck says whether packets may be left although nothing was lost.
func (r *run) stuck() bool { return r.faults != nil && len(r.faults.epochs) > 0 }

// faultNotes say for the result what faults there were and what they cost, by reason and
// by link.
func (r *run) faultNotes() []string {
	if r.faults == nil {
		return nil
	}
	var by [fabric.NoWay + 1]int64
	pauses := int64(0)
	var worst []*fabric.LinkFaults
	for _, f := range r.faults.list {
		pauses += f.Pauses
		for why := range by {
			by[why] += f.Lost[why]
		}
		if f.Packets() > 0 {
			worst = append(worst, f)
		}
	}
	for _, s := range r.fabricSwitches() {
		n, _ := s.Stranded()
		by[fabric.NoWay] += n
	}
	var b strings.Builder
	on := fmt.Sprintf("faults on %s directed links", units.FormatCount(int64(len(r.faults.list))))
	if len(r.faults.list) == 1 {
		on = "faults on a directed link"
	}
	b.WriteString(on + " lost no packet")
	separator := ""
	for why, n := range by {
		if n == 0 {
			continue
		}
		if separator == "" {
			b.Reset()
			b.WriteString(on + " lost packets: ")
		}
		fmt.Fprintf(&b, "%s%s for %q", separator, units.FormatCount(n), fabric.Reason(why))
		separator = ", "
	}
	if pauses > 0 {
		fmt.Fprintf(&b, "; %s pause frames", units.FormatCount(pauses))
	}
	slices.SortStableFunc(worst, func(a, b *fabric.LinkFaults) int { return cmp.Compare(b.Packets(), a.Packets()) })
	for i, f := range worst {
		if i == 0 {
			b.WriteString("; by link: ")
		} else if b.WriteString(", "); i == 8 {
			fmt.Fprintf(&b, "%s others", units.FormatCount(int64(len(worst)-i)))
			break
		}
		fmt.Fprintf(&b, "%s %s", r.linkName(f.Link), units.FormatCount(f.Packets()))
	}
	return []string{b.String()}
}

// faultDrops adds, for a recorder, the packets dropped in front of links that are down.
func (r *run) faultDrops(links []replay.PortCount) {
	if r.faults == nil {
		return
	}
	for _, f := range r.faults.list {
		if r.buffering == nil || r.job.Topology.Links()[f.Link].From < r.medium.Hosts { // else a switch has set it to its own
			links[f.Link].TxDrops = 0
		}
		links[f.Link].TxDrops += f.Lost[fabric.LinkDown]
	}
}
