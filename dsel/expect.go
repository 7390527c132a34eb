package dsel

import (
	"github.com/expr-lang/expr/ast"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// Expect is an expect declaration: a condition on the outcome of a run.
type Expect struct {
	// Pos is the place of the condition, Text the condition as it was written, and
	// Message what the author says where it does not hold, or "".
	Pos           diag.Pos
	Text, Message string
	code          *code
	regions       []string
}

// Holds evaluates the condition. makespan is in picoseconds; region returns the
// time of a region in picoseconds, and false where there is no such region, which
// is an error.
func (e *Expect) Holds(makespan int64, region func(name string) (int64, bool)) (bool, error) {
	env := &graph.Env{Loops: make([]int64, 1+len(e.regions))}
	env.Loops[0] = makespan
	for i, name := range e.regions {
		t, ok := region(name)
		if !ok {
			return false, fault("E210", e.Pos, "the run has no region %q", name)
		}
		env.Loops[i+1] = t
	}
	ok, err := e.code.b(env)
	if err != nil {
		return false, placed(err, e.Pos)
	}
	return ok, nil
}

// outcome makes makespan and region("x").time known to a compiler.
type outcome struct{ regions []string }

func (l *loader) compileExpects() []*Expect {
	var out []*Expect
	for _, d := range l.expects {
		o := &outcome{}
		budget := 0
		inner := &scope{parent: l.root}
		inner.value("makespan", "result", diag.Pos{}, new(bool), resultCode(0))
		c := &compiler{ld: l, scope: inner, e: d.Cond, budget: &budget, outcome: o}
		k := c.whole()
		if k.kind == kindBad {
			continue
		}
		switch {
		case k.kind != kindBool:
			l.list.Errorf("E220", d.Cond.pos(), "a condition must be true or false, not %s", k.typ)
			continue
		case k.dep&onRank != 0:
			l.list.Errorf("E208", d.Cond.pos(), "an expectation is about the run, not about a rank")
			continue
		}
		e := &Expect{Pos: d.Cond.pos(), Text: d.Cond.text(), code: k, regions: o.regions}
		if d.Message != nil {
			e.Message = unquote(*d.Message)
		}
		out = append(out, e)
	}
	return out
}

// resultCode reads a result of the run, in picoseconds.
func resultCode(slot int) *code {
	return &code{typ: typ{kind: kindInt, dims: timeDims()}, dep: onLoop, size: 1, i: func(e *graph.Env) (int64, error) { return e.Loops[slot], nil }}
}

// regionTime compiles region("x").time.
func (c *compiler) regionTime(n *ast.MemberNode) (*code, bool) {
	call, ok := n.Node.(*ast.CallNode)
	if !ok || c.outcome == nil {
		return nil, false
	}
	id, ok := call.Callee.(*ast.IdentifierNode)
	if !ok || id.Value != "region" {
		return nil, false
	}
	field, ok := n.Property.(*ast.StringNode)
	if !ok || field.Value != "time" || len(call.Arguments) != 1 {
		return c.fail(n, "E210", "a region has a time: region(\"name\").time").bad(), true
	}
	name, ok := call.Arguments[0].(*ast.StringNode)
	if !ok {
		return c.fail(n, "E220", "the region's name is a string").bad(), true
	}
	if !c.ld.regions[name.Value] {
		return c.fail(n, "E210", "no region is named %q%s", name.Value, diag.DidYouMean(name.Value, sortedKeys(c.ld.regions))).bad(), true
	}
	for i, r := range c.outcome.regions {
		if r == name.Value {
			return resultCode(i + 1), true
		}
	}
	c.outcome.regions = append(c.outcome.regions, name.Value)
	return resultCode(len(c.outcome.regions)), true
}
