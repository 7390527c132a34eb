package graph

import "fmt"

// Value is an operand: an index into the constants, the columns or the
// expressions of its program. The zero Value is the constant 0.
type Value uint32

const (
	valueShift          = 30
	valueMask           = 1<<valueShift - 1
	valueConst   uint32 = 0
	valueColumn  uint32 = 1
	valueExpr    uint32 = 2
	valuePending uint32 = 3 // a slot of a RankBuilder, resolved when the graph is finished
)

func makeValue(kind uint32, index int) Value { return Value(kind<<valueShift | uint32(index)) }

func (v Value) kind() uint32 { return uint32(v) >> valueShift }
func (v Value) index() int   { return int(uint32(v) & valueMask) }

// IsConst reports whether the value is the same for all ranks and iterations.
func (v Value) IsConst() bool { return v.kind() == valueConst }

// IsComputed reports whether the value is evaluated each time the operation is
// reached.
func (v Value) IsComputed() bool { return v.kind() == valueExpr }

// Env is what an expression can see when it is evaluated.
type Env struct {
	// Rank is the world rank.
	Rank int32
	// Op is the index of the operation in its program.
	Op int32
	// Loops holds the counters of the loops around the operation by slot; each runs
	// from 0 to its trip count - 1.
	Loops []int64
	// Peer is the partner of a transfer whose size depends on it, see [PairSizes].
	Peer int64
}

// Expr is an operand that must be evaluated at the cursor. It must be safe for
// concurrent use, must depend on nothing but env, and errors must be
// diag.Diagnostic or *diag.ListError values where the front end can place them.
type Expr interface {
	Eval(env *Env) (int64, error)
	// String is the expression as it was written, for the text form.
	String() string
}

// Const returns the value and true if v is a constant of the program.
func (p *Program) Const(v Value) (int64, bool) {
	if v.kind() != valueConst {
		return 0, false
	}
	return p.Consts[v.index()], true
}

// Known returns v for the rank in the given slot, and false for a computed value.
func (p *Program) Known(v Value, slot int32) (int64, bool) {
	switch v.kind() {
	case valueConst:
		return p.Consts[v.index()], true
	case valueColumn:
		return p.Columns[v.index()][slot], true
	}
	return 0, false
}

// Eval returns v for the rank in the given slot of the program.
func (p *Program) Eval(v Value, slot int32, env *Env) (int64, error) {
	switch v.kind() {
	case valueConst:
		return p.Consts[v.index()], nil
	case valueColumn:
		return p.Columns[v.index()][slot], nil
	}
	return p.Exprs[v.index()].Eval(env)
}

// AddConst interns a constant in the program.
func (p *Program) AddConst(n int64) Value {
	for i, c := range p.Consts {
		if c == n {
			return makeValue(valueConst, i)
		}
	}
	p.Consts = append(p.Consts, n)
	return makeValue(valueConst, len(p.Consts)-1)
}

// AddColumn adds one number for each rank of the program, in slot order.
func (p *Program) AddColumn(perRank []int64) Value {
	p.Columns = append(p.Columns, perRank)
	return makeValue(valueColumn, len(p.Columns)-1)
}

// AddExpr adds a computed operand to the program.
func (p *Program) AddExpr(e Expr) Value {
	p.Exprs = append(p.Exprs, e)
	return makeValue(valueExpr, len(p.Exprs)-1)
}

// ValueText returns v as the text form prints it: 8, {0 1 2 3} for a column, or the
// expression in parentheses.
func (p *Program) ValueText(v Value) string {
	switch v.kind() {
	case valueConst:
		return fmt.Sprint(p.Consts[v.index()])
	case valueColumn:
		return columnText(p.Columns[v.index()])
	}
	return "(" + p.Exprs[v.index()].String() + ")"
}

// columnText prints at most eight numbers and how many follow.
func columnText(c []int64) string {
	s := "{"
	for i, n := range c {
		if i == 8 {
			return s + fmt.Sprintf(" ...%d more}", len(c)-8)
		}
		if i > 0 {
			s += " "
		}
		s += fmt.Sprint(n)
	}
	return s + "}"
}
