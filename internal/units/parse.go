package units

import (
	"fmt"
	"math/big"
	"sort"
	"strings"
)

// Dimension says what a quantity measures.
type Dimension uint8

// The dimensions of written quantities, and the base unit of each.
const (
	Plain     Dimension = iota // a bare number
	Size                       // bytes
	Duration                   // picoseconds
	PerByte                    // picoseconds a byte; rates are read into this
	Frequency                  // hertz
	Flops                      // floating-point operations a second
	Work                       // floating-point operations
	Cycles                     // processor cycles
)

// String names the dimension as messages do.
func (d Dimension) String() string {
	return [...]string{"number", "size", "time", "rate", "frequency", "flop rate", "work", "cycles"}[d]
}

// Example returns a quantity of the dimension, for messages.
func (d Dimension) Example() string {
	return [...]string{"8", "64KiB", "1.5us", "400Gbps", "2.4GHz", "2.5Tflop/s", "10Gflop", "4cy"}[d]
}

type unit struct {
	dim      Dimension
	num, den int64
	inverse  bool // the written number is a rate: bytes a second, kept as picoseconds a byte
}

const (
	kilo = 1_000
	mega = 1_000_000
	giga = 1_000_000_000
	tera = 1_000_000_000_000
)

// unitOf maps a unit's spelling to its meaning. It is built on demand from a few
// prefixes so that no spelling is forgotten.
func unitOf(name string) (unit, bool) {
	switch name {
	case "":
		return unit{Plain, 1, 1, false}, true
	case "ps", "ns", "us", "µs", "μs", "ms", "s", "min", "h":
		n := map[string]int64{"ps": 1, "ns": kilo, "us": mega, "µs": mega, "μs": mega, "ms": giga, "s": tera, "min": 60 * tera, "h": 3600 * tera}[name]
		return unit{Duration, n, 1, false}, true
	case "cy":
		return unit{Cycles, 1, 1, false}, true
	}
	if t, ok := strings.CutSuffix(name, "/B"); ok {
		if u, ok := unitOf(t); ok && u.dim == Duration {
			return unit{PerByte, u.num, 1, false}, true
		}
	}
	if t, ok := strings.CutSuffix(name, "/s"); ok {
		if u, ok := unitOf(t); ok && u.dim == Size {
			return unit{PerByte, u.num, 1, true}, true
		}
		if u, ok := unitOf(t); ok && u.dim == Work {
			return unit{Flops, u.num, 1, false}, true
		}
		return unit{}, false
	}
	return prefixed(name)
}

func prefixed(name string) (unit, bool) {
	decimal := map[string]int64{"": 1, "k": kilo, "K": kilo, "M": mega, "G": giga, "T": tera, "P": 1_000 * tera}
	binary := map[string]int64{"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}
	if p, ok := strings.CutSuffix(name, "bps"); ok {
		if n, ok := decimal[p]; ok && p != "K" {
			return unit{PerByte, n, 8, true}, true // bits a second, in bytes a second
		}
		return unit{}, false
	}
	if p, ok := strings.CutSuffix(name, "Hz"); ok {
		n, ok := decimal[p]
		return unit{Frequency, n, 1, false}, ok && p != "K"
	}
	if p, ok := strings.CutSuffix(name, "flop"); ok {
		n, ok := decimal[p]
		return unit{Work, n, 1, false}, ok && p != "K"
	}
	if p, ok := strings.CutSuffix(name, "B"); ok {
		if n, ok := decimal[p]; ok {
			return unit{Size, n, 1, false}, true
		}
		n, ok := binary[p]
		return unit{Size, n, 1, false}, ok
	}
	return unit{}, false
}

// Parse reads a quantity: a decimal number directly followed by a unit, such as
// 64KiB, 0.5us, 400Gbps, 12.5GB/s or 0.04ns/B. The value is exact and in the base
// unit of its dimension; a rate becomes the time of one byte, and a rate of zero
// is an error.
func Parse(text string) (Rat, Dimension, error) {
	text = strings.TrimSpace(text)
	digits, name := split(text)
	if digits == "" {
		return Rat{0, 1}, Plain, fmt.Errorf("%q is not a quantity: write a number and a unit, such as %s", text, Size.Example())
	}
	u, ok := unitOf(name)
	if !ok {
		return Rat{0, 1}, Plain, unknownUnit(text, digits, name)
	}
	if len(digits) > 40 || hugeExponent(digits) {
		return Rat{0, 1}, u.dim, fmt.Errorf("%s is too large or too fine to be held exactly", text)
	}
	v, ok := new(big.Rat).SetString(strings.ReplaceAll(digits, "_", ""))
	if !ok {
		return Rat{0, 1}, Plain, fmt.Errorf("%q is not a number", digits)
	}
	v.Mul(v, big.NewRat(u.num, u.den))
	if u.inverse {
		if v.Sign() <= 0 {
			return Rat{0, 1}, PerByte, fmt.Errorf("%s is not a rate: it must be positive", text)
		}
		v.Quo(new(big.Rat).SetInt64(tera), v)
	}
	r, ok := fromBig(v)
	if !ok {
		return Rat{0, 1}, u.dim, fmt.Errorf("%s is too large or too fine to be held exactly", text)
	}
	return r, u.dim, nil
}

// ParseAs reads a quantity and demands its dimension.
func ParseAs(text string, want Dimension) (Rat, error) {
	r, got, err := Parse(text)
	if err != nil {
		return r, err
	}
	if got == want {
		return r, nil
	}
	if got == Plain {
		return r, fmt.Errorf("%s has no unit: a %s is expected, such as %s", text, want, want.Example())
	}
	return r, fmt.Errorf("%s is a %s: a %s is expected, such as %s", text, got, want, want.Example())
}

// ParseInt reads a quantity of the given dimension that must be a whole number
// of base units (bytes, picoseconds, cycles).
func ParseInt(text string, want Dimension) (int64, error) {
	r, err := ParseAs(text, want)
	if err != nil {
		return 0, err
	}
	if r.Den != 1 {
		base := map[Dimension]string{Size: "bytes", Duration: "picoseconds"}[want]
		return 0, fmt.Errorf("%s is not a whole number of %s", text, base)
	}
	return r.Num, nil
}

func split(text string) (digits, name string) {
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		i++
	}
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.' || text[i] == '_') {
		i++
	}
	// An exponent: e followed by a digit or a signed digit.
	if i > 0 && i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		j := i + 1
		if j < len(text) && (text[j] == '-' || text[j] == '+') {
			j++
		}
		if j < len(text) && text[j] >= '0' && text[j] <= '9' {
			for j < len(text) && text[j] >= '0' && text[j] <= '9' {
				j++
			}
			i = j
		}
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// hugeExponent reports an exponent of more than two digits: no quantity needs
// it, and expanding it exactly would take memory without bound.
func hugeExponent(digits string) bool {
	_, exp, found := strings.Cut(strings.ToLower(digits), "e")
	return found && len(strings.TrimLeft(exp, "+-")) > 2
}

func unknownUnit(text, digits, name string) error {
	suggest := map[string][]string{
		"k": {"kB", "KiB"}, "K": {"kB", "KiB"}, "M": {"MB", "MiB"}, "G": {"GB", "GiB"}, "T": {"TB", "TiB"},
		"b": {"B"}, "kb": {"kB"}, "Kb": {"kB"}, "Mb": {"MB"}, "Gb": {"GB", "Gbps"}, "Mbit": {"Mbps"}, "Gbit": {"Gbps"},
		"Gbit/s": {"Gbps"}, "Gb/s": {"Gbps", "GB/s"}, "GBps": {"GB/s", "Gbps"}, "MBps": {"MB/s", "Mbps"}, "sec": {"s"},
		"usec": {"us"}, "nsec": {"ns"}, "msec": {"ms"}, "Mhz": {"MHz"}, "Ghz": {"GHz"},
	}[name]
	if len(suggest) == 0 {
		return fmt.Errorf("unknown unit %q in %s", name, text)
	}
	sort.Strings(suggest)
	for i, s := range suggest {
		suggest[i] = digits + s
	}
	return fmt.Errorf("unknown unit %q in %s: write %s", name, text, strings.Join(suggest, " or "))
}
