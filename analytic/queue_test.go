package analytic

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The queue gives events in the order of (time, number), whatever the order of pushes
// and pops; a line gives waiters in the order of their numbers.
func TestQueueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var l line
		var model []event
		seqs := rapid.Permutation(firstNumbers(200)).Draw(t, "numbers")
		for _, seq := range seqs {
			if rapid.IntRange(0, 2).Draw(t, "pop") == 0 && len(model) > 0 {
				popBoth(t, &q, &l, &model)
			}
			e := makeEvent(rapid.Int64Range(0, 9).Draw(t, "time"), seq, evArrive, int32(seq), -1)
			q.push(e)
			l.push(waiter{seq, int32(seq)})
			model = append(model, e)
		}
		for len(model) > 0 {
			popBoth(t, &q, &l, &model)
		}
		if q.len() != 0 || len(l) != 0 {
			t.Fatalf("%d events and %d waiters are left", q.len(), len(l))
		}
	})
}

func firstNumbers(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// popBoth takes the first event of the queue and compares it with a plain search, and
// replaces the first waiter of the line, which must have the least number.
func popBoth(t *rapid.T, q *queue, l *line, model *[]event) {
	least := 0
	for i, e := range *model {
		if m := (*model)[least]; e.at < m.at || e.at == m.at && e.seq < m.seq {
			least = i
		}
	}
	want := (*model)[least]
	*model = slices.Delete(*model, least, least+1)
	got := q.pop()
	if got != want || got.kind() != evArrive || got.rank() != int32(want.seq) || got.index() != -1 {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	lowest := slices.MinFunc(*l, func(a, b waiter) int { return int(a.seq) - int(b.seq) })
	if first := l.pop(); first != lowest {
		t.Fatalf("waiter %+v, want %+v", first, lowest)
	}
}
