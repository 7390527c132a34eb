package report

import (
	"math"
	"strconv"
	"strings"

	"hybrid/internal/units"
)

// scale is a unit of time for a whole table.
type scale struct {
	ps   int64
	name string
}

func scales() []scale {
	return []scale{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}}
}

// scaleOf picks the unit of a table: that of its largest value, or a finer one while
// the smallest would lose its digits and the largest stays readable.
func scaleOf(ps ...int64) scale {
	low, high := int64(math.MaxInt64), int64(0)
	for _, v := range ps {
		if v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	all := scales()
	for i, s := range all {
		if high < s.ps && i < len(all)-1 {
			continue
		}
		for i < len(all)-2 && low < all[i].ps/10 && high/all[i+1].ps < 1e6 {
			i++
		}
		return all[i]
	}
	return all[len(all)-1]
}

// apartOf picks the unit as scaleOf does, or the next finer one where values that differ
// would look the same.
func apartOf(ps ...int64) scale {
	s := scaleOf(ps...)
	seen := map[string]int64{}
	for _, v := range ps {
		if other, ok := seen[s.text(v)]; ok && other != v {
			return finer(s)
		}
		seen[s.text(v)] = v
	}
	return s
}

func finer(s scale) scale {
	all := scales()
	for i := range all[:len(all)-1] {
		if all[i] == s {
			return all[i+1]
		}
	}
	return s
}

// text prints picoseconds in the unit, with three decimals: 11.087. Only nothing at all
// is 0; a value too small to show is <0.001.
func (s scale) text(ps int64) string {
	if s.ps == 1 {
		return units.FormatCount(ps)
	}
	milli := units.MulDiv(ps, 1000, s.ps)
	switch {
	case ps == 0:
		return "0"
	case milli == 0:
		return "<0.001"
	}
	return units.FormatCount(milli/1000) + "." + pad3(milli%1000)
}

func pad3(n int64) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", 3-len(s)) + s
}

// percentText prints an error in percent with its sign: -10.6, +0.34, 0 for none at
// all, ~0 for less than 0.0005, - where it is undefined.
func percentText(e Error) string {
	if !e.Defined {
		return "-"
	}
	p := 100 * e.Value
	switch a := math.Abs(p); {
	case a == 0:
		return "0"
	case a < 0.0005:
		return "~0"
	case a < 0.005:
		return signed(p, 3)
	case a < 9.995:
		return signed(p, 2)
	case a < 999.95:
		return signed(p, 1)
	}
	sign := "+"
	if p < 0 {
		sign = "-"
	}
	if a := math.Abs(p); a < 1e15 {
		return sign + units.FormatCount(int64(math.Round(a)))
	}
	return signed(p, 0)
}

func signed(p float64, decimals int) string {
	s := strconv.FormatFloat(p, 'f', decimals, 64)
	if p > 0 {
		s = "+" + s
	}
	return s
}

// magnitudeText is percentText without a sign, for sentences.
func magnitudeText(e Error) string {
	return strings.TrimLeft(percentText(Error{math.Abs(e.Value), e.Defined}), "+")
}

func countText(n int64) string { return units.FormatCount(n) }

// bytesText prints a size: 64KiB, 125B, 236.0MB.
func bytesText(n int64) string { return units.ReadableBytes(n) }

// modelName spells a model as its authors do.
func modelName(model string) string {
	for _, n := range [][2]string{{"loggp", "LogGP"}, {"hockney", "Hockney"}, {Simulated, "the packet simulation"}} {
		if n[0] == model {
			return n[1]
		}
	}
	return model
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return countText(n) + " " + noun + "s"
}

// capital makes the first letter of a sentence a capital.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
