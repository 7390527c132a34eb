package main

import (
	"strings"
	"testing"

	"hybrid/chakra"
)

// without leaves attributes out of a node.
func without(n chakra.Node, drop ...chakra.Attr) chakra.Node {
	attrs := n.Attrs
	n.Attrs = nil
	for _, a := range attrs {
		keep := true
		for _, d := range drop {
			keep = keep && a != d
		}
		if keep {
			n.Attrs = append(n.Attrs, a)
		}
	}
	return n
}

// A collective that cannot be expanded takes its recorded duration beside everything
// else, with a warning, which stops the run if the user wants so.
func TestExecutionSkippedCollectives(t *testing.T) {
	whole := collectiveNode(allReduce, 1000)
	for _, test := range []struct {
		name string
		node chakra.Node
		says string
	}{
		{"no type", without(whole, chakra.Int64("comm_type", allReduce)), "has no comm_type and is not expanded; it takes its recorded duration [W701]"},
		{"no size", without(whole, chakra.Int64("comm_size", 1000)), "has no comm_size and is not expanded; it takes its recorded duration [W701]"},
		{"outside its group", whole, `is a collective of the process group "g", in which rank 0 is not; it takes its recorded duration [W702]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, micros := range []uint64{4, 0} {
				s := traces(t, 3)
				s.group("g", 1, 2)
				test.node.DurationMicros = micros
				skipped := s.node(0, test.node)
				s.compute(0, 10)
				s.mark("released", 0, skipped)
				o := s.run().done()
				o.marked(moments{"released": int64(micros) * us})
				o.lasted(moments{"0.2": 10 * us})
				o.says("warning", test.says)
				s.run("--abort-on-warning").fails(test.says)
			}
		})
	}
	// Type 0 and size 0 are values: an AllReduce of nothing.
	t.Run("zero is a value", func(t *testing.T) {
		s := pair(t)
		s.each(collectiveNode(allReduce, 0))
		o := s.run(unsynchronized, "--abort-on-warning").done()
		o.marked(everyRank(2*500*ns, 2*500*ns))
		if c := o.report.Collectives[0]; c.Type != "allreduce" || c.Transfers != 4 {
			t.Errorf("%s with %d transfers, want allreduce with 4", c.Type, c.Transfers)
		}
	})
}

// Groups are what each trace declares. The names of all ranks need no declaration.
func TestExecutionGroups(t *testing.T) {
	named := func(name string) chakra.Node {
		n := collectiveNode(allGather, 4096)
		n.Attrs[2] = chakra.String("pg_name", name)
		return n
	}
	t.Run("not declared", func(t *testing.T) {
		s := traces(t, 2)
		s.group("h", 0, 1)
		s.node(0, named("g"))
		s.node(1, named("g"))
		s.run().fails(`the process group "g" is not declared`, "[E709]")
	})
	for name, nodes := range map[string]chakra.Node{
		"empty name": named(""), "name 0": named("0"), "no name": without(named(""), chakra.String("pg_name", "")),
	} {
		t.Run(name, func(t *testing.T) {
			s := traces(t, 3)
			for r := range 3 {
				s.node(r, nodes)
			}
			s.run(unsynchronized, "--network", "ideal").done().finishes(2*onLink(4096), 2*onLink(4096), 2*onLink(4096))
		})
	}
	// Rank 2 is late, and only rank 3 waits for it.
	t.Run("one name, other members", func(t *testing.T) {
		s := traces(t, 4)
		for r := range 4 {
			s.groupAt(r, "g", r/2*2, r/2*2+1)
		}
		s.mark("rank 0", 0, s.node(0, named("g")))
		s.mark("rank 1", 1, s.node(1, named("g")))
		s.mark("rank 2", 2, s.collective(2, allGather, 4096, s.wait(2, 10)))
		s.mark("rank 3", 3, s.node(3, named("g")))
		s.run(unsynchronized).done().marked(everyRank(onLink(4096), onLink(4096), 10*us+20*4096, 10*us+onLink(4096)))
	})
	t.Run("orders that differ", func(t *testing.T) {
		s := traces(t, 2)
		s.groupAt(0, "g", 0, 1)
		s.groupAt(1, "g", 1, 0)
		s.node(0, named("g"))
		s.node(1, named("g"))
		s.run().fails(`the process group "g" is [1 0] here and [0 1] in`, "[E716]")
	})
}

// A halving algorithm in a group whose size is no power of two stops the run before it
// starts.
func TestExecutionAlgorithmThatDoesNotFit(t *testing.T) {
	for _, test := range []struct {
		typ       int64
		algorithm string
	}{{allReduce, "allreduce=halving-doubling"}, {reduceScatter, "reducescatter=halving"}, {barrier, "barrier=halving-doubling"}} {
		s := traces(t, 3)
		s.group("g", 0, 1, 2)
		for r := range 3 {
			s.node(r, collectiveNode(test.typ, 0))
		}
		_, name, _ := strings.Cut(test.algorithm, "=")
		s.run("--algorithm", test.algorithm).fails(name, "power of two, not 3", "[E303]")
		if o := s.run(); o.status != exitDone {
			t.Errorf("%s: the default does not fit either: %s", test.algorithm, o.stderr)
		}
	}
}

// A warning of the preparation stops the run before it starts, if the user wants so;
// without one the run is the same.
func TestExecutionAbortOnWarning(t *testing.T) {
	s := traces(t, 1)
	s.compute(0, 3)
	s.run("--abort-on-warning").done().finishes(3 * us)
	s.node(0, chakra.Node{Type: chakra.CompNode, DurationMicros: 1, DataDeps: []uint64{99}})
	s.run().done().finishes(4 * us)
	s.run("--abort-on-warning").fails("[W703]")
	// What is not logged stops nothing.
	if o := s.run("--abort-on-warning", "--max-warnings", "0").done(); strings.Contains(o.stderr, "[W703]") {
		t.Errorf("no warning was to be logged:\n%s", o.stderr)
	}
	s.run("--abort-on-warning", "--max-warnings", "1").fails("[W703]")
}

// Every size of a transfer and every duration is multiplied as the trace is read and
// truncated to a whole byte or microsecond; dependencies remain.
func TestExecutionScaling(t *testing.T) {
	t.Run("durations", func(t *testing.T) {
		for _, test := range []struct {
			factor string
			micros uint64
			end    int64
		}{
			{"0.5", 10, 5 * us}, {"0.5", 1, 0}, {"0.5", 7, 3 * us}, {"0.999", 1000, 999 * us}, {"0.1", 29, 2 * us},
			{"0.0", 1_000_000, 0}, {"1.0", 7, 7 * us}, {"", 7, 7 * us},
		} {
			for _, typ := range []chakra.NodeType{chakra.CompNode, chakra.MemLoadNode, chakra.MemStoreNode} {
				s := traces(t, 1)
				s.mark("end", 0, s.node(0, chakra.Node{Type: typ, DurationMicros: test.micros}))
				s.run(scaled(test.factor)...).done().marked(moments{"end": test.end})
			}
		}
	})
	t.Run("sizes", func(t *testing.T) {
		for _, test := range []struct {
			factor        string
			bytes, scaled int64
		}{{"0.5", 1000, 500}, {"0.5", 1001, 500}, {"0.5", 1, 0}, {"0.3", 10, 3}, {"0.0", 1000, 0}, {"1.0", 1001, 1001}, {"", 1001, 1001}} {
			s := traces(t, 2)
			s.send(0, 1, test.bytes, 1)
			s.recv(1, 0, test.bytes, 1)
			s.run(scaled(test.factor)...).done().lasted(moments{"0.1": 20 * test.scaled, "1.1": onLink(test.scaled)})
		}
	})
	// Each transfer of a collective is scaled, not its size: 1,001 B over 8 ranks are
	// transfers of 126 B, half of which are 63 B; the size in the report is the trace's.
	t.Run("collectives", func(t *testing.T) {
		s := traces(t, 8)
		s.group("g", 0, 1, 2, 3, 4, 5, 6, 7)
		s.each(collectiveNode(reduceScatter, 1001))
		o := s.run(unsynchronized, "--scale", "0.5").done()
		o.marked(allAt(8, 7*onLink(63)))
		if c := o.report.Collectives[0]; c.Bytes != 1001 {
			t.Errorf("the collective has %d B in the report, want the trace's 1001", c.Bytes)
		}
	})
	// At 0.0 only the latency of the transfers is left: the pattern is the trace's.
	t.Run("pattern", func(t *testing.T) {
		s := traces(t, 2)
		sent := s.send(0, 1, 1000, 1, s.compute(0, 50))
		s.mark("answered", 0, s.recv(0, 1, 1000, 2, sent))
		s.send(1, 0, 1000, 2, s.compute(1, 50, s.recv(1, 0, 1000, 1)))
		s.run("--scale", "0.0").done().marked(moments{"answered": 2 * 500 * ns})
		s.run("--scale", "0.5").done().marked(moments{"answered": 2 * (25*us + onLink(500))})
		s.run().done().marked(moments{"answered": 2 * (50*us + onLink(1000))})
	})
	t.Run("range", func(t *testing.T) {
		s := traces(t, 1)
		s.compute(0, 1)
		for _, factor := range []string{"1.5", "-0.1", "half"} {
			o := s.run("--scale", factor)
			if o.status != exitUsage {
				t.Errorf("--scale %s: status %d, want %d", factor, o.status, exitUsage)
			}
			o.says("--scale is a number from 0 to 1")
		}
	})
}

// scaled is the flag of a factor, or no flag.
func scaled(factor string) []string {
	if factor == "" {
		return nil
	}
	return []string{"--scale", factor}
}
