package main

import (
	"testing"

	"hybrid/chakra"
)

// A send ends when its last bit has left, and releases what waits for it; its receive
// ends when the last bit has arrived, 500 ns later; the acknowledgement is back after
// another 500 ns, and only the end of the ranks waits for it.
func TestExecutionTransfer(t *testing.T) {
	for _, bytes := range []int64{0, 1, 4096, 4097, 1_000_000} {
		s := traces(t, 2)
		s.send(0, 1, bytes, 7)
		s.recv(1, 0, bytes, 7)
		o := s.run().done()
		o.lasted(moments{"0.1": 20 * bytes, "1.1": onLink(bytes)})
		o.finishes(onLink(bytes)+500*ns, onLink(bytes)+500*ns)
		if r := o.report.Runs[0]; r.Messages != 1 || r.Bytes != bytes {
			t.Errorf("%d messages of %d B, want one of %d B", r.Messages, r.Bytes, bytes)
		}
	}
}

// What waits for a send starts when the send has ended, what waits for a receive when
// all of it has come.
func TestExecutionRelease(t *testing.T) {
	s := traces(t, 2)
	s.mark("behind the send", 0, s.compute(0, 1, s.send(0, 1, 1_000_000, 7)))
	s.mark("behind the receive", 1, s.compute(1, 1, s.recv(1, 0, 1_000_000, 7)))
	s.run().done().marked(moments{"behind the send": 20*us + us, "behind the receive": onLink(1_000_000) + us})
}

// The send of the seventh node starts at 3 us. A receive that starts earlier waits for
// the transfer; one that starts later ends at once, since the transfer is held.
func TestExecutionHeldTransfer(t *testing.T) {
	for _, test := range []struct {
		name          string
		send, receive uint64
		end           int64
	}{
		{"receive first", 3, 0, 3*us + onLink(4096)},
		{"together", 0, 0, onLink(4096)},
		{"transfer first", 0, 5, 5 * us},
		{"both late", 3, 3, 3*us + onLink(4096)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 2)
			s.send(0, 1, 4096, 7, s.wait(0, test.send))
			s.mark("end", 1, s.recv(1, 0, 4096, 7, s.wait(1, test.receive)))
			s.run().done().marked(moments{"end": test.end})
		})
	}
}

// A transfer meets the receive with its tag between the same two ranks; of several, the
// one sent first meets the receive that started first.
func TestExecutionMatching(t *testing.T) {
	t.Run("by tag", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 4096, 1)
		s.send(0, 1, 1000, 2)
		s.recv(1, 0, 1000, 2)
		s.recv(1, 0, 4096, 1)
		s.run().done().lasted(moments{"1.1": onLink(5096), "1.2": onLink(4096)})
	})
	t.Run("by sender", func(t *testing.T) {
		s := traces(t, 3)
		s.send(0, 2, 4096, 1)
		s.send(1, 2, 1000, 1)
		s.recv(2, 1, 1000, 1)
		s.recv(2, 0, 4096, 1)
		s.run().done().lasted(moments{"2.1": onLink(1000), "2.2": onLink(4096)})
	})
	// The second receive of the file starts at once, the first at 9 us: the transfer sent
	// first meets the one that started first.
	t.Run("in the order of starting", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 4096, 1)
		s.send(0, 1, 1000, 1, s.wait(0, 20))
		late := s.wait(1, 9)
		s.mark("late", 1, s.recv(1, 0, 1000, 1, late))
		s.mark("early", 1, s.recv(1, 0, 4096, 1))
		s.run().done().marked(moments{"early": onLink(4096), "late": 20*us + onLink(1000)})
	})
	// Where the sizes differ, that of the send counts.
	t.Run("sizes that differ", func(t *testing.T) {
		for _, received := range []int64{0, 1000, 9000} {
			s := traces(t, 2)
			s.send(0, 1, 4096, 1)
			s.recv(1, 0, received, 1)
			o := s.run().done()
			o.lasted(moments{"1.1": onLink(4096)})
			o.says("warning", "[W402]")
		}
	})
	// Several pending with one tag: first in, first out, with a warning for the sizes.
	t.Run("equal tags", func(t *testing.T) {
		s := traces(t, 2)
		s.send(0, 1, 4096, 1)
		s.send(0, 1, 1000, 1)
		s.recv(1, 0, 1000, 1)
		s.recv(1, 0, 4096, 1)
		o := s.run().done()
		o.lasted(moments{"1.1": onLink(4096), "1.2": onLink(5096)})
		o.says("[W402]")
	})
	t.Run("to itself", func(t *testing.T) {
		s := traces(t, 1)
		s.send(0, 0, 4096, 1, s.wait(0, 3))
		s.recv(0, 0, 4096, 1)
		s.run().done().lasted(moments{"0.3": 3 * us})
	})
}

// A send without comm_size takes its tensor_size, or nothing, and says so.
func TestExecutionMissingSize(t *testing.T) {
	for _, test := range []struct {
		name  string
		attrs []chakra.Attr
		bytes int64
		says  string
	}{
		{"tensor", []chakra.Attr{chakra.Int64("tensor_size", 1000)}, 1000, "has no comm_size; its tensor_size of 1000 bytes is used [W708]"},
		{"none", nil, 0, "has no comm_size; it transfers 0 bytes [W708]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := traces(t, 2)
			s.node(0, chakra.Node{Type: chakra.CommSendNode, Attrs: append([]chakra.Attr{chakra.Int64("comm_dst", 1), chakra.Int64("comm_tag", 0)}, test.attrs...)})
			s.recv(1, 0, test.bytes, 0)
			o := s.run().done()
			o.lasted(moments{"1.1": onLink(test.bytes)})
			o.says(test.says)
		})
	}
}

// Transfers of one NIC share its link, and queue behind each other in the network: two
// senders to one host of a star need twice the time of one on the last link.
func TestExecutionCongestion(t *testing.T) {
	s := traces(t, 3)
	for r := range 2 {
		s.send(r, 2, 1_000_000, int64(r))
		s.recv(2, r, 1_000_000, int64(r))
	}
	alone := lastBit(frames("none", 1_000_000), 2)
	o := s.run("--set", "topology.kind=star").done()
	if first, second := o.took("2.1"), o.took("2.2"); max(first, second) != alone+20*1_000_000 {
		t.Errorf("the receives end at %d and %d ps, want the later one at %d", first, second, alone+20*1_000_000)
	}
}

// Each transport of a NIC is chosen by name; RoCEv2 adds its headers, 98 B to the
// packet. What is not available is refused with the list of what is.
func TestExecutionTransports(t *testing.T) {
	one := func() *traceSet {
		s := traces(t, 2)
		s.send(0, 1, 1000, 1)
		s.recv(1, 0, 1000, 1)
		return s
	}
	one().run("--set", "nic.transport=roce", "--set", "fabric.wire=rocev2").done().lasted(moments{"0.1": 20 * 1098, "1.1": onLink(1098)})
	one().run("--set", "nic.transport=ideal").done().lasted(moments{"0.1": 20 * 1000, "1.1": onLink(1000)})
	for _, name := range []string{"uet", "mrc"} {
		one().run("--set", "nic.transport="+name).fails("[E951]", name)
	}
	one().run("--set", "nic.transport=roec").fails(`unknown transport "roec"; did you mean "roce"? [E950]`)
}
