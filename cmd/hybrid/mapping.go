package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"hybrid/chakra"
	"hybrid/internal/diag"
	"hybrid/networks"
)

// mappingFlags declares the flags of mapping files and of the issue order of traces.
func (o *runOptions) mappingFlags(f *pflag.FlagSet) {
	f.StringVar(&o.mapping, "mapping", "", "server and scale-up group of every rank: a Chakra mapping `file`")
	f.StringVar(&o.issueOrder, "issue-order", "", "attribute with the issue order of collectives: `name` (default comm_seq, issue_order or seq_num)")
}

// checkMapping refuses empty names and flags that contradict a mapping file.
func (o *runOptions) checkMapping() error {
	if o.given("issue-order") && o.issueOrder == "" {
		return errors.New("--issue-order is empty; it names an attribute")
	}
	if !o.given("mapping") {
		return nil
	}
	if o.mapping == "" {
		return errors.New("--mapping is empty; it names a file")
	}
	for _, f := range []string{"placement", "ranks-per-node"} {
		if o.given(f) {
			return fmt.Errorf("--mapping and --%s exclude each other: a mapping file says where every rank runs", f)
		}
	}
	return nil
}

// mappingFile is the mapping file of a run: the flag's, else the workload's unless
// another flag places the ranks; "" is none.
func (o *runOptions) mappingFile(w *workload) string {
	switch {
	case o.mapping != "":
		return o.mapping
	case w.mapping == "" || o.given("placement") || o.given("ranks-per-node"):
		return ""
	case filepath.IsAbs(w.mapping):
		return w.mapping
	}
	return filepath.Join(w.dir, w.mapping)
}

// readMapping reads a file up to the first byte that is too many.
func readMapping(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, chakra.MaxMappingFile+1))
}

// placeMapped puts the ranks on the servers of a mapping file. Servers are the hosts of
// the topology.
func (p *platform) placeMapped(file string, ranks int, opt networks.PlacementOptions, list *diag.List) {
	text, err := readMapping(file)
	if err != nil {
		list.Errorf("E901", diag.Pos{File: file}, "the mapping file cannot be read: %v", rootCause(err))
		return
	}
	m := chakra.ParseMapping(file, text, list)
	if m == nil {
		return
	}
	pos := diag.Pos{File: file}
	if len(m.Server) != ranks {
		list.Errorf("E723", pos, "the mapping places %s, but the workload has %d", pluralize(len(m.Server), "rank"), ranks)
		return
	}
	if !p.hasServers(m, pos, list) {
		return
	}
	for _, s := range m.Server {
		opt.NodeOf = append(opt.NodeOf, int32(s))
	}
	opt.Mapping, opt.ScaleUp = file, scaleUp(m)
	if p.placement, err = networks.NewPlacement(ranks, opt); err != nil {
		list.Errorf("E723", pos, "%v", err)
	}
}

// A topology of open size grows until it has the highest server, but not beyond every
// reason: a slip in a number must not build a network of millions.
const (
	openHosts        = 1024
	openHostsPerRank = 4
)

// hasServers reports the ranks on servers that the topology does not have.
func (p *platform) hasServers(m *chakra.Mapping, pos diag.Pos, list *diag.List) bool {
	most := max(openHosts, openHostsPerRank*len(m.Server))
	need := 0
	for _, s := range m.Server {
		need = max(need, int(s)+1)
	}
	hosts, err := p.network.Hosts(min(need, most))
	if err != nil {
		list.Errorf("E723", pos, "the topology cannot be built: %v", err)
		return false
	}
	if need <= hosts {
		return true
	}
	first, count := -1, 0
	for r, s := range m.Server {
		if int(s) < hosts {
			continue
		}
		if count++; first < 0 {
			first = r
		}
	}
	has := "has"
	if small, err := p.network.Hosts(1); err == nil && small < hosts {
		has = "grows for this run to no more than"
	}
	d := list.Errorf("E723", pos, "rank %d is on server %d, but the topology %s %s, servers 0 to %d", first, m.Server[first],
		has, pluralize(hosts, "host"), hosts-1)
	if count > 1 {
		d.Note("and %s", pluralize(count-1, "more rank"))
	}
	return false
}

// scaleUp is the scale-up part of a mapping; nil if no rank is in a group.
func scaleUp(m *chakra.Mapping) *networks.ScaleUpPlacement {
	s := &networks.ScaleUpPlacement{Group: m.Group, Subgroup: m.Subgroup}
	members := false
	for _, g := range m.Group {
		members = members || g >= 0
	}
	if !members {
		return nil
	}
	for _, g := range m.Groups {
		s.Groups = append(s.Groups, networks.ScaleUpGroup{ID: g.ID, PerByte: g.PerByte, Hop: g.Hop, Cable: g.Cable})
	}
	return s
}
