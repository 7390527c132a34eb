package des

// joinClose makes one process of all those that links without look-ahead join: what one of
// them sends on such a link may reach the other in the same instant.
func (r *run) joinClose(process []int32) {
	if len(r.close) == 0 {
		return
	}
	links := r.job.Topology.Links()
	set := newSets(len(r.procs))
	joined := make([]bool, len(r.procs)) // by representative at the end
	for _, id := range r.close {
		set.union(process[links[id].From], process[links[id].To])
	}
	for _, id := range r.close {
		joined[set.find(process[links[id].From])] = true
	}
	members, inside := make([][]int32, len(r.procs)), make([][]int, len(r.procs))
	for p := range r.procs {
		if s := set.find(int32(p)); joined[s] && r.procs[p] != nil {
			members[s] = append(members[s], int32(p))
		}
	}
	for id, l := range links {
		if s := set.find(process[l.From]); joined[s] && s == set.find(process[l.To]) {
			inside[s] = append(inside[s], id)
		}
	}
	for s := range members {
		if len(members[s]) > 0 {
			r.kernel.Join(r.procs, members[s], inside[s])
		}
	}
}

// sets are disjoint sets of numbers, each represented by its least member (Tarjan, 1975,
// with path halving).
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s sets) find(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) union(a, b int32) {
	a, b = s.find(a), s.find(b)
	s[max(a, b)] = min(a, b)
}
