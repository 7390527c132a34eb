package node

import (
	"testing"

	"hybrid/graph"
)

func TestSharing(t *testing.T) {
	var p Processor
	if p.Shares(graph.Compute, graph.HostCPU, 5) || p.Shares(graph.Load, 0, 5) || p.Shares(graph.Compute, graph.Skipped, 5) || p.Shares(graph.Compute, 0, 0) {
		t.Error("an operation shares that must not")
	}
	if !p.Shares(graph.Compute, 0, 5) {
		t.Error("a compute operation does not share")
	}
	_, first := p.Begin(0, 1, 10)
	next, second := p.Begin(5, 2, 10) // 5 left, at half speed: 15
	if next != 15 {
		t.Errorf("the first ends at %d, want 15", next)
	}
	if got := p.End(10, first, nil); len(got) != 0 {
		t.Errorf("a void version ends %v", got)
	}
	if got := p.End(15, second, nil); len(got) != 1 || got[0] != 1 {
		t.Errorf("at 15 %v ends, want 1", got)
	}
	if next, _ := p.Next(); next != 20 {
		t.Errorf("the second ends at %d, want 20", next)
	}
	p.Collected = true
	if p.Shares(graph.Compute, 0, 5) {
		t.Error("a collected duration is shared")
	}
}

func TestMessagesOneAtATime(t *testing.T) {
	var p Processor
	for i, c := range []struct{ now, overhead, done int64 }{{0, 5, 5}, {1, 5, 10}, {20, 3, 23}, {21, 0, 23}, {30, 0, 30}} {
		if got := p.Message(c.now, c.overhead); got != c.done {
			t.Errorf("message %d is done at %d, want %d", i, got, c.done)
		}
	}
}
