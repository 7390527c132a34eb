package graph

import (
	"encoding/json"
	"strconv"
)

// jsonValue is an operand: a number, {"by_rank": [...]} in the order of the program's
// ranks, or {"computed": "the expression"}.
type jsonValue struct {
	p *Program
	v Value
}

// MarshalJSON implements [json.Marshaler].
func (v *jsonValue) MarshalJSON() ([]byte, error) {
	switch v.v.kind() {
	case valueConst:
		return strconv.AppendInt(nil, v.p.Consts[v.v.index()], 10), nil
	case valueColumn:
		return json.Marshal(map[string][]int64{"by_rank": v.p.Columns[v.v.index()]})
	}
	return json.Marshal(map[string]string{"computed": v.p.Exprs[v.v.index()].String()})
}

// jsonOp is one operation; which keys it has depends on its kind.
type jsonOp struct {
	Index   int32      `json:"index"`
	Kind    string     `json:"kind"`
	Site    int32      `json:"site"`
	Flags   []string   `json:"flags,omitempty"`
	Stream  string     `json:"stream,omitempty"`
	Partner *jsonValue `json:"partner,omitempty"`
	Tag     *jsonValue `json:"tag,omitempty"`
	Context int32      `json:"context,omitempty"`
	Bytes   *jsonValue `json:"bytes,omitempty"`

	Type      string     `json:"type,omitempty"`
	Algorithm string     `json:"algorithm,omitempty"`
	Group     *jsonValue `json:"group,omitempty"`
	Number    *jsonValue `json:"number,omitempty"`
	Root      *jsonValue `json:"root,omitempty"`
	Sizes     string     `json:"sizes,omitempty"`

	Work *jsonWork `json:"work,omitempty"`

	Trips     *jsonValue `json:"trips,omitempty"`
	Counter   *int32     `json:"counter,omitempty"`
	End       *int32     `json:"end,omitempty"`
	Loop      *int32     `json:"loop,omitempty"`
	Condition *jsonValue `json:"condition,omitempty"`
	Target    *int32     `json:"target,omitempty"`
	Forgets   []string   `json:"forgets,omitempty"`

	Label      string     `json:"label,omitempty"`
	LabelIndex *jsonValue `json:"label_index,omitempty"`
	Deps       []jsonDep  `json:"deps,omitempty"`
	Children   []int32    `json:"children,omitempty"`
}

// jsonDep is one dependency: on an operation by index, or on instances of a label.
type jsonDep struct {
	Op       *int32     `json:"op,omitempty"`
	Label    string     `json:"label,omitempty"`
	Mode     string     `json:"mode,omitempty"`
	Index    *jsonValue `json:"index,omitempty"`
	Previous int32      `json:"previous,omitempty"`
}

type jsonWork struct {
	Model      string     `json:"model"`
	Time       *jsonValue `json:"time_ps,omitempty"`
	Flops      *jsonValue `json:"flops,omitempty"`
	Bytes      *jsonValue `json:"bytes,omitempty"`
	Units      *jsonValue `json:"units,omitempty"`
	Text       string     `json:"text,omitempty"`
	Injections []string   `json:"injections,omitempty"`
}

func flagNames(f Flags) []string {
	var names []string
	for i, n := range [...]string{"async", "more", "host_cpu", "eager", "rendezvous", "injected", "skipped", "wait_all", "synchronize"} {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

func (j *jsoner) op(p *Program, i int32) *jsonOp {
	op := &p.Ops[i]
	o := &jsonOp{Index: i, Kind: op.Kind.String(), Site: op.Site, Flags: flagNames(op.Flags)}
	of := func(v Value) *jsonValue { return &jsonValue{p, v} }
	if op.Stream > 0 {
		o.Stream = j.g.Streams[op.Stream-1]
	}
	switch op.Kind {
	case Compute, Load, Store:
		o.Work = workJSON(p, &p.Works[op.Arg])
	case Send, Recv:
		o.Partner, o.Tag, o.Context, o.Bytes = of(op.Peer), of(op.Tag), op.Arg, of(op.Size)
	case Collective:
		j.collective(o, p, op)
	case Loop:
		o.Trips, o.Counter, o.End = of(op.Peer), &op.Label, &op.Arg
	case End:
		o.Loop = &op.Arg
	case Branch:
		o.Condition, o.Target = of(op.Peer), &op.Arg
	case Jump:
		o.Target = &op.Arg
	case ScopeEnd:
		for l := op.Arg; l < op.Arg+op.Label; l++ {
			o.Forgets = append(o.Forgets, j.label(l))
		}
	}
	if op.Kind.Timed() && op.Label >= 0 {
		o.Label, o.LabelIndex = j.label(op.Label), of(op.Index)
	}
	for d := op.DepLo; d < op.DepHi; d++ {
		o.Deps = append(o.Deps, j.dep(p, &p.Deps[d]))
	}
	if p.Flat && j.g.Annotated {
		o.Children = p.Dependents(i)
	}
	return o
}

func (j *jsoner) collective(o *jsonOp, p *Program, op *Op) {
	call := &p.Calls[op.Arg]
	o.Type, o.Algorithm = call.Type.String(), call.Algorithm
	o.Group, o.Root, o.Bytes = &jsonValue{p, op.Tag}, &jsonValue{p, op.Peer}, &jsonValue{p, op.Size}
	if p.Flat {
		o.Number = &jsonValue{p, op.Index}
	}
	if call.Sizes != nil {
		o.Sizes, o.Bytes = call.Sizes.String(), nil
	}
}

func (j *jsoner) label(l int32) string {
	if int(l) < len(j.g.Labels) {
		return j.g.Labels[l]
	}
	return strconv.Itoa(int(l))
}

func (j *jsoner) dep(p *Program, d *Dep) jsonDep {
	if d.Mode == DepOp {
		return jsonDep{Op: &d.Target}
	}
	o := jsonDep{Label: j.label(d.Target), Mode: [...]string{"", "latest", "index", "each", "previous"}[d.Mode], Previous: d.Back}
	if d.Mode == DepIndex {
		o.Index = &jsonValue{p, d.Index}
	}
	return o
}

// workJSON gives the operands that the model has; those of a kernel as text.
func workJSON(p *Program, w *Work) *jsonWork {
	of := func(v Value) *jsonValue { return &jsonValue{p, v} }
	o := &jsonWork{Model: [...]string{"fixed", "roofline", "ecm", "traffic"}[w.Model]}
	switch w.Model {
	case Fixed:
		o.Time = of(w.Time)
	case Roofline:
		o.Flops, o.Bytes = of(w.Flops), of(w.Bytes)
	case ECM:
		o.Units, o.Text = of(w.Units), workText(p, w)[1:]
	case Traffic:
		o.Bytes = of(w.Bytes)
	}
	for _, in := range w.Injections {
		o.Injections = append(o.Injections, in.String())
	}
	return o
}
