package chakra

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// decimalRange is what a decimal number of a mapping file may be: at least least, below
// below, or zero where zero is set.
type decimalRange struct {
	least, below *big.Rat
	zero         bool
	// text says the same, unit the unit of the number.
	text, unit string
}

// ranges are the ranges of the numbers of a mapping file.
type ranges struct{ bandwidth, latency decimalRange }

// newRanges are the ranges of the format: the upper ends are 2^64 in units of 1e-9
// Gbps and of 1e-3 ns, as floating-point numbers print them.
func newRanges() ranges {
	end, _ := new(big.Rat).SetString("1.8446744073709552e10")
	return ranges{
		bandwidth: decimalRange{least: big.NewRat(1, 1e9), below: end, unit: "Gbps",
			text: "at least 1e-9 and below 1.8446744073709552e10"},
		latency: decimalRange{least: big.NewRat(1, 1e3), below: new(big.Rat).Mul(end, big.NewRat(1e6, 1)), unit: "ns", zero: true,
			text: "0, or at least 1e-3 and below 1.8446744073709552e16"},
	}
}

// maxExponent bounds exponents before they are expanded. What it excludes is out of
// every range whatever digits a line has room for.
const maxExponent = 400

// read reads a number exactly, or says why it is none.
func (r *decimalRange) read(text string) (v *big.Rat, reason string) {
	digits, exponent, ok := splitDecimal(text)
	if !ok {
		return nil, fmt.Sprintf("%q is not a decimal number", text)
	}
	outside := fmt.Sprintf("%s %s is out of range: %s", text, r.unit, r.text)
	if strings.Trim(digits, "0.") == "" {
		v = new(big.Rat)
	} else if n, err := strconv.Atoi(exponent); exponent != "" && (err != nil || n > maxExponent || n < -maxExponent) {
		return nil, outside
	} else {
		v, _ = new(big.Rat).SetString(text)
	}
	if r.zero && v.Sign() == 0 {
		return v, ""
	}
	if v.Cmp(r.least) < 0 || v.Cmp(r.below) >= 0 {
		return nil, outside
	}
	return v, ""
}

// splitDecimal takes a number without a sign apart: digits with at most one point, and
// what stands behind e.
func splitDecimal(text string) (digits, exponent string, ok bool) {
	digits = text
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		digits, exponent = text[:i], text[i+1:]
		n := strings.TrimPrefix(exponent, "+")
		if n == exponent {
			n = strings.TrimPrefix(exponent, "-")
		}
		if !onlyDigits(n) {
			return "", "", false
		}
	}
	return digits, exponent, onlyDigits(strings.Replace(digits, ".", "", 1))
}

func onlyDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// perByte converts Gbit/s to picoseconds a byte: 8 bits at n*10^9 bits a second take
// 8000/n ps. exact is false where the result is not the fraction itself but the
// nearest one of two 64-bit numbers.
func perByte(gbps *big.Rat) (r units.Rat, exact bool) {
	v := new(big.Rat).Quo(big.NewRat(8000, 1), gbps)
	if r, ok := units.FromBig(v); ok {
		return r, true
	}
	return nearest(v, math.MaxInt64), false
}

// nearest returns the fraction nearest to a positive v whose numerator and denominator
// are at most most. It is the last convergent of the continued fraction of v
// that fits, or the last intermediate fraction behind it, whichever is closer
// (A. Khinchin, "Continued Fractions", 1964, section 6).
func nearest(v *big.Rat, most int64) units.Rat {
	limit := big.NewInt(most)
	p0, q0, p1, q1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
	n, d := new(big.Int).Set(v.Num()), new(big.Int).Set(v.Denom())
	for d.Sign() != 0 {
		a, rest := new(big.Int).QuoRem(n, d, new(big.Int))
		k := bigMin(room(limit, p0, p1), room(limit, q0, q1))
		if a.Cmp(k) > 0 {
			if k.Sign() == 0 {
				break // what stands behind is the convergent before this one
			}
			return closer(v, new(big.Rat).SetFrac(step(p0, p1, k), step(q0, q1, k)), p1, q1)
		}
		p0, p1 = p1, step(p0, p1, a)
		q0, q1 = q1, step(q0, q1, a)
		n, d = d, rest
	}
	return units.NewRat(p1.Int64(), q1.Int64())
}

// step is x0 + k*x1.
func step(x0, x1, k *big.Int) *big.Int { return new(big.Int).Add(x0, new(big.Int).Mul(k, x1)) }

// room is the largest k with x0 + k*x1 <= limit.
func room(limit, x0, x1 *big.Int) *big.Int {
	if x1.Sign() == 0 {
		return limit
	}
	return new(big.Int).Quo(new(big.Int).Sub(limit, x0), x1)
}

func bigMin(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// closer returns a or p/q, whichever is nearer to v.
func closer(v, a *big.Rat, p, q *big.Int) units.Rat {
	best := a
	if q.Sign() != 0 {
		b := new(big.Rat).SetFrac(p, q)
		da, db := new(big.Rat).Sub(a, v), new(big.Rat).Sub(b, v)
		if db.Abs(db).Cmp(da.Abs(da)) <= 0 {
			best = b
		}
	}
	r, _ := units.FromBig(best)
	return r
}

// maxCrossing is how many latencies a packet meets at most: three hops and four cable
// segments.
const maxCrossing = 7

// picos reads nanoseconds as whole picoseconds. The format's range ends above what
// simulated time can hold.
func (p *mappingParser) picos(line int, name, text string) (ps int64, reason string) {
	v, reason := p.latency.read(text)
	if reason != "" {
		return 0, reason
	}
	v.Mul(v, big.NewRat(1000, 1))
	half := new(big.Rat).Add(v, big.NewRat(1, 2))
	whole := new(big.Int).Quo(half.Num(), half.Denom())
	if !whole.IsInt64() || whole.Int64() > math.MaxInt64/maxCrossing {
		return 0, fmt.Sprintf("%s ns is longer than this program can simulate: at most %d ns", text, math.MaxInt64/maxCrossing/1000)
	}
	if !v.IsInt() {
		p.add(diag.Warning, "W721", line, "the %s latency %s ns is rounded to %s ps", name, text, whole)
	}
	return whole.Int64(), ""
}
