package units

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Rat is an exact rational number in lowest terms with a positive denominator.
// The zero value is not valid; use [NewRat] or [Int].
type Rat struct {
	// Num and Den are the numerator and the positive denominator.
	Num, Den int64
}

// NewRat returns num/den in lowest terms. It panics if den is zero, which no
// reader of user input lets happen.
func NewRat(num, den int64) Rat {
	if den == 0 {
		panic("units: rational with denominator 0")
	}
	if den < 0 {
		num, den = -num, -den
	}
	if g := gcd(abs(num), den); g > 1 {
		num, den = num/g, den/g
	}
	return Rat{num, den}
}

// Int returns n as a rational.
func Int(n int64) Rat { return Rat{n, 1} }

// IsZero reports whether r is zero. The invalid zero value counts as zero, so
// that an absent parameter reads as nothing.
func (r Rat) IsZero() bool { return r.Num == 0 }

// Float returns the nearest float64; for reports only.
func (r Rat) Float() float64 {
	if r.Den == 0 {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// Cmp compares r with s: -1, 0 or +1.
func (r Rat) Cmp(s Rat) int { return r.big().Cmp(s.big()) }

// Mul returns r*s; ok is false where the result does not fit in 64 bits.
func (r Rat) Mul(s Rat) (p Rat, ok bool) { return fromBig(new(big.Rat).Mul(r.big(), s.big())) }

// Add returns r+s; ok is false where the result does not fit in 64 bits.
func (r Rat) Add(s Rat) (p Rat, ok bool) { return fromBig(new(big.Rat).Add(r.big(), s.big())) }

// Inv returns 1/r. It panics for zero.
func (r Rat) Inv() Rat { return NewRat(r.Den, r.Num) }

// String prints r as a decimal where it has a short one, else as a fraction.
func (r Rat) String() string {
	if r.Den == 0 {
		return "0"
	}
	if r.Den == 1 {
		return strconv.FormatInt(r.Num, 10)
	}
	for digits, scale := 1, int64(10); digits <= 9; digits, scale = digits+1, scale*10 {
		if scale%r.Den == 0 {
			return r.big().FloatString(digits)
		}
	}
	return fmt.Sprintf("%d/%d", r.Num, r.Den)
}

func (r Rat) big() *big.Rat {
	if r.Den == 0 {
		return new(big.Rat)
	}
	return big.NewRat(r.Num, r.Den)
}

// FromBig converts an exact rational; ok is false where it does not fit.
func FromBig(b *big.Rat) (Rat, bool) { return fromBig(b) }

func fromBig(b *big.Rat) (Rat, bool) {
	if !b.Num().IsInt64() || !b.Denom().IsInt64() {
		return Rat{0, 1}, false
	}
	return Rat{b.Num().Int64(), b.Denom().Int64()}, true
}

// MulDiv returns n*num/den rounded to the nearest integer, halves away from
// zero, in 128-bit arithmetic. n and num must not be negative and den must be
// positive. A result beyond 64 bits saturates at math.MaxInt64, which every
// caller's range check refuses.
func MulDiv(n, num, den int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(num))
	lo, carry := bits.Add64(lo, uint64(den)/2, 0)
	hi += carry
	if hi >= uint64(den) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(den))
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(q)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
