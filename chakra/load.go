package chakra

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// Options say how a trace set is read.
type Options struct {
	// Groups is the path of a process-group side file; "" finds one beside the
	// traces. A file named here wins over what the traces declare.
	Groups string
	// Dependencies chooses the lists that count: auto (both, or data alone where both
	// together are cyclic), both, data or ctrl. "" means auto.
	Dependencies string
	// Schema forces a schema version; "" detects it in each file.
	Schema string
	// IssueOrder is the attribute that numbers the collectives of a rank in the order
	// in which they were issued; "" means the first of comm_seq, issue_order and
	// seq_num that a node has.
	IssueOrder string
}

// dependencyModes are the values of Options.Dependencies.
func dependencyModes() []string { return []string{"auto", "both", "data", "ctrl"} }

// loader reads one trace set.
type loader struct {
	set    Set
	opt    Options
	f      *findings
	b      *graph.Builder
	schema *schema
	side   *groupTable
	sites  map[siteKey]int32
	uses   map[int32]*usage
	orders map[string]groupOrder
	// worldNamed: a declaration has named the group of all ranks.
	worldNamed bool
	// undeclared are the names of undeclared groups.
	undeclared []string
	// ids is memory for the node ids of one rank.
	ids []uint64
	// ordered is set once a node has the attribute with the issue order.
	ordered bool
}

// Load reads the trace set that arg names (see [Find]) into a graph. Its findings
// are added to the list; the result is nil if any of them is an error.
func Load(arg string, opt Options, list *diag.List) *graph.Graph {
	own := &diag.List{}
	defer func() { list.Append(own) }()
	l := &loader{opt: opt, f: newFindings(own), sites: map[siteKey]int32{}, uses: map[int32]*usage{}, orders: map[string]groupOrder{}}
	if !l.options(own) {
		return nil
	}
	var ok bool
	if l.set, ok = Find(arg, own); !ok {
		return nil
	}
	l.b = graph.NewBuilder(l.set.Name, graph.Chakra, len(l.set.Files))
	l.side = sideFile(l.set, opt.Groups, own)
	l.ranks()
	l.checkCounts()
	if len(l.undeclared) > 1 {
		l.f.note("E709", "", "undeclared are %s", quoteList(l.undeclared, 16))
	}
	if opt.IssueOrder != "" && !l.ordered {
		l.f.warnf("W712", "", place{file: arg}, "no node has the attribute %q, which should give the issue order", opt.IssueOrder)
	}
	l.f.flush()
	if own.HasErrors() {
		return nil
	}
	g, err := l.b.Finish()
	if err != nil {
		own.Errorf("E718", diag.Pos{File: arg}, "%v", err)
		return nil
	}
	return g
}

// options checks the options and fills in defaults.
func (l *loader) options(list *diag.List) bool {
	if l.opt.Dependencies == "" {
		l.opt.Dependencies = "auto"
	}
	if modes := dependencyModes(); !slices.Contains(modes, l.opt.Dependencies) {
		list.Errorf("E717", diag.Pos{}, "unknown choice of dependencies %q%s", l.opt.Dependencies, diag.DidYouMean(l.opt.Dependencies, modes)).
			Note("one of %s", strings.Join(modes, ", "))
	}
	if l.opt.Schema != "" {
		var ok bool
		if l.schema, ok = schemaNamed(l.opt.Schema); !ok {
			list.Errorf("E717", diag.Pos{}, "unknown schema version %q%s", l.opt.Schema, diag.DidYouMean(l.opt.Schema, schemaNames())).
				Note("one of %s", strings.Join(schemaNames(), ", "))
		}
	}
	return !list.HasErrors()
}

// fileResult is one decoded file or what is wrong with it.
type fileResult struct {
	t    *trace
	code string
	err  error
}

// ranks lowers the files in order of ranks while the next one is decoded. Two
// traces take turns, so that memory does not grow with the number of ranks.
func (l *loader) ranks() {
	results := make(chan fileResult, 1)
	free := make(chan *trace, 2)
	free <- &trace{order: l.opt.IssueOrder}
	free <- &trace{order: l.opt.IssueOrder}
	go func() {
		for _, path := range l.set.Files {
			results <- readTrace(<-free, path, l.schema)
		}
	}()
	for rank, path := range l.set.Files {
		r := <-results
		if r.err != nil {
			l.f.errorf(r.code, path, place{file: path}, "%v", r.err)
		} else {
			l.rank(rank, filepath.Base(path), r.t)
		}
		free <- r.t
	}
}

// readTrace reads and decodes one file into t.
func readTrace(t *trace, path string, forced *schema) fileResult {
	fail := func(code string, err error) fileResult { return fileResult{t, code, err} }
	data, err := os.ReadFile(path)
	if err != nil {
		return fail("E701", err)
	}
	if what := Foreign(data[:min(len(data), sniffLen)]); what != "" && !Sniff(data) {
		return fail("E705", errors.New("this is "+what))
	}
	if data, err = inflate(data); err != nil {
		return fail("E704", err)
	}
	if len(data) == 0 {
		return fail("E704", errors.New("the file is empty"))
	}
	err = t.decode(data, forced)
	if !Sniff(data) {
		if err == nil {
			err = errors.New("its first message is neither metadata nor a node")
		}
		return fail("E701", fmt.Errorf("this is not a Chakra trace: %w", err))
	}
	return fail("E704", err)
}
