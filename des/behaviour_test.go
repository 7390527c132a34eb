package des

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/networks"
)

const link400 = "{rate: 400Gbps, delay: 500ns}"

// blockingRing lets every rank send to the next and then receive from the one before,
// each statement blocking.
func blockingRing(t testing.TB, ranks int, bytes int64) *graph.Graph {
	b := newBuilder(t, ranks)
	for i := range ranks {
		r := b.Rank(i, false)
		r.Op(graph.Op{Kind: graph.Send, Site: b.site(graph.Send), Peer: r.Int(int64((i + 1) % ranks)), Size: r.Int(bytes), Label: -1})
		r.Op(graph.Op{Kind: graph.Recv, Site: b.site(graph.Recv), Peer: r.Int(int64((i + ranks - 1) % ranks)), Size: r.Int(bytes), Label: -1})
		r.Done()
	}
	return b.graph()
}

// A blocking send above the eager limit waits for its receive, and in a ring where all
// send first nobody receives.
func TestRendezvousRingDeadlocks(t *testing.T) {
	n := network(t, "star", link400, roce)
	n.Levels[networks.InterNode].EagerLimit = 65535
	if res := simulate(t, job(t, blockingRing(t, 4, 65535), n, 1)); !res.Verdict.OK() {
		t.Errorf("65535 B: %v", res.Verdict.Outcome)
	}
	res := simulate(t, job(t, blockingRing(t, 4, 65536), n, 1))
	if res.Verdict.Outcome != replay.Deadlock || !cmp.Equal(res.Verdict.Cycle, []int32{0, 1, 2, 3}) {
		t.Errorf("65536 B: %v, cycle %v", res.Verdict.Outcome, res.Verdict.Cycle)
	}
	if len(res.Verdict.Unreceived) != 0 {
		t.Errorf("announcements pass for messages that nobody received: %v", res.Verdict.Unreceived)
	}
}

// The announcement, the answer and the data each cross the star: two empty messages of
// 98 B (1003.92 ns each) and one packet of 4194 B (1167.76 ns). The receive is posted
// at 5 us. An acknowledgement of the announcement leaves the receiver before the answer
// only if the receive comes late, as here.
func TestRendezvousTakesThreeMessages(t *testing.T) {
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	b.send(r, 1, 0, 4096, graph.Rendezvous)
	r.Done()
	r = b.Rank(1, true)
	b.recv(r, 0, 0, 4096, b.compute(r, 5_000_000, 0))
	r.Done()
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	j.EndWithAck = false
	res := finished(t, j)
	// The data leave behind the acknowledgement of the answer, 86 B.
	const sent = 5_000_000 + 1003_920 + 1_720 + 83_880
	if got := res.Ranks[0].Finish; got != sent {
		t.Errorf("the send ends at %d, want %d", got, sent)
	}
	const received = 5_000_000 + 1003_920 + 1_720 + 1167_760
	if got := res.Ranks[1].Finish; got != received {
		t.Errorf("the receive ends at %d, want %d", got, received)
	}
}

// Two messages of no bytes posted together: the host prepares one after the other,
// 300 ns each, and deals with the arrivals, 98 B*20 ps*2 + 1 us after they left, one
// after the other, 700 ns each.
func TestHostOverhead(t *testing.T) {
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	b.send(r, 1, 0, 0, 0)
	b.send(r, 1, 1, 0, 0)
	b.compute(r, 100_000, 0) // not slowed by messages
	r.Done()
	r = b.Rank(1, true)
	b.recv(r, 0, 0, 0)
	b.recv(r, 0, 1, 0)
	r.Done()
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	j.EndWithAck, j.SendOverhead, j.ReceiveOverhead = false, 300_000, 700_000
	res := finished(t, j)
	if got, want := res.Ranks[0].Finish, int64(600_000+98*20); got != want {
		t.Errorf("the second send ends at %d, want %d", got, want)
	}
	if got, want := res.Ranks[1].Finish, int64(300_000+1003_920+2*700_000); got != want {
		t.Errorf("the second receive ends at %d, want %d", got, want)
	}
	if got, want := res.Ranks[0].Compute, int64(100_000); got != want {
		t.Errorf("computed for %d, want %d", got, want)
	}
}

// Inside a node: 200 ns + bytes at 10 GB/s (100 ps a byte), no contention; above the
// level's eager limit an announcement and its answer of 200 ns each come first. A rank
// copies to itself at the copy bandwidth.
func TestInsideNode(t *testing.T) {
	b := newBuilder(t, 3)
	r := b.Rank(0, true)
	b.send(r, 1, 0, 1000, 0)
	r.Done()
	r = b.Rank(1, true)
	b.recv(r, 0, 0, 1000)
	b.send(r, 2, 0, 100_000, 0)
	r.Done()
	r = b.Rank(2, true)
	b.recv(r, 1, 0, 100_000)
	b.send(r, 2, 0, 50_000, graph.Eager)
	b.recv(r, 2, 0, 50_000)
	r.Done()
	j := job(t, b.graph(), network(t, "star", link400, roce+"\nnode: {copy_bandwidth: 1GB/s}"), 3)
	j.EndWithAck, j.SendOverhead, j.ReceiveOverhead = false, 1_000_000, 1_000_000
	res := finished(t, j)
	if diff := cmp.Diff([]int64{100_000, 400_000 + 10_000_000, 50_000_000}, finishes(res)); diff != "" {
		t.Error(diff)
	}
	if res.PacketHops != 0 || res.Messages != 3 || res.MessageBytes != 151_000 {
		t.Errorf("%d packet-hops, %d messages of %d B", res.PacketHops, res.Messages, res.MessageBytes)
	}
	j.EndWithAck = true
	if got, want := finished(t, j).Ranks[0].Finish, int64(300_000); got != want {
		t.Errorf("rank 0 ends at %d with acknowledgements, want %d", got, want)
	}
}

// Messages posted on one queue pair arrive in order; two queue pairs of one NIC share
// it packet by packet: 4 + 1 packets of 256 B, the short message is second.
func TestRoundRobin(t *testing.T) {
	b := newBuilder(t, 3)
	r := b.Rank(0, true)
	b.send(r, 1, 0, 1024, 0)
	b.send(r, 2, 0, 256, 0)
	r.Done()
	for i := 1; i < 3; i++ {
		r = b.Rank(i, true)
		b.recv(r, 0, 0, 1024)
		r.Done()
	}
	j := job(t, b.graph(), network(t, "star", link400, "  wire: none\n  mtu: 256B\nnic: {transport: roce}"), 1)
	j.EndWithAck = false
	const packet = 256 * 20
	if diff := cmp.Diff([]int64{5 * packet, 6*packet + 1_000_000, 3*packet + 1_000_000}, finishes(finished(t, j))); diff != "" {
		t.Error(diff)
	}
}

func TestStopAndInterrupt(t *testing.T) {
	j := job(t, one(t, 2, 1<<20), network(t, "star", link400, roce), 1)
	j.StopAt = 10_000_000
	res := simulate(t, j)
	if res.Verdict.Outcome != replay.Stopped || res.Verdict.Blocked != 2 {
		t.Errorf("stopped: %+v", res.Verdict)
	}
	j.StopAt = 22475_560
	j.EndWithAck = false
	if res := simulate(t, j); !res.Verdict.OK() || res.Makespan != j.StopAt {
		t.Errorf("stop at the last event: %v at %d", res.Verdict.Outcome, res.Makespan)
	}
	j.StopAt--
	if res := simulate(t, j); res.Verdict.Outcome != replay.Stopped || res.Verdict.Blocked != 1 {
		t.Errorf("stop before the last event: %+v", res.Verdict)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	j.StopAt = 0
	res, err := Run(ctx, j)
	if err != nil || res.Verdict.Outcome != replay.Interrupted {
		t.Errorf("interrupted: %v, %v", res, err)
	}
}

func TestTimeOutOfRange(t *testing.T) {
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	b.send(r, 1, 0, 8, 0, b.compute(r, 1<<62, graph.HostCPU))
	r.Done()
	res := simulate(t, job(t, b.graph(), network(t, "star", link400, roce), 1))
	if res.Verdict.Outcome != replay.Failed || len(res.Verdict.Errors) != 1 || !strings.Contains(res.Verdict.Errors[0].Error(), "range") {
		t.Errorf("%+v", res.Verdict)
	}
	b = newBuilder(t, 1)
	r = b.Rank(0, true)
	b.compute(r, 1<<63-1, 0)
	b.compute(r, 1<<62, 0)
	r.Done()
	if res := simulate(t, job(t, b.graph(), network(t, "star", link400, roce), 1)); res.Verdict.Outcome != replay.Failed {
		t.Errorf("a century of computing: %+v", res.Verdict)
	}
	b = newBuilder(t, 2)
	r = b.Rank(0, true)
	b.send(r, 1, 0, 1<<62, graph.Eager)
	r.Done()
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	j.Ideal = true
	if res := simulate(t, j); res.Verdict.Outcome != replay.Failed {
		t.Errorf("ideal message of 2^62 B: %+v", res.Verdict)
	}
	j.Ideal = false
	if res := simulate(t, j); res.Verdict.Outcome != replay.Failed {
		t.Errorf("message of 2^62 B: %+v", res.Verdict)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ link, more, code string }{
		{link400, "  wire: rocev2\n  mtu: 4096B\nnic: {transport: uet}", "E951"},
		{link400, "  wire: rocev2\n  mtu: 4096B\nnic: {transport: roze}", "E950"},
		{link400, "  wire: rocev2\n  mtu: 4096B\nnic: {transport: roce, ack_evry: 3}", "E804"},
		{link400, "  wire: rocev2\n  mtu: 4096B\n  switch: {latncy: 1ns}\nnic: {transport: roce}", "E804"},
	} {
		var list diag.List
		src := "name: t\nsummary: s\nsource: s\nlevels:\n  inter_node:\n    eager_limit: 1MiB\n    hockney: {latency: 1us, bandwidth: 50GB/s}\n    loggp: {L: 1us, o: 0ns, g: 0ns, G: 0.02ns/B, O: 0ns/B}\ntopology: star\nfabric:\n  link: " + c.link + "\n" + c.more + "\n"
		n := networks.Parse("t.yml", []byte(src), nil, &list)
		if n == nil {
			t.Errorf("%s: the network does not load: %v", c.code, list.Err())
			continue
		}
		_, err := Run(context.Background(), job(t, one(t, 2, 8), n, 1))
		var le *diag.ListError
		if !errors.As(err, &le) {
			t.Errorf("%s: error %v", c.code, err)
			continue
		}
		if f := le.List.All(); f[0].Code != c.code || f[0].Pos.Line == 0 {
			t.Errorf("%s: got %s at %v: %s", c.code, f[0].Code, f[0].Pos, f[0].Message)
		}
	}
}

// A link without delay is no obstacle where packets take time to be sent.
func TestNoDelay(t *testing.T) {
	j := job(t, one(t, 2, 4096), network(t, "star", "{rate: 400Gbps, delay: 0ns}", roce), 1)
	j.EndWithAck = false
	if got, want := finished(t, j).Makespan, int64(2*4194*20); got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

// A message that nobody receives is listed under its sender, as the models list it.
func TestUnreceivedMessage(t *testing.T) {
	b := newBuilder(t, 2)
	r := b.Rank(0, true)
	b.send(r, 1, 7, 100, graph.Eager)
	r.Done()
	res := simulate(t, job(t, b.graph(), network(t, "star", link400, roce), 1))
	want := []replay.Pending{{Rank: 0, Kind: graph.Send, Peer: 1, Tag: 7, Bytes: 100}}
	if res.Verdict.Outcome != replay.Unmatched || !cmp.Equal(res.Verdict.Unreceived, want) {
		t.Errorf("%+v", res.Verdict)
	}
}

// 106.25 Gbit/s are 1280/17 ps a byte, so that the tick is 1/17 ps; where no tick serves, the
// result says so and the error stays below half a picosecond for each packet.
func TestClock(t *testing.T) {
	n := network(t, "star", "{rate: 106.25Gbps, delay: 500ns}", roce)
	res := finished(t, job(t, one(t, 2, 4096), n, 1))
	if !res.Clock.Exact || res.Clock.PerPS != 17 {
		t.Errorf("clock %+v", res.Clock)
	}
	n = network(t, "star", "{rate: 399999999977bps, delay: 500ns}", roce)
	j := job(t, one(t, 2, 4096), n, 1)
	j.EndWithAck = false
	res = finished(t, j)
	if res.Clock.Exact || len(res.Notes) < 2 {
		t.Fatalf("clock %+v, notes %q", res.Clock, res.Notes)
	}
	if got := res.Makespan; got != 1167_760 { // 8e12/399999999977*4194 = 83880.0000048
		t.Errorf("%d, want 1167760", got)
	}
}

// A collective behind its synchronization barrier: the barrier's transfers pay like
// others and are not counted.
func TestSynchronizedCollective(t *testing.T) {
	b := newBuilder(t, 4)
	for i := range 4 {
		r := b.Rank(i, true)
		c := r.Call(graph.Call{Type: graph.AllReduce, Algorithm: "ring"})
		r.Op(graph.Op{Kind: graph.Collective, Flags: graph.Synchronize, Site: b.Site(graph.Site{Kind: graph.Collective}), Peer: r.Int(0), Tag: r.Int(0), Size: r.Int(4096), Arg: c, Index: r.Int(0), Label: -1})
		r.Done()
	}
	j := job(t, b.graph(), network(t, "star", link400, roce), 1)
	res := finished(t, j)
	if res.Messages != 24 || res.MessageBytes != 24*1024 {
		t.Errorf("%d messages of %d B", res.Messages, res.MessageBytes)
	}
	if len(res.Collectives) != 1 || res.Collectives[0].Count != 1 || res.Operations != 4 {
		t.Errorf("%d operations, collectives %+v", res.Operations, res.Collectives)
	}
	c := &res.Collectives[0]
	if c.Max <= 0 || c.Max >= res.Makespan {
		t.Errorf("the collective takes %d of %d", c.Max, res.Makespan)
	}
	if s := res.Sites[0]; s.Count != 4 || s.Ranks != 4 {
		t.Errorf("site %+v", s)
	}
}

// What a run holds does not grow with the number of steps: ten times the steps, and the
// same number of allocations but for a few buffers that found a new largest size.
func TestMemoryDoesNotGrowWithSteps(t *testing.T) {
	allocations := func(steps int64) float64 {
		j := job(t, stencil(t, 3, 4, steps), network(t, "star", link400, roce), 2)
		return testing.AllocsPerRun(1, func() { finished(t, j) })
	}
	few, many := allocations(20), allocations(200)
	if many > few+50 {
		t.Errorf("%v allocations in 200 steps, %v in 20", many, few)
	}
}

func TestTransportTable(t *testing.T) {
	var names []string
	for _, i := range Transports() {
		if names = append(names, i.Name); i.Doc == "" || NICSection(i.Name) == nil {
			t.Errorf("%s lacks a sentence or its keys", i.Name)
		}
	}
	if !cmp.Equal(names, []string{"roce", "ideal"}) || NICSection("uet") != nil {
		t.Errorf("transports %v", names)
	}
	for more, code := range map[string]string{
		"nic: {transport: roce, ack_every: 8}": "", "nic: {transport: ideal}": "",
		"nic: {transport: roce, ack_every: 0}": "E808", "nic: {transport: ideal, ack_every: 8}": "E804",
	} {
		var list diag.List
		CheckNIC(network(t, "star", link400, "  wire: rocev2\n  mtu: 4096B\n"+more), &list)
		got := ""
		if list.Len() > 0 {
			got = list.All()[0].Code
		}
		if got != code {
			t.Errorf("%s: %q, want %q", more, got, code)
		}
	}
}
