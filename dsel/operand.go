package dsel

import (
	"math"
	"strconv"

	"hybrid/graph"
	"hybrid/internal/diag"
)

// role is what a statement demands of an operand.
type role uint8

const (
	roleCount role = iota
	roleBytes
	roleTime
	roleFlops
	roleWork
	roleTag
	roleIndex
	// rolePeer may be norank, roleRank may not.
	rolePeer
	roleRank
	roleRoot
)

// roleRow says what a role demands: its dimensions, whether a fraction is an
// error or is rounded, and its name in messages.
type roleRow struct {
	dims  dims
	whole bool
	name  string
	unit  string
}

func (r role) row() roleRow {
	return [...]roleRow{
		{plainDims(), true, "count", ""},
		{byteDims(), true, "size", " bytes"},
		{timeDims(), false, "time", " ps"},
		{flopDims(), false, "flops", " flop"},
		{plainDims(), false, "work", ""},
		{plainDims(), true, "tag", ""},
		{plainDims(), true, "index", ""},
		{plainDims(), true, "rank", ""},
		{plainDims(), true, "rank", ""},
		{plainDims(), true, "root", ""},
	}[r]
}

// operand is an expression in a role. It is also the graph.Expr of operands that
// change from iteration to iteration.
type operand struct {
	code  *code
	role  role
	ranks int64
	src   *expression
	at    diag.Pos
}

// loop reports whether the operand must be evaluated at the cursor.
func (o *operand) loop() bool { return o.code.dep&onLoop != 0 }

// String is the operand as it was written.
func (o *operand) String() string {
	if o.src == nil {
		return ""
	}
	return o.src.text()
}

// Eval returns the operand in base units.
func (o *operand) Eval(env *graph.Env) (int64, error) {
	if o.code.i != nil {
		n, err := o.code.i(env)
		if err != nil {
			return 0, o.placed(err)
		}
		return o.check(n, env)
	}
	x, err := o.code.f(env)
	if err != nil {
		return 0, o.placed(err)
	}
	n, err := o.integer(x)
	if err != nil {
		return 0, err
	}
	return o.check(n, env)
}

// placed gives an error without a position the operand's.
func (o *operand) placed(err error) error { return placed(err, o.at) }

func placed(err error, at diag.Pos) error {
	d, ok := err.(diag.Diagnostic)
	if !ok {
		return fault("E222", at, "%s", err.Error())
	}
	if d.Pos == (diag.Pos{}) {
		d.Pos = at
	}
	return d
}

// integer demands a whole number within 1e-6, or rounds in roles that allow it.
func (o *operand) integer(x float64) (int64, error) {
	row := o.role.row()
	if math.IsNaN(x) || math.IsInf(x, 0) {
		d := fault("E222", o.at, "%s is %v", row.name, x)
		d.Note("a division by zero gives this")
		return 0, d
	}
	if math.Abs(x) >= 1<<63 {
		return 0, fault("E222", o.at, "%s is %.6g%s, which does not fit in 64 bits", row.name, x, row.unit)
	}
	n := math.Round(x)
	if row.whole && math.Abs(x-n) > 1e-6 {
		d := fault("E221", o.at, "%s is %s%s, not a whole number", row.name, strconv.FormatFloat(x, 'g', -1, 64), row.unit)
		if o.code.quotient {
			d.Note("'/' divides exactly; use div(a, b) or ceil(..)")
		} else {
			d.Note("use floor(..), round(..) or ceil(..)")
		}
		return 0, d
	}
	return int64(n), nil
}

func (o *operand) check(n int64, env *graph.Env) (int64, error) {
	switch o.role {
	case rolePeer, roleRank:
		if n >= 0 && n < o.ranks || n == noRank && o.role == rolePeer {
			return n, nil
		}
		return 0, o.rankFault(n, env)
	case roleIndex:
		return n, nil
	}
	if n < 0 {
		row := o.role.row()
		return 0, fault("E222", o.at, "%s is negative: %d%s", row.name, n, row.unit)
	}
	if o.role == roleTag && n > math.MaxInt32 {
		return 0, fault("E222", o.at, "tag %d is larger than %d", n, math.MaxInt32)
	}
	return n, nil
}

func (o *operand) rankFault(n int64, env *graph.Env) error {
	if n == noRank {
		return fault("E301", o.at, "norank where a rank is needed, on rank %d", env.Rank)
	}
	where := ""
	if o.code.dep != 0 {
		where = " computed on rank " + strconv.Itoa(int(env.Rank))
	}
	d := fault("E301", o.at, "rank %d%s is outside 0..%d", n, where, o.ranks-1)
	d.Note("for a grid edge use grid.shift(), which gives norank; for a ring use mod(rank - 1, ranks)")
	return d
}
