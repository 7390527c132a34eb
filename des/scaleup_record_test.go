package des

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// upTape is a tape that keeps the counters of the scale-up fabric too.
type upTape struct {
	tape
	ups  [][]replay.PortCount
	none bool // a call gave no counters
}

func (p *upTape) Mark(at units.Time, links, ups []replay.PortCount) error {
	p.ups, p.none = append(p.ups, slices.Clone(ups)), p.none || ups == nil
	return p.tape.Mark(at, links, ups)
}

func (p *upTape) End(res *replay.Result, links, ups []replay.PortCount) error {
	p.ups, p.none = append(p.ups, slices.Clone(ups)), p.none || ups == nil
	return p.tape.End(res, links, ups)
}

// Packets of 4120 and 928 B leave at 0 and 41,200 and have been received at 382,400 and
// 391,680: what happens at a mark is not counted yet. Rank 2 is in no group.
func TestScaleUpCounters(t *testing.T) {
	p := &upTape{tape: tape{times: []units.Time{1, 41_200, 41_201, 382_400, 382_401, 391_681}}}
	b := newBuilder(t, 3)
	r := b.Rank(0, true)
	b.send(r, 1, 1, 5000, 0)
	r.Done()
	r = b.Rank(1, true)
	b.recv(r, 0, 1, 5000)
	r.Done()
	j := inGroups(job(t, b.graph(), network(t, "star", link400, roce), 1), []int32{1, 1, -1}, make([]uint32, 3))
	j.Recorder = p
	finished(t, j)
	tx := []replay.PortCount{{}, {TxPackets: 1, TxBytes: 4120}, {TxPackets: 2, TxBytes: 5048}}
	rx := []replay.PortCount{{}, {RxPackets: 1, RxBytes: 4120}, {RxPackets: 2, RxBytes: 5048}}
	var want [][]replay.PortCount
	for _, at := range [][2]int{{1, 0}, {1, 0}, {2, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 2}} {
		want = append(want, []replay.PortCount{tx[at[0]], rx[at[1]], {}})
	}
	if diff := cmp.Diff(want, p.ups); diff != "" {
		t.Errorf("counters of ranks (-want +got):\n%s", diff)
	}
	j = job(t, b.graph(), network(t, "star", link400, roce), 1)
	p = &upTape{}
	j.Recorder = p
	finished(t, j)
	if !p.none {
		t.Error("counters of a fabric that is not there")
	}
}

// A transfer over the fabric: the send ends when its last bit has left, the receive when it
// has been received, the acknowledgement comes one round trip later, and then the sender
// ends; the receiver does not wait for it.
func TestScaleUpEvents(t *testing.T) {
	p := &tape{}
	j := oneGroup(job(t, sendAndReceive(t, 4096, 0, 0, 0), network(t, "star", link400, roce), 1))
	j.Recorder = p
	finished(t, j)
	type told struct {
		Kind replay.EventKind
		Rank int32
		Op   graph.Kind
		T    units.Time
	}
	var got []told
	for _, e := range p.events {
		if e.OpKind != graph.Compute || e.Kind == replay.RankEnded {
			got = append(got, told{e.Kind, e.Rank, e.OpKind, e.T})
		}
	}
	want := []told{
		{replay.OpStarted, 0, graph.Send, 0}, {replay.OpStarted, 1, graph.Recv, 0}, {replay.OpEnded, 0, graph.Send, 41_200},
		{replay.OpEnded, 1, graph.Recv, 382_400}, {Kind: replay.RankEnded, Rank: 1, T: 382_400},
		{replay.Acked, 0, graph.Send, 641_200}, {Kind: replay.RankEnded, Rank: 0, T: 641_200},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// With groups, and with links without delay, the stream of events is the same however the
// run is done, every send is acknowledged, and ranks end when the result says.
func TestScaleUpRecordingHoweverRun(t *testing.T) {
	cases := 0
	for seed := uint64(0); cases < 30; seed++ {
		j := randomJob(t, seed)
		if j.Placement.ScaleUp == nil {
			continue
		}
		var first *upTape
		for threads := 1; threads <= 3; threads++ {
			p := &upTape{tape: tape{every: 300_000}}
			k := j
			k.Recorder, k.Threads, k.ShuffleSeed = p, threads, uint64(threads-1)
			if threads == 3 {
				k.Window = 70_000
			}
			res := simulate(t, k)
			if first == nil {
				first = p
				if res.Verdict.OK() {
					cases++
					checkStream(t, p.events, res)
				}
				continue
			}
			if !slices.Equal(first.events, p.events) {
				t.Fatalf("case %d, %d threads: %s", seed, threads, cmp.Diff(first.events, p.events))
			}
			if !slices.EqualFunc(first.ups, p.ups, slices.Equal) {
				t.Fatalf("case %d, %d threads: %s", seed, threads, cmp.Diff(first.ups, p.ups))
			}
		}
	}
}

func checkStream(t *testing.T, events []replay.Event, res *replay.Result) {
	t.Helper()
	sends, acks := 0, 0
	for _, e := range events {
		switch {
		case e.Kind == replay.RankEnded:
			if e.T != res.Ranks[e.Rank].Finish {
				t.Fatalf("rank %d ends at %d, the result has %d", e.Rank, e.T, res.Ranks[e.Rank].Finish)
			}
		case e.Kind == replay.Acked:
			acks++
		case e.Kind == replay.OpEnded && e.OpKind == graph.Send:
			sends++
		}
	}
	if sends != acks {
		t.Fatalf("%d sends, %d acknowledgements", sends, acks)
	}
}
