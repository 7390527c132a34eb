package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hybrid/chakra"
	"hybrid/internal/units"
)

// put writes a file into a folder of the test and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fabricYAML is a network of links of 400 Gbit/s (20 ps a byte) and 500 ns, with
// switches of 130 ns, processors that cost nothing, and eager messages only.
const fabricYAML = `name: exact
summary: Links of 400 Gbit/s and 500 ns.
source: Invented for a test.
levels:
  inter_node:
    eager_limit: 1GiB
    hockney: {latency: 500ns, bandwidth: 50GB/s}
    loggp: {L: 500ns, o: 0ns, g: 0ns, G: 0.02ns/B, O: 0ns/B}
topology: %s
fabric:
  link: {rate: 400Gbps, delay: 500ns}
  switch: {latency: 130ns}
  wire: %s
  mtu: 4096B
nic: {transport: roce}
host: {send_overhead: 0ns, receive_overhead: 0ns}
`

// frames are the sizes on the wire of the packets of a message, with the framing that
// the network file names: nothing, or RoCEv2 over Ethernet, where the first packet has
// 98 B and the others have 82 B more than their payload.
func frames(wire string, bytes int64) []int64 {
	var out []int64
	for left := bytes; left > 0 || len(out) == 0; left -= 4096 {
		frame := min(left, 4096)
		if wire == "rocev2" {
			frame += 82
			if len(out) == 0 {
				frame += 16
			}
		}
		out = append(out, frame)
	}
	return out
}

// lastBit is when the last bit of a message has arrived behind equal links, each of
// which stores and forwards one frame at a time. A frame starts on a link when it has
// come and the link is free, so that the last one is there after the longest of all
// chains of serializations that go through the frames and the links in order: all
// frames once, and the largest once more on each further link.
func lastBit(frames []int64, links int64) int64 {
	var sum, largest int64
	for _, f := range frames {
		sum, largest = sum+f, max(largest, f)
	}
	return links*500_000 + (links-1)*130_000 + 20*(sum+(links-1)*largest)
}

// A message that is alone in the network arrives exactly when the formula says, over
// one link and over as many as the topologies have, packet by packet and, with --ideal,
// as a whole: then each link takes its delay and all bytes, and Hockney, whose figures
// are those of one link, agrees on a direct link to the picosecond.
func TestIsolatedTransfer(t *testing.T) {
	dir := t.TempDir()
	program := put(t, dir, "one.hbp", `blueprint "one"
param n = 2
param size = 0B
ranks n
program { transfer size from 0 to n - 1 }
`)
	for _, topology := range []struct {
		yaml  string
		ranks int
		links int64
	}{
		{"direct", 2, 1}, {"star", 2, 2},
		{"{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 1}", 2, 4},
		{"{kind: fat-tree, k: 4, tiers: 3}", 16, 6},
	} {
		for _, wire := range []string{"none", "rocev2"} {
			network := put(t, dir, "exact.yml", fmt.Sprintf(fabricYAML, topology.yaml, wire))
			for _, bytes := range []int64{0, 1, 4096, 4097, 2_000_000} {
				args := []string{"compare", program, "--network", network, "--models", "hockney", "-D", fmt.Sprint("n=", topology.ranks), "-D", fmt.Sprintf("size=%dB", bytes)}
				if got, want := runReport(t, args...).Runs[0].Makespan, lastBit(frames(wire, bytes), topology.links); got != want {
					t.Errorf("%s, %s, %d B: received at %d ps, want %d", topology.yaml, wire, bytes, got, want)
				}
				r := runReport(t, append(args, "--ideal")...)
				if got, want := r.Runs[0].Makespan, topology.links*(500_000+20*bytes); got != want {
					t.Errorf("%s, ideal, %d B: received at %d ps, want %d", topology.yaml, bytes, got, want)
				}
				if got := r.Runs[1].Makespan; topology.links == 1 && got != r.Runs[0].Makespan {
					t.Errorf("%d B: Hockney predicts %d ps, the ideal simulation takes %d", bytes, got, r.Runs[0].Makespan)
				}
			}
		}
	}
}

// On links of 50 * 2^30 B/s, whose time of a byte is 5^10 / 2^19 ps, and 500 ns, a ring
// of 8 ranks takes 14 steps of an eighth of 1 MiB for an all-reduce, 7 steps of 1 MiB for
// an all-gather and 7 steps of an eighth for a reduce-scatter: in the simulation with
// --ideal and in Hockney's model.
func TestRingCollectives(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name         string
		steps, bytes int64
	}{
		{"allreduce", 14, 131072}, {"allgather", 7, 1 << 20}, {"reducescatter", 7, 131072},
	} {
		program := put(t, dir, "ring.hbp", "blueprint \"ring\"\nranks 8\nprogram { "+test.name+" 1MiB algo ring }\n")
		r := runReport(t, "compare", program, "--ideal", "--models", "hockney", "--network", reference(t, "link.yml"))
		want := test.steps*500_000 + units.MulDiv(test.steps*test.bytes, 9765625, 524288)
		for _, run := range r.Runs {
			if run.Makespan != want {
				t.Errorf("%s: %s takes %d ps, want %d", test.name, run.Model, run.Makespan, want)
			}
		}
	}
}

// Two computations of 10 us that start together share the processor of a rank: each
// takes 20 us. Times that were measured side by side already contain this, so that
// nothing is shared in a collected trace.
func TestComputeSharing(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	e := chakra.NewEncoder(&b)
	e.Metadata("0.0.4")
	e.Node(&chakra.Node{ID: 1, Name: "a", Type: chakra.CompNode, DurationMicros: 10})
	e.Node(&chakra.Node{ID: 2, Name: "b", Type: chakra.CompNode, DurationMicros: 10})
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
	trace := put(t, dir, "two.0.et", b.String())
	blueprint := put(t, dir, "two.hbp", "blueprint \"two\"\nranks 1\nprogram {\n  async compute 10us name \"a\"\n  async compute 10us name \"b\"\n  waitall\n}\n")
	for _, workload := range []string{trace, blueprint} {
		for family, want := range map[string]int64{"synthesized": 20_000_000, "collected": 10_000_000} {
			r := runReport(t, "compare", workload, "--trace-family", family)
			for _, run := range r.Runs {
				if run.Makespan != want {
					t.Errorf("%s, %s: %s takes %d ps, want %d", filepath.Base(workload), family, run.Model, run.Makespan, want)
				}
			}
			if len(r.Operations) != 2 {
				t.Fatalf("%d operations, want 2", len(r.Operations))
			}
			for _, o := range r.Operations {
				if got := o.Total["packet"]; got != want {
					t.Errorf("%s, %s: a computation takes %d ps, want %d", filepath.Base(workload), family, got, want)
				}
			}
		}
	}
}
