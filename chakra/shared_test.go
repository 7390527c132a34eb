package chakra

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// histogram counts the operations of all ranks by kind, collectives by type.
func histogram(g *graph.Graph) string {
	counts := map[string]int{}
	deps := 0
	for r := range g.Ranks {
		p, _ := g.Program(r)
		deps += len(p.Deps)
		for i := range p.Ops {
			op := &p.Ops[i]
			name := op.Kind.String()
			if op.Kind == graph.Collective {
				name = p.Calls[op.Arg].Type.String()
			} else if op.Flags.Has(graph.Skipped) {
				name = "skipped"
			}
			counts[name]++
		}
	}
	var parts []string
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%d ranks: %s; %d dependencies; %d groups", g.Ranks, strings.Join(parts, ", "), deps, len(g.Groups)-1)
}

// Public traces hold what their producers say they hold.
func TestPublicTraces(t *testing.T) {
	type row struct{ path, groups, want, codes string }
	rows := []row{
		{"astra-sim/custom_ring_allreduce_8npus_1MB", "", "8 ranks: compute 56, recv 112, send 112; 272 dependencies; 0 groups", ""},
		{"astra-sim/resnet50_DataParallel_64npus_2023", "", "64 ranks: allreduce 3456, compute 10304; 13696 dependencies; 0 groups", ""},
		{"astra-sim-artifacts/T1D-analytical/trace", "", "8 ranks: allreduce 8; 0 dependencies; 0 groups", ""},
		{"astra-sim-artifacts/T1D-analytical/trace", "astra-sim-artifacts/T1D-analytical/inputs/comm_group.json", "8 ranks: allreduce 8; 0 dependencies; 0 groups", ""},
		{"astra-sim-artifacts/T2D-ns3/trace", "astra-sim-artifacts/T2D-ns3/inputs/comm_group.json", "16 ranks: allreduce 32, compute 16; 32 dependencies; 8 groups", ""},
		{"astra-sim-artifacts/T3D-analytical/trace", "astra-sim-artifacts/T3D-analytical/inputs/comm_group.json", "8 ranks: allreduce 24, compute 16; 32 dependencies; 12 groups", ""},
		{"astra-sim-artifacts/multitenant-T1D-analytical/trace/J1", "", "4 ranks: allreduce 4; 0 dependencies; 0 groups", ""},
		{"chakra/generator_2npus/BARRIER", "", "2 ranks: barrier 2; 0 dependencies; 0 groups", ""},
		{"chakra/generator_2npus/one_remote_mem_load_node", "", "2 ranks: load 2; 0 dependencies; 0 groups", ""},
		{"chakra/generator_2npus/one_metadata_node_all_types", "", "2 ranks: join 2; 0 dependencies; 0 groups", ""},
		{"chakra/generator_2npus/one_comm_send_node", "", "", "E711 W708"},
		{"chakra/generator_2npus", "", "", "E702"},
		{"chakra/text_hybrid_data_model_4npus", "", "4 ranks: allgather 16, allreduce 40, compute 72, reducescatter 8; 156 dependencies; 0 groups", ""},
		// The lists together are cyclic, so the 1,277 missing control dependencies do not matter.
		{"chakra/pytorch-2023", "", "1 ranks: allreduce 5, broadcast 2, compute 3643, skipped 14; 181878 dependencies; 0 groups", "W701 W704"},
		{"chakra/schema-0.0.1", "", "1 ranks: compute 2; 1 dependencies; 0 groups", ""},
		{"chakra/json/small_chakra.0.json", "", "", "E705"},
		{"chakra/json/chakra.0.json.gz", "", "", "E705"},
		{"pytorch-et/chakra_tests_1.0.2-chakra.0.0.4.json", "", "", "E705"},
		{"pytorch-et/param_linear_et.json.gz", "", "", "E705"},
		{"stage/dp2tp2pp2", "", "8 ranks: allgather 192, allreduce 48, compute 1088, recv 32, reducescatter 128, send 32; 2016 dependencies; 8 groups", ""},
		{"stage/fsdp4", "", "4 ranks: allgather 8, allreduce 8, compute 172, reducescatter 4; 276 dependencies; 0 groups", ""},
		{"stage/moe_ep4", "", "4 ranks: allgather 12, alltoall 16, compute 256; 368 dependencies; 0 groups", ""},
		{"stage/json_named_protobuf", "", "2 ranks: allgather 12, allreduce 4, compute 86, reducescatter 8; 140 dependencies; 0 groups", ""},
	}
	for _, c := range []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all"} {
		for _, n := range []int{4, 8, 16} {
			rows = append(rows, row{fmt.Sprintf("astra-sim/microbenchmarks/%s/%dnpus_1MB", c, n), "",
				fmt.Sprintf("%d ranks: %s %d; 0 dependencies; 0 groups", n, strings.ReplaceAll(c, "_", ""), n), ""})
		}
	}
	shared(t, "stage") // skips before the rows if the folder is absent
	for _, r := range rows {
		t.Run(strings.ReplaceAll(r.path, "/", ":"), func(t *testing.T) {
			opt := Options{}
			if r.groups != "" {
				opt.Groups = shared(t, r.groups)
			}
			arg := filepath.Join(shared(t, "."), filepath.FromSlash(r.path))
			var list diag.List
			g := Load(arg, opt, &list)
			var codes []string
			for _, d := range list.All() {
				codes = append(codes, d.Code)
			}
			slices.Sort(codes)
			got := ""
			if g != nil {
				got = histogram(g)
			}
			if got != r.want || strings.Join(codes, " ") != r.codes {
				t.Errorf("got  %q codes %v\nwant %q codes %v", got, codes, r.want, r.codes)
			}
		})
	}
}

// The 2023 PyTorch trace refers to 1,277 nodes that it does not have, all of them
// in control dependencies.
func TestMissingReferencesOfPublicTrace(t *testing.T) {
	r := readTrace(&trace{}, filepath.Join(shared(t, "chakra/pytorch-2023"), "chakra.0.et.gz"), nil)
	if r.err != nil {
		t.Fatal(r.err)
	}
	x, twice := newIDIndex(r.t.nodes)
	ctrl, data := r.t.resolve(&x, true, false), r.t.resolve(&x, false, true)
	if twice >= 0 || ctrl.missing != 1277 || data.missing != 0 {
		t.Errorf("double id at %d, %d and %d missing references, want none, 1277 and 0", twice, ctrl.missing, data.missing)
	}
	if ctrl.selfDependency() < 0 || data.cycle() != nil {
		t.Error("expected a self dependency in the control list and no cycle in the data list")
	}
}

// Sums of the roofline times that ASTRA-sim prints for these traces with a peak of
// 900e12 operations/s and 1600e9 bytes/s: a node takes
// floor(max(num_ops/900000, tensor_size/1600)) ns, and the floor of a maximum is
// the maximum of the floors.
func TestRooflineSumsOfPublicTraces(t *testing.T) {
	for _, c := range []struct {
		path string
		want []int64
	}{
		{"stage/dp2tp2pp2", []int64{84476, 84476, 84476, 84476, 85124, 85124, 85124, 85124}},
		{"stage/fsdp4", []int64{13668, 13668, 13668, 13668}},
		{"stage/moe_ep4", []int64{24803, 24803, 24803, 24803}},
	} {
		var list diag.List
		g := Load(shared(t, c.path), Options{}, &list)
		for rank, want := range c.want {
			p, slot := g.Program(rank)
			var sum int64
			for i := range p.Works {
				flops, _ := p.Known(p.Works[i].Flops, slot)
				bytes, _ := p.Known(p.Works[i].Bytes, slot)
				sum += max(flops/900000, bytes/1600)
			}
			if sum != want {
				t.Errorf("%s rank %d: %d ns, want %d", c.path, rank, sum, want)
			}
		}
	}
}

// Every send of the pipeline-parallel set meets a receive of its size.
func TestPublicTransfersMatch(t *testing.T) {
	var list diag.List
	g := Load(shared(t, "stage/dp2tp2pp2"), Options{}, &list)
	open := map[[4]int64]int{}
	for r := range g.Ranks {
		p, slot := g.Program(r)
		for i := range p.Ops {
			op := &p.Ops[i]
			peer, _ := p.Known(op.Peer, slot)
			tag, _ := p.Known(op.Tag, slot)
			size, _ := p.Known(op.Size, slot)
			switch op.Kind {
			case graph.Send:
				open[[4]int64{int64(r), peer, tag, size}]++
			case graph.Recv:
				open[[4]int64{peer, int64(r), tag, size}]--
			}
		}
	}
	for k, n := range open {
		if n != 0 {
			t.Errorf("transfer %v: %+d sends without receive", k, n)
		}
	}
	if len(open) == 0 {
		t.Error("no transfers")
	}
}
