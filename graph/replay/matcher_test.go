package replay

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hybrid/graph"
)

// naive is the matching rule in its plainest form: two lists.
type naive struct {
	receives, messages []named
}

type named struct {
	key
	id int64
}

func (n *naive) post(k key, id int64) (int64, bool) {
	for i, m := range n.messages {
		if matches(k, m.key) {
			n.messages = slices.Delete(n.messages, i, i+1)
			return m.id, true
		}
	}
	n.receives = append(n.receives, named{k, id})
	return 0, false
}

func (n *naive) arrive(k key, id int64) (int64, bool) {
	for i, r := range n.receives {
		if matches(r.key, k) {
			n.receives = slices.Delete(n.receives, i, i+1)
			return r.id, true
		}
	}
	n.messages = append(n.messages, named{k, id})
	return 0, false
}

func ids(list []named) []int64 {
	var out []int64
	for _, n := range list {
		out = append(out, n.id)
	}
	return out
}

// TestMatcherAgainstLists compares every answer of the matcher with that of two
// plain lists, wildcards included.
func TestMatcherAgainstLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Matcher
		var n naive
		wild := rapid.IntRange(0, 3).Draw(t, "one wildcard in")
		ops := rapid.IntRange(1, 300).Draw(t, "operations")
		span := rapid.Int32Range(1, 40).Draw(t, "keys")
		for id := range int64(ops) {
			k := key{uint64(rapid.IntRange(0, 1).Draw(t, "context")), rapid.Int32Range(0, span).Draw(t, "source"), rapid.Int32Range(0, 2).Draw(t, "tag")}
			if rapid.Bool().Draw(t, "message") {
				got, ok := m.Arrive(k.context, k.src, k.tag, id)
				if want, wantOK := n.arrive(k, id); got != want || ok != wantOK {
					t.Fatalf("arrive %v: %d %t, want %d %t", k, got, ok, want, wantOK)
				}
				continue
			}
			if wild > 0 && rapid.IntRange(1, wild).Draw(t, "any source") == 1 {
				k.src = graph.AnyRank
			}
			if wild > 0 && rapid.IntRange(1, wild).Draw(t, "any tag") == 1 {
				k.tag = graph.AnyTag
			}
			got, ok := m.Post(k.context, k.src, k.tag, id)
			if want, wantOK := n.post(k, id); got != want || ok != wantOK {
				t.Fatalf("post %v: %d %t, want %d %t", k, got, ok, want, wantOK)
			}
		}
		var receives, messages []int64
		m.Waiting(func(id int64) { receives = append(receives, id) }, func(id int64) { messages = append(messages, id) })
		if !slices.Equal(receives, ids(n.receives)) || !slices.Equal(messages, ids(n.messages)) {
			t.Fatalf("waiting %v and %v, want %v and %v", receives, messages, ids(n.receives), ids(n.messages))
		}
		if m.Idle() != (len(receives)+len(messages) == 0) {
			t.Fatalf("idle %t with %d receives and %d messages", m.Idle(), len(receives), len(messages))
		}
	})
}

// A matcher that has not been used has nothing to tell.
func TestMatcherUnused(t *testing.T) {
	var m Matcher
	m.Waiting(func(int64) { t.Error("receive") }, func(int64) { t.Error("message") })
	if !m.Idle() {
		t.Error("not idle")
	}
}

// Nothing is allocated once the buffers have grown.
func TestMatcherAllocations(t *testing.T) {
	var m Matcher
	round := func() {
		for i := range int32(100) {
			m.Post(0, i, 1, int64(i))
			m.Arrive(1, i, 1, int64(i))
		}
		for i := range int32(100) {
			m.Arrive(0, i, 1, int64(i))
			m.Post(1, graph.AnyRank, 1, int64(i))
		}
	}
	round()
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !m.Idle() {
		t.Error("not idle")
	}
}

func BenchmarkMatcher(b *testing.B) {
	for _, open := range []int32{1, 8, 1000} {
		b.Run(fmt.Sprintf("open=%d", open), func(b *testing.B) {
			var m Matcher
			for b.Loop() {
				for i := range open {
					m.Post(0, i, 1, int64(i))
				}
				for i := range open {
					m.Arrive(0, i, 1, int64(i))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(open), "ns/match")
		})
	}
}
