package main

import (
	"strings"
	"testing"

	"hybrid/des"
)

// What to change is named for the part that takes most.
func TestMemoryNotes(t *testing.T) {
	for _, c := range []struct {
		m    des.Memory
		want string
	}{
		{des.Memory{Fabric: 1e9, Ranks: 1e6, QueuePairs: 2e9}, "few partners"},
		{des.Memory{Fabric: 1e9, Ranks: 2e9, QueuePairs: 1e6}, "fewer ranks need less"},
		{des.Memory{Fabric: 3e9, Ranks: 2e9, QueuePairs: 1e6}, "fewer hosts"},
		{des.Memory{Fabric: 3e9, Memories: 2e9}, "packet memories of switches take 2GB of it: fewer fabric.switch.classes, or switches without any (no cut-through"},
		{des.Memory{Fabric: 3e9, Wires: 2e9}, "packets under way take 2GB: a shorter fabric.link.delay or a larger fabric.mtu"},
	} {
		notes := strings.Join(memoryNotes(&c.m, 1e9), "\n")
		if !strings.Contains(notes, c.want) || !strings.Contains(notes, "runs it all the same") {
			t.Errorf("%+v: %s", c.m, notes)
		}
	}
}
