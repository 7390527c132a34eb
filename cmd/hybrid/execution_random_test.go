package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hybrid/chakra"
)

// plainAlgorithm is a row of the table of algorithms as [plainCollective] has it.
type plainAlgorithm struct {
	typ       int64
	flag      string
	powers    bool
	transfers func(c *plainCollective)
}

func plainAlgorithms() []plainAlgorithm {
	n := func(c *plainCollective) int { return len(c.members) }
	reversed := func(list []int) []int { slices.Reverse(list); return list }
	doubling := func(c *plainCollective) {
		d := distances(n(c))
		c.exchange(append(d, reversed(slices.Clone(d))...)...)
	}
	all := func(c *plainCollective) { c.ring(2*(n(c)-1), c.part) }
	once := func(c *plainCollective) { c.ring(n(c)-1, c.part) }
	tree := func(c *plainCollective) { c.tree(c.places(0), c.whole, true) }
	double := func(c *plainCollective) {
		c.tree(c.places(0), (c.whole+1)/2, true)
		c.tree(reversed(c.places(0)), (c.whole+1)/2, true)
	}
	// fan moves between the root and each other member, one behind another if in line.
	fan := func(toRoot, inLine, parts bool) func(c *plainCollective) {
		return func(c *plainCollective) {
			if c.bytes = c.whole; parts {
				c.bytes = c.part
			}
			var after []*plainNode
			for i := range c.members {
				switch {
				case i == c.root:
				case toRoot:
					c.move(i, c.root, nil, nil)
				default:
					s, _ := c.move(c.root, i, after, nil)
					if inLine {
						after = []*plainNode{s}
					}
				}
			}
		}
	}
	// blocks moves one from each member to each other, in the order of their distance.
	blocks := func(inLine bool) func(c *plainCollective) {
		return func(c *plainCollective) {
			c.bytes = c.part
			for i := range c.members {
				var after []*plainNode
				for s := 1; s < n(c); s++ {
					sent, _ := c.move(i, (i+s)%n(c), after, nil)
					if inLine {
						after = []*plainNode{sent}
					}
				}
			}
		}
	}
	chain := func(c *plainCollective) {
		var got []*plainNode
		c.bytes = c.whole
		list := c.places(c.root + 1)
		for k := range list[1:] {
			_, d := c.move(list[k], list[k+1], got, nil)
			got = []*plainNode{d}
		}
	}
	return []plainAlgorithm{
		{allReduce, "allreduce=ring", false, all},
		{allReduce, "allreduce=tree", false, tree},
		{allReduce, "allreduce=double-tree", false, double},
		{allReduce, "allreduce=halving-doubling", true, doubling},
		{reduce, "reduce=ring", false, chain},
		{reduce, "reduce=tree", false, func(c *plainCollective) { c.tree(c.places(c.root), c.whole, false) }},
		{allGather, "allgather=ring", false, func(c *plainCollective) { c.ring(n(c)-1, c.whole) }},
		{reduceScatter, "reducescatter=ring", false, once},
		{reduceScatter, "reducescatter=halving", true, func(c *plainCollective) { c.exchange(distances(n(c))...) }},
		{reduceScatterBlock, "reducescatterblock=ring", false, once},
		{broadcast, "broadcast=sequential", false, fan(false, true, false)},
		{broadcast, "broadcast=interleaved", false, fan(false, false, false)},
		{gather, "gather=direct", false, fan(true, false, false)},
		{scatter, "scatter=direct", false, fan(false, false, true)},
		{allToAll, "alltoall=sequential", false, blocks(true)},
		{allToAll, "alltoall=interleaved", false, blocks(false)},
		{barrier, "barrier=ring", false, all},
		{barrier, "barrier=tree", false, tree},
		{barrier, "barrier=double-tree", false, double},
		{barrier, "barrier=halving-doubling", true, doubling},
	}
}

// randomSet draws traces, and the same program for a [plainRun] beside them.
type randomSet struct {
	*rapid.T
	set       *traceSet
	run       *plainRun
	plain     []map[uint64]*plainNode // by rank and id: what releases the node's dependents
	want      map[string][2]*plainNode
	groups    [][]int
	ordered   []bool
	last      map[[2]int]*plainNode // by rank and group: the end of the latest in the chain
	seq       int64
	chosen    []plainAlgorithm
	serialize bool
	synch     bool
	collected bool
	stop      int64 // 0 for none
}

func (r *randomSet) duration(micros uint64) int64 { return r.run.scaled(int64(micros)) * us }

// deps draws what a new node of a rank waits for.
func (r *randomSet) deps(rank int) (ids []uint64, nodes []*plainNode) {
	n := len(r.plain[rank])
	for id := max(1, n-6); id <= n; id++ {
		if rapid.IntRange(0, 2).Draw(r.T, "dep") == 0 {
			ids = append(ids, uint64(id))
			nodes = append(nodes, r.plain[rank][uint64(id)])
		}
	}
	return ids, nodes
}

// add puts a node into a trace; start and end are what must take the same time.
func (r *randomSet) add(rank int, n chakra.Node, deps []uint64, start, end *plainNode) {
	n.Name = ""
	cut := rapid.IntRange(0, len(deps)).Draw(r.T, "lists")
	n.CtrlDeps, n.DataDeps = deps[:cut], deps[cut:]
	id := r.set.node(rank, n)
	r.plain[rank][id] = end
	r.want[fmt.Sprint(rank, ".", id)] = [2]*plainNode{start, end}
}

// work is a node of one rank.
func (r *randomSet) work() {
	rank := rapid.IntRange(0, len(r.plain)-1).Draw(r.T, "rank")
	micros := rapid.Uint64Range(0, 9).Draw(r.T, "micros")
	ids, deps := r.deps(rank)
	n := chakra.Node{Type: chakra.CompNode, DurationMicros: micros}
	kind, work := computing, r.duration(micros)
	switch rapid.IntRange(0, 6).Draw(r.T, "work") {
	case 0:
		n.Type, kind = chakra.MemLoadNode, waiting
	case 1:
		n.Type, kind = chakra.MemStoreNode, waiting
	case 2:
		n.Attrs, kind = []chakra.Attr{chakra.Bool("is_cpu_op", true)}, waiting
	case 3:
		// Without a size it is not expanded, and takes its time.
		n.Type, kind = chakra.CommCollNode, waiting
		n.Attrs = []chakra.Attr{chakra.Int64("comm_type", allReduce)}
	}
	if r.collected {
		kind = waiting
	}
	p := r.run.add(rank, kind, work, deps...)
	p.computes = n.Type == chakra.CompNode
	r.add(rank, n, ids, p, p)
}

// transfer is a send and its receive, perhaps to itself. Most tags are used once; with
// the others the sizes may differ, and that of the send counts.
func (r *randomSet) transfer() {
	from, to := rapid.IntRange(0, len(r.plain)-1).Draw(r.T, "from"), rapid.IntRange(0, len(r.plain)-1).Draw(r.T, "to")
	sendIDs, sendDeps := r.deps(from)
	recvIDs, recvDeps := r.deps(to)
	r.seq++
	bytes := rapid.Int64Range(0, 9000).Draw(r.T, "bytes")
	tag, received := r.seq+10, bytes
	if rapid.Bool().Draw(r.T, "tag") {
		tag, received = 1, rapid.Int64Range(0, 9000).Draw(r.T, "receive")
	}
	out := transferNode(chakra.CommSendNode, "comm_dst", to, bytes, tag, nil)
	in := transferNode(chakra.CommRecvNode, "comm_src", from, received, tag, nil)
	// A send may record its place among the collectives of a group.
	if g := rapid.IntRange(-2, len(r.groups)-1).Draw(r.T, "group"); g >= 0 && r.ordered[g] && slices.Contains(r.groups[g], from) {
		out.Attrs = append(out.Attrs, chakra.String("pg_name", r.name(g)), chakra.Int64("comm_seq", r.seq))
		in.Attrs = append(in.Attrs, chakra.String("pg_name", r.name(g)), chakra.Int64("comm_seq", r.seq))
		sendDeps = r.chained(from, g, sendDeps)
		defer func() { r.last[[2]int{from, g}] = r.plain[from][uint64(len(r.plain[from]))] }()
	}
	s, d := r.run.move(from, to, r.run.scaled(bytes), sendDeps, recvDeps)
	s.key = fmt.Sprint(from, " to ", to, " tag ", tag)
	d.key = s.key
	r.add(to, in, recvIDs, d, d)
	r.add(from, out, sendIDs, s, s)
}

func (r *randomSet) name(g int) string { return fmt.Sprint("group ", g) }

// chained adds what was issued before in the group.
func (r *randomSet) chained(rank, g int, deps []*plainNode) []*plainNode {
	if p := r.last[[2]int{rank, g}]; r.serialize && p != nil {
		return append(deps, p)
	}
	return deps
}

// collective is one of a group, on all its members.
func (r *randomSet) collective() {
	g := rapid.IntRange(0, len(r.groups)-1).Draw(r.T, "group")
	members := r.groups[g]
	a := rapid.SampledFrom(r.chosen).Draw(r.T, "algorithm")
	if a.powers && len(members)&(len(members)-1) != 0 {
		return
	}
	r.seq++
	bytes := rapid.SampledFrom([]int64{0, 1, 1000, 1001, 8191}).Draw(r.T, "bytes")
	if a.typ == barrier {
		bytes = 0
	}
	n := collectiveNode(a.typ, bytes)
	n.Attrs[2] = chakra.String("pg_name", r.name(g))
	if r.ordered[g] {
		n.Attrs = append(n.Attrs, chakra.Int64("comm_seq", r.seq))
	}
	root := 0
	if slices.Contains([]int64{reduce, broadcast, gather, scatter}, a.typ) && rapid.Bool().Draw(r.T, "root") {
		root = rapid.IntRange(0, len(members)-1).Draw(r.T, "position")
		n.Attrs = append(n.Attrs, chakra.Int64("root", int64(members[root])))
	}
	ids, before := make([][]uint64, len(members)), make([][]*plainNode, len(members))
	for i, m := range members {
		ids[i], before[i] = r.deps(m)
		if r.ordered[g] {
			before[i] = r.chained(m, g, before[i])
		}
	}
	if r.synch && len(members) > 1 {
		b := r.run.within(members, 0, 0, before, func(c *plainCollective) { c.tree(c.places(0), 0, true) })
		b.barrier = true
		for i := range before {
			before[i] = []*plainNode{b.finish[i]}
		}
	}
	c := r.run.within(members, bytes, root, before, a.transfers)
	for i, m := range members {
		r.add(m, n, ids[i], c.start[i], c.finish[i])
		r.last[[2]int{m, g}] = c.finish[i]
	}
}

// drawMapping draws a server and perhaps a scale-up group for every rank.
func (r *randomSet) drawMapping(ranks int) string {
	hop := []int64{100 * ns, 7 * ns}
	cable := []int64{50 * ns, 211 * ns}
	servers := make([]int, ranks)
	for i := range servers {
		servers[i] = i
	}
	servers = rapid.Permutation(servers).Draw(r.T, "servers")
	group, subgroup, used := make([]int, ranks), make([]int, ranks), [2]bool{}
	text := ""
	for i := range ranks {
		text += fmt.Sprint(i, ", ", servers[i])
		if group[i] = rapid.IntRange(-1, 1).Draw(r.T, "scale-up group"); group[i] >= 0 {
			subgroup[i] = rapid.IntRange(0, 1).Draw(r.T, "subgroup")
			text += fmt.Sprint(", ", group[i], ", ", subgroup[i])
			used[group[i]] = true
		}
		text += "\n"
	}
	for g, is := range used {
		if is {
			text += fmt.Sprintf("@%d\n%d, 999999937, %d, %d\n", g, g, hop[g]/ns, cable[g]/ns)
		}
	}
	r.run.crossing = func(a, b int) int64 {
		switch {
		case group[a] < 0 || group[a] != group[b]:
			return 0
		case subgroup[a] == subgroup[b]:
			return hop[group[a]] + 2*cable[group[a]]
		}
		return 3*hop[group[a]] + 4*cable[group[a]]
	}
	return text
}

// noSizes is a rate at which nothing takes as much as half a picosecond, which is the
// unit of time where no fraction of it fits.
const noSizes = "999999937Gbps"

// Random traces take, node by node and rank by rank, the times that the rules give when
// they are followed in the plainest way.
func TestExecutionFollowsTheRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 6).Draw(rt, "ranks")
		r := &randomSet{T: rt, set: traces(t, ranks), run: &plainRun{}, want: map[string][2]*plainNode{},
			last: map[[2]int]*plainNode{}, serialize: rapid.Bool().Draw(rt, "serialize"), synch: rapid.Bool().Draw(rt, "synchronize"),
			collected: rapid.IntRange(0, 3).Draw(rt, "collected") == 0}
		r.run.half = rapid.IntRange(0, 3).Draw(rt, "half") == 0
		args := []string{"-q", "--set", "fabric.link.rate=" + noSizes, "--set", "levels.inter_node.hockney.bandwidth=" + noSizes, fmt.Sprint("--serialize=", r.serialize), fmt.Sprint("--synchronize=", r.synch), fmt.Sprint("--cores=", rapid.IntRange(1, 3).Draw(rt, "cores"))}
		if r.collected {
			args = append(args, "--trace-family", "collected")
		}
		if r.run.half {
			args = append(args, "--scale", "0.5")
		}
		for range ranks {
			r.plain = append(r.plain, map[uint64]*plainNode{})
		}
		r.drawGroups(ranks)
		if rapid.Bool().Draw(rt, "mapping") {
			args = append(args, "--mapping", put(t, t.TempDir(), "mapping.txt", r.drawMapping(ranks)), "--set", "scale_up.header=0B")
		}
		for typ := range int64(10) {
			var of []plainAlgorithm
			for _, a := range plainAlgorithms() {
				if a.typ == typ {
					of = append(of, a)
				}
			}
			a := rapid.SampledFrom(of).Draw(rt, "choice")
			r.chosen = append(r.chosen, a)
			args = append(args, "--algorithm", a.flag)
		}
		for range rapid.IntRange(1, 25).Draw(rt, "operations") {
			rapid.SampledFrom([]func(){r.work, r.work, r.transfer, r.transfer, r.collective}).Draw(rt, "operation")()
		}
		r.compare(args)
	})
}

// drawGroups declares groups; a group is its list of members, so that no two are alike.
func (r *randomSet) drawGroups(ranks int) {
	everyone := make([]int, ranks)
	for i := range everyone {
		everyone[i] = i
	}
	for range rapid.IntRange(1, 3).Draw(r.T, "groups") {
		members := rapid.Permutation(everyone).Draw(r.T, "members")[:rapid.IntRange(1, ranks).Draw(r.T, "size")]
		if slices.ContainsFunc(r.groups, func(g []int) bool { return slices.Equal(g, members) }) {
			continue
		}
		r.set.group(r.name(len(r.groups)), members...)
		r.groups = append(r.groups, members)
		r.ordered = append(r.ordered, rapid.Bool().Draw(r.T, "ordered"))
	}
}

// compare runs both and holds them against each other.
func (r *randomSet) compare(args []string) {
	for rank := range r.set.ranks {
		r.set.ranks[rank] = rapid.Permutation(r.set.ranks[rank]).Draw(r.T, "order")
	}
	ranks := len(r.plain)
	r.run.run(ranks)
	if r.run.ambiguous {
		return
	}
	if !r.run.finished() {
		if o := r.set.run(args...); o.status != exitFailed || !strings.Contains(o.stderr, "[E501]") {
			r.Errorf("status %d, but nothing more can happen and nodes are left:\n%s", o.status, o.stderr)
		}
		return
	}
	if rapid.IntRange(0, 3).Draw(r.T, "stopped") == 0 {
		r.compareStopped(args)
		return
	}
	r.set.command = "compare"
	rec := r.set.record(append(args, "--record-interval", "7us", "--models", "hockney")...)
	r.set.command = ""
	o := rec.outcome
	if o.status != exitDone {
		r.Fatalf("status %d: %s", o.status, o.stderr)
	}
	took := map[string]map[string]int64{}
	for _, op := range o.report.Operations {
		took[op.Name] = op.Total
	}
	for name, p := range r.want {
		for _, model := range []string{"packet", "hockney"} {
			if got, want := took[name][model], p[1].end-p[0].start; got != want {
				r.Errorf("node %s takes %d ps in the %s run, want %d", name, got, model, want)
			}
		}
	}
	for rank := range ranks {
		if got, want := o.report.Runs[0].Ranks[rank].Finish, r.run.finish(rank); got != want {
			r.Errorf("rank %d ends at %d ps, want %d", rank, got, want)
		}
	}
	r.compareRecords(rec)
	if r.collected {
		return
	}
	args = slices.DeleteFunc(args, func(a string) bool { return strings.HasPrefix(a, "--cores") }) // not one of graph
	plain := follow(r.set.prepared(args...), r.run.crossing)
	for rank := range ranks {
		if got, want := plain.finish(rank), r.run.finish(rank); got != want {
			r.Errorf("the prepared trace of rank %d takes %d ps, want %d", rank, got, want)
		}
	}
}
