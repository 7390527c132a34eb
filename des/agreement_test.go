package des

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/des/fabric"
)

// account is what engine and reference must agree on of one switch.
type account struct {
	Pauses, Drops, Cuts, Marks, Through int64
	First                               refDrop
}

// agreement runs a job on the engine and on the reference and returns in what they differ,
// and what happened, as labels.
func agreement(t *testing.T, j Job) (diff string, happened []string) {
	t.Helper()
	f, digest, finish := referAll(j)
	r, res := runSwitches(t, j)
	var b strings.Builder
	if d := cmp.Diff(finish, finishes(res)); d != "" {
		fmt.Fprintf(&b, "finish of ranks (-reference +engine):\n%s", d)
	}
	if res.Digest != digest || res.PacketHops != f.hops {
		fmt.Fprintf(&b, "digest %x and %d packet-hops, the reference has %x and %d\n", res.Digest, res.PacketHops, digest, f.hops)
	}
	var sum [5]int64 // pauses, drops, cuts, marks, through
	for i, s := range r.buffered {
		node := int32(i + j.Topology.Hosts())
		got, want := account{Pauses: s.Tally.Pauses, Drops: s.Tally.Drops, Cuts: s.Tally.Cuts, Marks: s.Marks(), Through: s.Tally.Through}, account{}
		if d := &s.Tally.First; s.Tally.Drops > 0 {
			got.First = refDrop{d.At + r.medium.Lead, int64(d.Link), d.Class, d.Reason, d.Packet.PSN}
			happened = append(happened, "drops: "+d.Reason.String())
		}
		if s := f.switches[node]; s != nil {
			want = account{s.pauses, s.drops, s.cuts, s.marks, s.through, s.first}
			for id, p := range s.ports {
				if got := r.queues[id]; got != p.deepest {
					fmt.Fprintf(&b, "queue of %s: %d B, the reference has %d\n", r.linkName(int32(id)), got, p.deepest)
				}
			}
		}
		if got != want {
			fmt.Fprintf(&b, "switch %d: %+v, the reference has %+v\n", i, got, want)
		}
		sum = add(sum, [5]int64{got.Pauses, got.Drops, got.Cuts, got.Marks, got.Through})
	}
	lost := map[string]int64{}
	if f.faults != nil {
		if lost = f.faults.lost; f.faults.noWay > 0 {
			lost["no way"] = f.faults.noWay
		}
	}
	if d := cmp.Diff(lost, lostBy(r)); d != "" {
		fmt.Fprintf(&b, "lost to faults (-reference +engine):\n%s", d)
	}
	for why := range lost {
		happened = append(happened, "lost: "+why+":")
	}
	happened = append(happened, res.Verdict.Outcome.String()+":")
	for label := range f.happened {
		happened = append(happened, label)
	}
	for i, label := range []string{"pauses:", "drops:", "cuts:", "marks:", "sent on before it was whole:"} {
		if sum[i] > 0 {
			happened = append(happened, label)
		}
	}
	return b.String(), happened
}

// The engine and the reference agree bit for bit on a thousand random small cases, with
// every kind of topology: the end of every operation, the finish of every rank, the number
// of packets on links, and what each switch has paused, dropped first and in all, cut,
// marked and held. What the cases are about is counted: a kind of case that is hardly ever
// met would prove nothing.
func TestAgreesWithReference(t *testing.T) {
	first, end, usual := casesToRun(0, 1000, 100)
	count := map[string]int{}
	for number := first; number < end; number++ {
		c, j := newCase(t, number)
		diff, happened := agreement(t, j)
		if slices.Contains(happened, "drops: "+fabric.HeadroomFull.String()) && !slices.Contains(c.labels, "headroom") && !slices.Contains(happened, "lost: pause:") {
			diff += "the headroom that a link needs by itself does not suffice\n"
		}
		if diff != "" {
			t.Fatalf("%s\n%s", diff, c)
		}
		seen := map[string]bool{}
		for _, label := range append(happened, c.labels...) {
			if !seen[label] {
				count[label]++
			}
			seen[label] = true
		}
	}
	t.Logf("what the cases are about: %v", count)
	if !usual {
		return
	}
	for _, label := range covered() {
		if count[label] < 10 {
			t.Errorf("%d of the cases: %s", count[label], label)
		}
	}
	for _, label := range pairLabels() {
		if count[label] < 5 {
			t.Errorf("%d of the cases: %s", count[label], label)
		}
	}
}
