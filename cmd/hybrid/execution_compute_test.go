package main

import (
	"testing"

	"hybrid/chakra"
)

// Compute nodes of one rank that run at once share its accelerator equally: with n of
// them each advances at 1/n of its speed, recomputed whenever one starts or finishes.
func TestExecutionComputeSharing(t *testing.T) {
	for _, test := range []struct {
		name, family string
		start, work  []uint64
		end          []int64
	}{
		// 10 us of work each, at half speed: 10 us x 2.
		{"two together", "", []uint64{0, 0}, []uint64{10, 10}, []int64{20 * us, 20 * us}},
		{"two together, synthesized", "synthesized", []uint64{0, 0}, []uint64{10, 10}, []int64{20 * us, 20 * us}},
		{"two together, compiled", "compiled", []uint64{0, 0}, []uint64{10, 10}, []int64{20 * us, 20 * us}},
		{"two together, collected", "collected", []uint64{0, 0}, []uint64{10, 10}, []int64{10 * us, 10 * us}},
		// The first has 5 us left when the second comes: 5 x 2 later it ends. The second has 5
		// us left then and is alone.
		{"one later", "", []uint64{0, 5}, []uint64{10, 10}, []int64{15 * us, 20 * us}},
		{"one later, collected", "collected", []uint64{0, 5}, []uint64{10, 10}, []int64{10 * us, 15 * us}},
		// 3 x 3 = 9; 3 us more of the second at half speed: 15; 3 us more of the third: 18.
		{"three sizes", "", []uint64{0, 0, 0}, []uint64{3, 6, 9}, []int64{9 * us, 15 * us, 18 * us}},
		// At 2 us 8.5, 9.5 and 10 us are left; 8.5 x 3 later the first ends, the second 1 x 2
		// after it, the third 0.5 after that.
		{"fractions of a microsecond", "", []uint64{0, 1, 2}, []uint64{10, 10, 10}, []int64{27_500_000, 29_500_000, 30 * us}},
		// What takes no time ends where it starts and slows nobody.
		{"no work", "", []uint64{0, 5, 0}, []uint64{10, 0, 0}, []int64{10 * us, 5 * us, 0}},
		// Two leave at one instant: 4 us of work in 8, then the third alone.
		{"leave together", "", []uint64{0, 0, 8}, []uint64{4, 4, 3}, []int64{8 * us, 8 * us, 11 * us}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 1)
			labels := []string{"first", "second", "third"}
			want := moments{}
			for i, work := range test.work {
				var deps []uint64
				if test.start[i] > 0 {
					deps = append(deps, s.wait(0, test.start[i]))
				}
				s.mark(labels[i], 0, s.compute(0, work, deps...))
				want[labels[i]] = test.end[i]
			}
			var args []string
			if test.family != "" {
				args = []string{"--trace-family", test.family}
			}
			s.run(args...).done().marked(want)
		})
	}
}

// Work of the host processor, memory nodes, other ranks and transfers have no part in
// the sharing.
func TestExecutionUnshared(t *testing.T) {
	work := func(typ chakra.NodeType, attrs ...chakra.Attr) chakra.Node {
		return chakra.Node{Type: typ, DurationMicros: 10, Attrs: attrs}
	}
	for _, test := range []struct {
		name  string
		other chakra.Node
		// what the accelerator's node and the other one take, side by side
		npu, beside int64
	}{
		{"accelerator", work(chakra.CompNode), 20 * us, 20 * us},
		{"not of the host", work(chakra.CompNode, chakra.Bool("is_cpu_op", false)), 20 * us, 20 * us},
		{"host, a truth value", work(chakra.CompNode, chakra.Bool("is_cpu_op", true)), 10 * us, 10 * us},
		{"host, 32 bits", work(chakra.CompNode, chakra.Int32("is_cpu_op", 1)), 10 * us, 10 * us},
		{"host, 64 bits", work(chakra.CompNode, chakra.Uint64("is_cpu_op", 1)), 10 * us, 10 * us},
		{"load", work(chakra.MemLoadNode), 10 * us, 10 * us},
		{"store", work(chakra.MemStoreNode), 10 * us, 10 * us},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 2)
			s.compute(0, 10)
			s.node(0, test.other)
			s.compute(1, 10)
			s.run().done().lasted(moments{"0.1": test.npu, "0.2": test.beside, "1.1": 10 * us})
		})
	}
	t.Run("any number of them", func(t *testing.T) {
		s := traces(t, 1)
		for range 3 {
			s.node(0, work(chakra.CompNode, chakra.Bool("is_cpu_op", true)))
			s.node(0, work(chakra.MemLoadNode))
			s.node(0, work(chakra.MemStoreNode))
		}
		s.run().done().finishes(10 * us)
	})
	t.Run("transfers", func(t *testing.T) {
		s := traces(t, 2)
		s.compute(0, 10)
		s.compute(1, 10)
		s.send(0, 1, 4096, 1)
		s.recv(1, 0, 4096, 1)
		s.run().done().lasted(moments{"0.1": 10 * us, "1.1": 10 * us, "0.2": 20 * 4096, "1.2": onLink(4096)})
	})
}

// Durations are whole microseconds; metadata takes none, whatever it says, and releases
// what waits for it. A node without a type does the same, with a warning.
func TestExecutionNodeTypes(t *testing.T) {
	for _, test := range []struct {
		name string
		node chakra.Node
		end  int64
		says string
	}{
		{"compute", chakra.Node{Type: chakra.CompNode, DurationMicros: 7}, 7 * us, ""},
		{"load", chakra.Node{Type: chakra.MemLoadNode, DurationMicros: 7}, 7 * us, ""},
		{"store", chakra.Node{Type: chakra.MemStoreNode, DurationMicros: 7}, 7 * us, ""},
		{"metadata", chakra.Node{Type: chakra.MetadataNode, DurationMicros: 7}, 0, ""},
		{"no type", chakra.Node{Type: chakra.InvalidNode, DurationMicros: 7}, 0, "has the type INVALID_NODE or none; it takes no time [W707]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 1)
			first := s.node(0, test.node)
			s.mark("released", 0, first)
			s.mark("next", 0, s.compute(0, 3, first))
			o := s.run().done()
			o.marked(moments{"released": test.end, "next": test.end + 3*us})
			o.says(test.says)
		})
	}
}

// A node starts when the last of what it depends on, in either list, has finished.
func TestExecutionDependencies(t *testing.T) {
	for _, test := range []struct {
		name       string
		ctrl, data []uint64
		start      int64
		says       string
	}{
		{"none", nil, nil, 0, ""},
		{"data", nil, []uint64{1}, 3 * us, ""},
		{"control", []uint64{1}, nil, 3 * us, ""},
		{"later in data", []uint64{1}, []uint64{2}, 5 * us, ""},
		{"later in control", []uint64{2}, []uint64{1}, 5 * us, ""},
		{"twice in one list", nil, []uint64{1, 1, 1}, 3 * us, ""},
		{"in both lists", []uint64{1, 2}, []uint64{2, 1}, 5 * us, ""},
		{"no such node", []uint64{1}, []uint64{99}, 3 * us, "waits for node 99, which is not in the file; the dependency is dropped [W703]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 1)
			s.wait(0, 3)
			s.wait(0, 5)
			s.mark("end", 0, s.node(0, chakra.Node{Type: chakra.CompNode, DurationMicros: 1, CtrlDeps: test.ctrl, DataDeps: test.data}))
			o := s.run().done()
			o.marked(moments{"end": test.start + us})
			o.says(test.says)
		})
	}
	t.Run("on itself", func(t *testing.T) {
		s := traces(t, 1)
		s.node(0, chakra.Node{ID: 1, Type: chakra.CompNode, DataDeps: []uint64{1}})
		s.compute(0, 3)
		s.run().fails("waits for itself [E707]")
	})
	// The control list of the first closes a cycle that the data lists do not have.
	t.Run("cycle of both lists", func(t *testing.T) {
		s := traces(t, 1)
		s.node(0, chakra.Node{ID: 1, Type: chakra.CompNode, DurationMicros: 1, CtrlDeps: []uint64{2}})
		s.mark("end", 0, s.node(0, chakra.Node{ID: 2, Type: chakra.CompNode, DurationMicros: 1, DataDeps: []uint64{1}}))
		o := s.run().done()
		o.marked(moments{"end": 2 * us})
		o.says("[W704]")
	})
	// Node 1 of rank 0 takes 9 us. What depends on node 1 at rank 1 does not wait for it.
	t.Run("within a rank", func(t *testing.T) {
		s := traces(t, 2)
		s.compute(0, 9)
		s.compute(1, 2)
		s.mark("end", 1, s.compute(1, 2, 1))
		s.run().done().marked(moments{"end": 4 * us})
	})
}
