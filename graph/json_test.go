package graph

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
)

// TestWriteJSON: every kind of operand, dependency and operation of the two forms.
func TestWriteJSON(t *testing.T) {
	b := NewBuilder("all \"kinds\"", Blueprint, 2)
	b.Graph().Params = []Param{{"n", "2"}}
	label, stream := b.Label("x"), b.Stream("comm")
	site := b.Site(Site{Pos: diag.Pos{File: "f", Line: 1}, Kind: Send, Name: "s", Region: "r", Text: "send 8B"})
	for rank := range 2 {
		r := b.Rank(rank, false)
		op := func(o Op, deps ...Dep) { r.Op(o, deps...) }
		r.BeginLoop(site, r.Int(3))
		op(Op{Kind: Send, Flags: Async | Eager, Stream: stream, Site: site, Label: label, Index: r.Int(4), Peer: r.Int(int64(1 - rank)), Tag: r.Int(7), Size: r.Int(8)})
		op(Op{Kind: Collective, Site: site, Label: -1, Size: r.Int(9), Arg: r.Call(Call{Type: AllReduce, Algorithm: "ring"})},
			Dep{Mode: DepLabel, Target: label}, Dep{Mode: DepIndex, Target: label, Index: r.Int(2)}, Dep{Mode: DepPrev, Target: label, Back: 1}, Dep{Mode: DepEach, Target: label})
		branch := r.Branch(site, r.Int(1))
		op(Op{Kind: Compute, Site: site, Label: -1, Arg: r.Work(Work{Model: Roofline, Flops: r.Int(10), Bytes: r.Int(20)})})
		jump := r.Jump(site)
		r.Patch(branch)
		op(Op{Kind: Load, Site: site, Label: -1, Arg: r.Work(Work{Model: Traffic, Bytes: r.Int(30)})})
		r.Patch(jump)
		op(Op{Kind: Compute, Site: site, Label: -1, Arg: r.Work(Work{Model: ECM, Label: "triad", Units: r.Int(40), Per: "CL"})})
		op(Op{Kind: ScopeEnd, Site: site, Arg: label, Label: 1})
		r.EndLoop(site)
		r.Done()
	}
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"hybrid/graph/v1","name":"all \"kinds\"","origin":"blueprint","ranks":2,"machine":"","network":"","parameters":[{"name":"n","value":"2"}],"scale":"1","issue_order_recorded":false,"expanded":false,"serialized":false,"synchronized":false,"annotated":false,
"groups":[
{"id":0,"name":"world","members":[0,1]}
],
"sites":[
{"kind":"send","where":"f:1","name":"s","region":"r","text":"send 8B"}
],
"programs":[
{"form":"thread","ranks":[0,1],"issue_orders":[],"operations":[
{"index":0,"kind":"loop","site":0,"trips":3,"counter":0,"end":9},
{"index":1,"kind":"send","site":0,"flags":["async","eager"],"stream":"comm","partner":{"by_rank":[1,0]},"tag":7,"bytes":8,"label":"x","label_index":4},
{"index":2,"kind":"collective","site":0,"bytes":9,"type":"allreduce","algorithm":"ring","group":0,"root":0,"deps":[{"label":"x","mode":"latest"},{"label":"x","mode":"index","index":2},{"label":"x","mode":"previous","previous":1},{"label":"x","mode":"each"}]},
{"index":3,"kind":"branch","site":0,"condition":1,"target":6},
{"index":4,"kind":"compute","site":0,"work":{"model":"roofline","flops":10,"bytes":20}},
{"index":5,"kind":"jump","site":0,"target":7},
{"index":6,"kind":"load","site":0,"work":{"model":"traffic","bytes":30}},
{"index":7,"kind":"compute","site":0,"work":{"model":"ecm","units":40,"text":"ecm triad work 40 per CL"}},
{"index":8,"kind":"scope-end","site":0,"forgets":["x"]},
{"index":9,"kind":"end","site":0,"loop":0}
]}
]}
`
	compareJSON(t, g, want)
}

// TestWriteFlatJSON: a trace before its collectives are expanded. Dependents are listed
// once the graph is annotated.
func TestWriteFlatJSON(t *testing.T) {
	b := NewBuilder("t", Chakra, 1)
	r := b.Rank(0, true)
	site := b.Site(Site{Kind: Compute})
	r.Op(Op{Kind: Compute, Site: site, Label: -1, Arg: r.Work(Work{Time: r.Int(5)})})
	r.Op(Op{Kind: Collective, Site: site, Label: -1, Index: r.Int(2), Arg: r.Call(Call{Type: Barrier})}, Dep{Target: 0})
	r.Chain([]int32{1})
	r.Done()
	g, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	g.Annotated = true
	want := `{"schema":"hybrid/graph/v1","name":"t","origin":"chakra","ranks":1,"machine":"","network":"","parameters":[],"scale":"1","issue_order_recorded":true,"expanded":false,"serialized":false,"synchronized":false,"annotated":true,
"groups":[
{"id":0,"name":"world","members":[0]}
],
"sites":[
{"kind":"compute","where":"","name":"","region":"","text":""}
],
"programs":[
{"form":"flat","ranks":[0],"issue_orders":[[1]],"operations":[
{"index":0,"kind":"compute","site":0,"work":{"model":"fixed","time_ps":5},"children":[1]},
{"index":1,"kind":"collective","site":0,"bytes":0,"type":"barrier","group":0,"number":2,"root":0,"deps":[{"op":0}]}
]}
]}
`
	compareJSON(t, g, want)
}

func compareJSON(t *testing.T, g *Graph, want string) {
	t.Helper()
	var out bytes.Buffer
	if err := WriteJSON(&out, g, nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	if !json.Valid(out.Bytes()) {
		t.Error("this is not JSON")
	}
}
