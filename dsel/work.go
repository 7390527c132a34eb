package dsel

import (
	"math/big"
	"slices"
	"strings"

	"hybrid/graph"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// workPlan is the work of a compute, load or store operation.
type workPlan struct {
	model                            graph.WorkModel
	time, flops, bytes, units, cores *operand
	precision, label, per            string
	ecm                              *graph.Contributions
	injections                       []*injected
}

// precisions are the arithmetic precisions that a machine may rate.
func precisions() []string { return []string{"dp", "sp", "hp", "bf16", "tf32", "fp8", "int8"} }

// planCompute reads one of: a time, flops and bytes, ecm, kernel.
func planCompute(p *planner) emitter {
	k := &workPlan{cores: p.value("cores", roleCount)}
	p.computeFlags()
	p.precision(k)
	forms := 0
	for _, given := range []bool{p.op.Operand != nil, p.clause["flops"] != nil || p.clause["bytes"] != nil, p.clause["ecm"] != nil, p.clause["kernel"] != nil, p.clause["source"] != nil} {
		if given {
			forms++
		}
	}
	if forms != 1 {
		return p.missing("one of: a time, flops F and bytes M, ecm LABEL work N, kernel k(..)")
	}
	text := "compute"
	switch {
	case p.op.Operand != nil:
		k.time = p.operand(p.op.Operand, roleTime)
		text += " " + p.op.Operand.text()
	case p.clause["ecm"] != nil:
		text += p.ecmWork(k)
	case p.clause["kernel"] != nil:
		text += " kernel " + p.clause["kernel"].Kernel.Name.Text
		p.kernelCall(k)
	case p.clause["source"] != nil:
		p.fail("E205", posOf(p.clause["source"].Pos), "not supported yet: kernels analysed from their source")
	default:
		k.model, k.flops, k.bytes = graph.Roofline, p.value("flops", roleFlops), p.value("bytes", roleBytes)
		text += " roofline"
	}
	for _, word := range []string{"work", "per"} {
		p.belongs(word, "ecm", p.clause["ecm"] != nil)
	}
	p.belongs("cores", "ecm, flops and kernel", k.time == nil)
	p.belongs("precision", "flops and kernel", k.time == nil && p.clause["ecm"] == nil)
	return p.workEmitter(graph.Compute, k, text)
}

// belongs refuses a clause that would have no effect.
func (p *planner) belongs(word, with string, ok bool) {
	if c := p.clause[word]; c != nil && !ok {
		at := posOf(c.Pos)
		at.Span = len(word)
		p.fail("E240", at, "'%s' goes with %s", word, with)
	}
}

func (p *planner) computeFlags() {
	c := p.clause["on"]
	if c == nil {
		return
	}
	switch c.Word.Text {
	case "cpu":
		p.flags |= graph.HostCPU
	case "npu":
	default:
		p.fail("E210", posOfWord(c.Word), "an operation runs on cpu or npu, not %s", c.Word.Text)
	}
}

func (p *planner) precision(k *workPlan) {
	c := p.clause["precision"]
	if c == nil {
		return
	}
	if !slices.Contains(precisions(), c.Word.Text) {
		p.fail("E210", posOfWord(c.Word), "unknown precision %q%s", c.Word.Text, diag.DidYouMean(c.Word.Text, precisions())).
			Note("precisions: %s", strings.Join(precisions(), ", "))
	}
	k.precision = c.Word.Text
}

// ecmTerms is a recorded kernel's label, or contributions.
type ecmTerms struct {
	label string
	terms *graph.Contributions
	per   string
}

// ecm reads `ecm LABEL` or `ecm (TOL=.., ..)`.
func (l *loader) ecm(e *ecmClause, s *scope) *ecmTerms {
	switch {
	case e.Label != "":
		return &ecmTerms{label: e.Label}
	case e.Str != "":
		return &ecmTerms{label: unquote(e.Str)}
	}
	t := &ecmTerms{terms: &graph.Contributions{}}
	fields := []struct {
		name string
		to   *units.Rat
	}{{"TOL", &t.terms.TOL}, {"TnOL", &t.terms.TnOL}, {"TL1L2", &t.terms.TL1L2}, {"TL2L3", &t.terms.TL2L3}, {"TL3Mem", &t.terms.TL3Mem}}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		*f.to = units.Int(0)
	}
	seen := map[string]bool{}
	for _, a := range e.Terms {
		i := slices.Index(names, a.Name.Text)
		if i < 0 || seen[a.Name.Text] {
			l.list.Errorf("E240", posOfWord(a.Name), "unknown or repeated term %s%s", a.Name.Text, diag.DidYouMean(a.Name.Text, names)).
				Note("terms: %s", strings.Join(names, ", "))
			return nil
		}
		seen[a.Name.Text] = true
		if !l.ecmTerm(a, s, fields[i].to, t) {
			return nil
		}
	}
	return t
}

// ecmTerm evaluates one term; a single literal is kept exactly.
func (l *loader) ecmTerm(a *assign, s *scope, to *units.Rat, t *ecmTerms) bool {
	c := l.compile(a.Value, s)
	if c.kind == kindBad {
		return false
	}
	if !c.numeric() || c.dims != cycleDims() && !c.any {
		l.list.Errorf("E220", a.Value.pos(), "a term is in cycles, such as 2cy/CL, not %s", c.typ)
		return false
	}
	if c.konst == nil {
		l.list.Errorf("E208", a.Value.pos(), "a term must be the same on every rank and in every iteration")
		return false
	}
	per := ""
	for _, q := range a.Value.quantities {
		if q.unit.per != "" {
			per = q.unit.per
		}
	}
	if per != "" && t.per != "" && per != t.per {
		l.list.Errorf("E220", a.Value.pos(), "the terms mix cy/CL and cy/it")
		return false
	}
	if per != "" {
		t.per = per
	}
	text := numberText(c.konst)
	if lit, ok := a.Value.literal(); ok {
		text = lit[:digitsLen(lit)]
	}
	r, ok := new(big.Rat).SetString(strings.ReplaceAll(text, "_", ""))
	if ok {
		*to, ok = units.FromBig(r)
	}
	if !ok || to.Num < 0 {
		l.list.Errorf("E222", a.Value.pos(), "%s is no number of cycles", a.Value.text())
		return false
	}
	return true
}

func (p *planner) ecmWork(k *workPlan) string {
	c := p.clause["ecm"]
	t := p.l.ecm(c.ECM, p.scope)
	if p.clause["work"] == nil {
		p.missing("an amount: work N")
	}
	k.model, k.units = graph.ECM, p.value("work", roleWork)
	if t == nil {
		p.ok = false
		return ""
	}
	k.label, k.ecm, k.per = t.label, t.terms, t.per
	if per := p.clause["per"]; per != nil {
		word := per.value().text()
		if word != "CL" && word != "it" || k.per != "" && k.per != word {
			p.fail("E240", per.value().pos(), "'per' is CL (a cache line of results) or it (an iteration), and agrees with the terms' unit")
		}
		k.per = word
	}
	if k.label == "" {
		return " ecm (..)"
	}
	return " ecm " + k.label
}

func (p *planner) kernelCall(k *workPlan) {
	c := p.clause["kernel"].Kernel
	sym := p.scope.lookup(c.Name.Text)
	if sym == nil || sym.what != isKernel {
		if sym == nil && p.l.poisoned[c.Name.Text] {
			p.ok = false
			return
		}
		p.notA("kernel", sym, c.Name, isKernel)
		return
	}
	*sym.used = true
	w := p.l.kernelWork(sym, c, p.scope)
	if w == nil {
		p.ok = false
		return
	}
	if w.ecm != nil {
		k.model, k.units, k.label, k.ecm, k.per = graph.ECM, w.units, w.ecm.label, w.ecm.terms, w.ecm.per
		return
	}
	k.model, k.flops, k.bytes = graph.Roofline, w.flops, w.bytes
}

// planDelay: injected time.
func planDelay(p *planner) emitter {
	p.computeFlags()
	if p.op.Operand == nil {
		return p.missing("a time, such as delay 5ms")
	}
	p.flags |= graph.Injected
	k := &workPlan{time: p.operand(p.op.Operand, roleTime)}
	return p.workEmitter(graph.Compute, k, "delay "+p.op.Operand.text())
}

// planMemory: a size at the memory's bandwidth, or a fixed time.
func planMemory(p *planner) emitter {
	kind := graph.Load
	if p.row.name == "store" {
		kind = graph.Store
	}
	k := &workPlan{model: graph.Traffic, bytes: p.size()}
	if p.clause["for"] != nil {
		k.model, k.time = graph.Fixed, p.value("for", roleTime)
	}
	if !p.ok {
		return nil
	}
	return p.workEmitter(kind, k, p.text(k.bytes))
}

// workEmitter plans an operation that has work.
func (p *planner) workEmitter(kind graph.Kind, k *workPlan, text string) emitter {
	if !p.ok {
		return nil
	}
	if !p.flags.Has(graph.Injected) {
		k.injections = p.l.injectionsFor(p)
	}
	op := p.base(kind, p.site(kind, text))
	return func(w *lowerer) {
		o := op
		o.Arg = w.r.Work(graph.Work{Model: k.model, Time: w.value(k.time), Flops: w.value(k.flops), Bytes: w.value(k.bytes),
			Units: w.value(k.units), Cores: w.value(k.cores), Precision: k.precision, Label: k.label, ECM: k.ecm, Per: k.per,
			Injections: selected(w, k.injections)})
		p.put(w, o)
	}
}

// planMark checks the name of a mark. It takes no time and leaves nothing in the
// graph.
func planMark(p *planner) emitter {
	if p.op.Operand == nil {
		return p.missing("a name: mark \"step\"")
	}
	c := p.l.compile(p.op.Operand, p.scope)
	if c.kind != kindString {
		if c.kind != kindBad {
			p.fail("E220", p.op.Operand.pos(), "a mark's name is a string, not %s", c.typ)
		}
		p.ok = false
		return nil
	}
	return func(*lowerer) {}
}

// shortSize is a size for descriptions: its value where that is the same
// everywhere, else the expression.
func shortSize(o *operand) string {
	if n, ok := o.code.constInt(); ok {
		return units.FormatBytes(n)
	}
	return o.String()
}
