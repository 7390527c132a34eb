package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
	"hybrid/machines"
	"hybrid/networks"
)

// choice is a name or a file and who chose it: flag, workload or default.
type choice struct{ name, from string }

// platform is the hardware of a run.
type platform struct {
	network                      *networks.Network
	machine                      *machines.Machine
	networkChoice, machineChoice choice
	placement                    *networks.Placement
}

// Defaults of trace workloads, which come from accelerator clusters.
const (
	traceNetwork = "roce-leaf-spine-400g"
	traceMachine = "gpu-node-h100"
)

// choose applies the order of precedence: flag, workload, default.
func choose(flag string, given bool, target, dir, fallback string) choice {
	switch {
	case given:
		return choice{flag, "flag"}
	case target != "":
		return choice{beside(target, dir), "workload"}
	}
	return choice{fallback, "default"}
}

// beside resolves a file that a workload names against the workload's folder.
func beside(target, dir string) string {
	if !yamldoc.IsPath(target) || filepath.IsAbs(target) || dir == "" || dir == "." {
		return target
	}
	return filepath.Join(dir, target)
}

// loadPlatform reads the network and the machine, with overrides; nil if list has
// errors.
func loadPlatform(w *workload, o *runOptions, list *diag.List) *platform {
	network, machine := networks.Default(), machines.Default()
	if w.graph.Origin == graph.Chakra {
		network, machine = traceNetwork, traceMachine
	}
	p := &platform{
		networkChoice: choose(o.network, o.given("network"), w.graph.Network, w.dir, network),
		machineChoice: choose(o.machine, o.given("machine"), w.graph.Machine, w.dir, machine),
	}
	forNetwork, forMachine := splitSets(o.sets, list)
	var found diag.List
	p.network = networks.Load(p.networkChoice.name, forNetwork, &found)
	placed(&found, p.networkChoice.namedAt(w, "--network"), list)
	found = diag.List{}
	p.machine = machines.Load(p.machineChoice.name, forMachine, &found)
	placed(&found, p.machineChoice.namedAt(w, "--machine"), list)
	if p.network != nil {
		checkCollectives(p.network, list)
	}
	if list.HasErrors() || p.network == nil || p.machine == nil {
		return nil
	}
	return p
}

// namedAt is where the choice was made.
func (c choice) namedAt(w *workload, flag string) diag.Pos {
	if c.from == "workload" {
		return diag.Pos{File: w.name}
	}
	return diag.Pos{File: flag + " " + c.name}
}

// placed moves findings to list; what has no place of its own gets pos.
func placed(found *diag.List, pos diag.Pos, list *diag.List) {
	for _, d := range found.All() {
		if d.Pos == (diag.Pos{}) {
			d.Pos = pos
		}
		list.Add(d)
	}
}

// splitSets gives each override to the file that has its first key, the network's
// first.
func splitSets(sets []string, list *diag.List) (network, machine []string) {
	for _, s := range sets {
		path, value, ok := yamldoc.SplitSet(s)
		key, _, _ := strings.Cut(path, ".")
		switch {
		case !ok || strings.TrimSpace(value) == "":
			list.Errorf("E815", diag.Pos{File: "--set " + s}, "%q is not an override: write path=value, such as fabric.link.rate=200Gbps", s)
		case topKey(networks.Parameters(), key):
			network = append(network, s)
		case topKey(machines.Parameters(), key):
			machine = append(machine, s)
		default:
			known := topKeys(networks.Parameters(), topKeys(machines.Parameters(), nil))
			list.Errorf("E815", diag.Pos{File: "--set " + s}, "neither a network nor a machine has a section %q%s", key, diag.DidYouMean(key, known)).
				Note("hybrid explain PARAMETER says what a parameter means")
		}
	}
	return network, machine
}

// topKeys appends the top-level keys of a kind of file.
func topKeys(fields []yamldoc.Field, out []string) []string {
	for _, f := range fields {
		if !strings.ContainsAny(f.Path, ".[") {
			out = append(out, f.Path)
		}
	}
	return out
}

// place puts the ranks on nodes.
func (p *platform) place(w *workload, o *runOptions, list *diag.List) {
	m := p.machine
	ranks := w.graph.Ranks
	opt := networks.PlacementOptions{RanksPerNode: o.ranksPerNode, Kind: o.placement,
		SocketsPerNode: m.Sockets, DomainsPerSocket: m.DomainsPerSocket, CoresPerDomain: m.CoresPerDomain}
	if file := o.mappingFile(w); file != "" {
		p.placeMapped(file, ranks, opt, list)
		return
	}
	if o.placement != "block" && o.placement != "round-robin" {
		nodes, err := readPlacement(o.placement)
		if err != nil {
			list.Errorf("E903", diag.Pos{File: o.placement}, "not a placement: %v%s", err, diag.DidYouMean(o.placement, []string{"block", "round-robin"}))
			return
		}
		opt.Kind, opt.NodeOf = "file", nodes
	}
	placement, err := networks.NewPlacement(ranks, opt)
	if err != nil {
		pos := diag.Pos{}
		if opt.Kind == "file" {
			pos.File = o.placement
		}
		list.Errorf("E903", pos, "%v", err)
		return
	}
	p.placement = placement
}

// readPlacement reads the node of rank 0, 1, 2 and so on; # begins a comment.
func readPlacement(path string) ([]int32, error) {
	b, err := readBounded(path)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("%q is neither block nor round-robin nor a file", path)
		}
		return nil, rootCause(err)
	}
	var nodes []int32
	number := 0
	for line := range strings.Lines(string(b)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' || r == '\r' }) {
			n, err := strconv.ParseInt(word, 10, 32)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("line %d: %q is not the number of a node", number, word)
			}
			nodes = append(nodes, int32(n))
		}
	}
	return nodes, nil
}

// ranksPerDomain is how many ranks share the fullest memory domain.
func (p *platform) ranksPerDomain() int {
	load := map[int32]int{}
	most := 1
	for _, d := range p.placement.Domain {
		load[d]++
		most = max(most, load[d])
	}
	return most
}

// overheads returns the processor time per message in picoseconds: the network's host
// section, else o between nodes for blueprints and GOAL, and none for traces.
func (p *platform) overheads(origin graph.Origin) (send, receive int64) {
	if origin != graph.Chakra {
		if l, _, ok := p.network.Level(networks.InterNode); ok && len(l.LogGP) > 0 {
			o := l.LogGPAt(0).Overhead
			send, receive = o, o
		}
	}
	if h := p.network.Host; h.SendOverhead != nil {
		send = *h.SendOverhead
	}
	if h := p.network.Host; h.ReceiveOverhead != nil {
		receive = *h.ReceiveOverhead
	}
	return send, receive
}

// fabricText describes what is simulated, in one line.
func (p *platform) fabricText(ideal bool) string {
	f := &p.network.Fabric
	link := fmt.Sprintf("%s links of %s", units.FormatRate(f.Link.PerByte), spanText(f.Link.Delay))
	if ideal {
		return link + "; ideal: whole messages, no headers, no acknowledgements"
	}
	return fmt.Sprintf("%s, switches of %s, %s%s; %s transport, %s framing, MTU %s", link, spanText(f.Switch.Latency), f.Switch.Forwarding, routingText(f),
		p.network.NIC.Transport, f.Wire.Name, units.FormatBytes(f.MTU))
}

// routingText names the kind of routing where the file gives one.
func routingText(f *networks.Fabric) string {
	kind, hash := f.Routing.Get("kind"), f.Routing.Get("hash")
	if kind == nil && f.Routing != nil && f.Routing.Kind == yamldoc.Scalar {
		kind = f.Routing // the short form
	}
	switch {
	case kind != nil && hash != nil:
		return ", " + kind.Text + " routes by " + hash.Text
	case kind != nil:
		return ", " + kind.Text + " routes"
	case hash != nil:
		return ", routes by " + hash.Text
	}
	return ""
}

// spanText prints a parameter in the largest unit that keeps it whole.
func spanText(ps int64) string {
	if ps == 0 {
		return "0s"
	}
	for _, u := range []struct {
		ps   int64
		name string
	}{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}} {
		if ps%u.ps == 0 {
			return strconv.FormatInt(ps/u.ps, 10) + u.name
		}
	}
	return strconv.FormatInt(ps, 10) + "ps"
}
