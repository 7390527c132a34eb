package networks

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// broken builds a topology with faults for so many hosts.
func broken(topology, faults string, hosts int) (*Network, Topology, *diag.List) {
	var list diag.List
	src := "name: t\nsummary: s\nsource: s\ntopology: " + topology + "\nfabric:\n  link: {rate: 400Gbps, delay: 500ns}\nfaults: " + faults + "\n"
	n := Parse("t.yml", []byte(src), nil, &list)
	if n == nil {
		return nil, nil, &list
	}
	return n, n.Topology(hosts, &list), &list
}

func TestFaultsFindings(t *testing.T) {
	const star = "{kind: star, hosts: 3}"
	const spines = "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1, trunk: 2}"
	for _, c := range []struct{ topology, faults, want string }{
		{star, "[{at: 1us}]", "E965 7:11: a fault is about one of link, switch and random_links; this one names 0 of them"},
		{star, "[{link: [server-0, rack-0], switch: rack-0, at: 1us}]", "E965 7:11: a fault is about one of"},
		{star, "[{link: [server-0], at: 1us}]", "E965 7:11: a link joins two nodes; 1 are named"},
		{star, "[{switch: rack-0, direction: forward, at: 1us}]", "E965 7:38: direction is about one link"},
		{star, "[{link: [server-0, rack-0], seed: 3, at: 1us}]", "E965 7:43: seed is for random_links"},
		{star, "[{link: [server-0, rack-0]}]", "E965 7:11: nothing is said to be wrong"},
		{star, "[{link: [server-0, rack-0], until: 1us}]", "E965 7:44: until without at"},
		{star, "[{link: [server-0, rack-0], at: 2us, until: 2us}]", "E965 7:53: the links come back at 2.000 us, which is not after 2.000 us"},
		{star, "[{link: [server-0, rack-0], at: 2us, rate: 1Gbps}]", "E965 7:41: at is when links go down"},
		{star, "[{link: [server-0, rack-0], loss: 2}]", "E808"},
		{star, "[{link: [server-0, rack-0], losss: 0.1}]", `E804 7:37: unknown key "losss"`},
		{star, "{link: [server-0, rack-0]}", "E806"},
		{star, "[{link: [server-0, rack-1], at: 1us}]", `E966 7:28: the topology has no node "rack-1"`},
		{star, "[{link: [0, 4], at: 1us}]", `E966 7:21: the topology has no node "4"`},
		{star, "[{link: [server-0, server-1], at: 1us}]", "E966 7:11: no link leads from server-0 to server-1"},
		{star, "[{switch: server-1, at: 1us}]", "E966 7:19: server-1 is a host, not a switch"},
		{star, "[{random_links: 1, at: 1us}]", "E966 7:25: random_links is 1, but the topology has 0 links between switches"},
		{spines, "[{link: [rack-0, spine-1], index: 2, at: 1us}]", "E966 7:43: index is 2, counted from 0, but rack-0 to spine-1 has 2 links"},
		{star, "[{link: [server-0, rack-0], at: 1us}, {link: [rack-0, server-0], at: 3us}]", "E967 7:78: a time of being down of the link from rack-0 to server-0 is given twice"},
		{star, "[{link: [server-0, rack-0], at: 1us, until: 3us}, {link: [rack-0, server-0], at: 3us}]", ""},
		{star, "[{switch: rack-0, at: 1us}, {link: [rack-0, server-0], at: 3us}]", ""},
		{star, "[{link: [server-0, rack-0], rate: 1Gbps}, {switch: rack-0, rate: 2Gbps}]", "E967 7:74: rate of the link from server-0 to rack-0 is given twice"},
		{star, "[{link: [server-0, rack-0], loss: 0.1, bit_error_rate: 1e-9}, {link: [server-0, rack-0], rate: 2Gbps}]", ""},
		{star, "[{}]", "E965"}, {star, "[{link: }]", "E965"}, {star, "[~]", "E965"}, {star, "", ""},
	} {
		_, topo, list := broken(c.topology, c.faults, 2)
		got := ""
		for _, d := range list.All() {
			if d.Severity == diag.Error && got == "" {
				got = d.Code + " " + strings.TrimPrefix(d.Pos.String(), "t.yml:") + ": " + d.Message
			}
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || (topo == nil) != (c.want != "") {
			t.Errorf("%s: %q, want %q", c.faults, got, c.want)
		}
	}
}

// Faults are found on both directions of all parallel links unless they name fewer; the
// topology has their rates and mentions them.
func TestFaultsOn(t *testing.T) {
	const spines = "{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1, trunk: 2}"
	n, topo, list := broken(spines, "[{link: [rack-0, spine-1], index: 1, at: 1us, until: 2us}, {link: [rack-0, spine-1], direction: forward, bit_error_rate: 1e-9}, {switch: spine-1, at: 1500ns, until: 5us}, {link: [rack-1, spine-0], rate: 100Gbps, direction: forward, index: 0}, {switch: switch 3, at: 7us}]", 2)
	if topo == nil {
		t.Fatal(list.Err())
	}
	var got []LinkFaults
	rates := 0
	for _, f := range n.FaultsOn(topo, list) {
		l := topo.Links()[f.Link]
		if l.From == 2 || l.To == 2 {
			got = append(got, f)
		}
	}
	for _, l := range topo.Links() {
		if l.PerByte == units.Int(80) {
			if rates++; l.From != 3 || l.To != 4 {
				t.Errorf("%+v is slower", l)
			}
		}
	}
	if rates != 1 {
		t.Errorf("%d links are slower, want 1", rates)
	}
	var want []LinkFaults
	for id, l := range topo.Links() {
		long := []Outage{{1_500_000, 5_000_000}, {7_000_000, math.MaxInt64}}
		second := id > 0 && topo.Links()[id-1].From == l.From && topo.Links()[id-1].To == l.To
		if second {
			long[0].From = 1_000_000
		}
		switch {
		case l.From == 2 && l.To == 5:
			want = append(want, LinkFaults{Link: int32(id), Down: long, BitErrors: units.NewRat(1, 1_000_000_000)})
		case l.From == 5 && l.To == 2:
			want = append(want, LinkFaults{Link: int32(id), Down: long})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults of links of the first leaf (-want +got):\n%s", diff)
	}
	if want := "; faults 1 directed link of another rate, 8 directed links that go down, 2 directed links that lose frames"; !strings.HasSuffix(topo.Describe(), want) {
		t.Errorf("%q does not end in %q", topo.Describe(), want)
	}
}

// Links drawn at random are pairs, and those drawn for a smaller number are among those for
// a larger one.
func TestRandomLinks(t *testing.T) {
	drawn := func(key string) []int32 {
		n, topo, list := broken("{kind: fat-tree, k: 4}", "[{"+key+", at: 1us}]", 16)
		if topo == nil {
			t.Fatal(list.Err())
		}
		var out []int32
		for _, f := range n.FaultsOn(topo, list) {
			l := topo.Links()[f.Link]
			if l.From < 16 || l.To < 16 {
				t.Errorf("%s: %+v leads to a host", key, l)
			}
			out = append(out, f.Link)
		}
		return out
	}
	few, many := drawn("random_links: 3"), drawn("random_links: 8")
	if len(few) != 6 || len(many) != 16 {
		t.Fatalf("%d and %d links", len(few), len(many))
	}
	for _, id := range few {
		if !slices.Contains(many, id) {
			t.Errorf("%v are not among %v", few, many)
		}
	}
	if slices.Equal(few, drawn("random_links: 3, seed: 2")) || !slices.Equal(few, drawn("random_links: 3, seed: 1")) {
		t.Error("the seed draws")
	}
}

// A file is checked alone where its topology has a size, and not where the run decides.
func TestCheckTopology(t *testing.T) {
	for topology, errors := range map[string]int{"{kind: star, hosts: 3}": 1, "star": 0, "{kind: fat-tree, k: 4}": 1, "{kind: leaf-spine, hosts_per_leaf: 8}": 0, "direct": 0} {
		var list diag.List
		n := Parse("t.yml", []byte("name: t\nsummary: s\nsource: s\ntopology: "+topology+"\nfabric:\n  link: {rate: 400Gbps, delay: 500ns}\nfaults: [{link: [server-90, rack-0], at: 1us}]\n"), nil, &list)
		n.CheckTopology(&list)
		if got := list.CountOf(diag.Error); got != errors {
			t.Errorf("%s: %d errors, want %d: %v", topology, got, errors, list.Err())
		}
	}
}

// shortestWays are the links of a node, numbered from 0 on, on shortest ways to a host over
// links that are up, by relaxation of all links until nothing changes.
func shortestWays(topo Topology, down map[int32]bool, dst int32) (ways func(at int32) []int32) {
	hosts := int32(topo.Hosts())
	passes := func(node int32) bool { return node >= hosts || node == dst }
	dist := map[int32]int{dst: 0}
	for more := true; more; {
		more = false
		for id, l := range topo.Links() {
			d, ok := dist[l.To]
			if old, known := dist[l.From]; ok && passes(l.To) && !down[int32(id)] && (!known || d+1 < old) {
				dist[l.From], more = d+1, true
			}
		}
	}
	return func(at int32) []int32 {
		var out []int32
		place := int32(0)
		for id, l := range topo.Links() {
			if l.From != at {
				continue
			}
			if d, ok := dist[l.To]; ok && passes(l.To) && !down[int32(id)] && d+1 == dist[at] {
				out = append(out, place)
			}
			place++
		}
		return out
	}
}

// Ways around failed links are all shortest ways there are, in every topology.
func TestDegradedWays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, section := range append(fixedSizes(), anySize()...) {
		hosts := 1
		if i >= len(fixedSizes()) {
			hosts = 13
		}
		topo, found := build(t, section, hosts)
		if topo == nil {
			t.Fatal(section, found)
		}
		wiring := NewWiring(topo)
		for _, failures := range []int{0, 1, 4, len(topo.Links()) / 3} {
			down := map[int32]bool{}
			for range min(failures, len(topo.Links())) {
				down[int32(r.IntN(len(topo.Links())))] = true
			}
			d := wiring.Without(slices.Collect(maps.Keys(down)))
			rows := map[int32]*Ways{}
			for dst := range int32(topo.Hosts()) {
				want := shortestWays(topo, down, dst)
				for at := range int32(topo.Hosts() + topo.Switches()) {
					var got []int32
					switch {
					case at == dst:
						continue
					case int(at) < topo.Hosts():
						got = d.FromHost(at, dst, nil)
					default:
						if rows[at] == nil {
							rows[at] = d.At(at)
						}
						got = rows[at].To(dst, nil)
					}
					if !slices.Equal(got, want(at)) {
						t.Fatalf("%s, %v down: from %d to %d: %v, want %v", section, down, at, dst, got, want(at))
					}
				}
			}
		}
	}
}

// With nothing down a Clos network's own next hops come out.
func TestDegradedIsTheNetwork(t *testing.T) {
	for _, section := range []string{"{kind: fat-tree, k: 6, hosts: 31}", "{kind: leaf-spine, leaves: 3, spines: 2, hosts_per_leaf: 5, hosts: 8, trunk: 3}", "{kind: multi-plane, planes: 3, plane: {kind: fat-tree, k: 4}}"} {
		topo, _ := build(t, section, 1)
		d := NewWiring(topo).Without(nil)
		for at := topo.Hosts(); at < topo.Hosts()+topo.Switches(); at++ {
			ways := d.At(int32(at))
			for dst := range int32(topo.Hosts()) {
				first, n := topo.Next(int32(at), dst)
				got := ways.To(dst, nil)
				if n == 0 && len(got) == 0 {
					continue
				}
				if len(got) != int(n) || got[0]+ways.base != first || got[n-1]+ways.base != first+n-1 {
					t.Fatalf("%s: from %d to %d: %v, the topology has %d from %d on", section, at, dst, got, n, first-ways.base)
				}
			}
		}
	}
}

// BenchmarkDegraded finds the ways around a failed link of 8192 hosts, for all switches.
func BenchmarkDegraded(b *testing.B) {
	topo, _ := build(b, "{kind: fat-tree, k: 32}", 8192)
	wiring := NewWiring(topo)
	for b.Loop() {
		d := wiring.Without([]int32{int32(len(topo.Links()) - 1)})
		for s := range topo.Switches() {
			d.At(int32(topo.Hosts() + s))
		}
	}
}

// FuzzFaults looks for faults that a reader cannot stand.
func FuzzFaults(f *testing.F) {
	for _, s := range []string{"[{link: [0, 1], at: 1us, until: 2us}]", "[{switch: rack-0, rate: 1Gbps}]", "[{random_links: 2, loss: 0.5}]", "[{link: [a, b], index: 3, direction: forward, bit_error_rate: 1e-9}]", "[~, {link: }, 3]", "[{switch,rate:1bps}]"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if n, topo, _ := broken("{kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1, trunk: 2}", text, 2); topo != nil {
			n.FaultsOn(topo, new(diag.List))
		}
	})
}
