package dsel

import (
	"math/big"
	"strings"
	"sync"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// dims are the exponents of byte, picosecond, flop and cycle in a quantity.
type dims [4]int8

const (
	dimByte = iota
	dimTime
	dimFlop
	dimCycle
)

func plainDims() dims { return dims{} }
func byteDims() dims  { return dims{dimByte: 1} }
func timeDims() dims  { return dims{dimTime: 1} }
func flopDims() dims  { return dims{dimFlop: 1} }
func cycleDims() dims { return dims{dimCycle: 1} }
func rateDims() dims  { return dims{dimByte: 1, dimTime: -1} }

// times returns the dimensions of a product (sign 1) or a quotient (sign -1).
func (d dims) times(o dims, sign int8) dims {
	for i := range d {
		d[i] += sign * o[i]
	}
	return d
}

func (d dims) power(n int8) dims {
	for i := range d {
		d[i] *= n
	}
	return d
}

// String names the dimensions as messages do.
func (d dims) String() string {
	switch d {
	case plainDims():
		return "a plain number"
	case byteDims():
		return "bytes"
	case timeDims():
		return "time"
	case flopDims():
		return "flop"
	case cycleDims():
		return "cycles"
	case rateDims():
		return "a rate"
	}
	names := [...]string{"byte", "ps", "flop", "cycle"}
	var parts []string
	for i, n := range d {
		if n != 0 {
			s := names[i]
			if n != 1 {
				s += "^" + big.NewInt(int64(n)).String()
			}
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "*")
}

// unit is what one unit stands for in base units, and what it is counted per
// where the denominator has no dimension ("CL", "it").
type unit struct {
	dims  dims
	scale *big.Rat
	per   string
}

// unitTable lists every unit of the language by its spelling.
var unitTable = sync.OnceValue(makeUnits)

func makeUnits() map[string]unit {
	t := map[string]unit{}
	dec := map[string]int64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
	bin := map[string]int64{"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}
	second := big.NewRat(1, 1e12)
	size := map[string]int64{"KB": 1e3}
	for p, n := range dec {
		size[p+"B"] = n
	}
	for p, n := range bin {
		size[p+"B"] = n
	}
	for name, n := range size {
		t[name] = unit{byteDims(), big.NewRat(n, 1), ""}
		t[name+"/s"] = unit{rateDims(), new(big.Rat).Mul(big.NewRat(n, 1), second), ""}
	}
	for name, ps := range map[string]int64{"ps": 1, "ns": 1e3, "us": 1e6, "µs": 1e6, "μs": 1e6, "ms": 1e9, "s": 1e12, "min": 60e12, "h": 3600e12} {
		t[name] = unit{timeDims(), big.NewRat(ps, 1), ""}
	}
	for p, n := range dec {
		flops := big.NewRat(n, 1)
		t[p+"flop"] = unit{flopDims(), flops, ""}
		t[p+"flop/s"] = unit{flopDims().times(timeDims(), -1), new(big.Rat).Mul(flops, second), ""}
		if p != "P" {
			t[p+"bps"] = unit{rateDims(), new(big.Rat).Mul(big.NewRat(n, 8), second), ""}
			t[p+"Hz"] = unit{cycleDims().times(timeDims(), -1), new(big.Rat).Mul(flops, second), ""}
		}
	}
	one := big.NewRat(1, 1)
	t["cy"] = unit{cycleDims(), one, ""}
	t["cy/CL"] = unit{cycleDims(), one, "CL"}
	t["cy/it"] = unit{cycleDims(), one, "it"}
	t["flop/cy"] = unit{flopDims().times(cycleDims(), -1), one, ""}
	t["flop/it"] = unit{flopDims(), one, "it"}
	t["B/cy"] = unit{byteDims().times(cycleDims(), -1), one, ""}
	t["B/it"] = unit{byteDims(), one, "it"}
	t["x"] = unit{plainDims(), one, "x"}
	return t
}

// unitNames are spellings to suggest, most common first.
func unitNames() []string {
	return []string{"B", "kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "ps", "ns", "us", "ms", "s", "min", "h",
		"Gbps", "Mbps", "Tbps", "GB/s", "GiB/s", "MB/s", "TB/s", "flop", "kflop", "Mflop", "Gflop", "Tflop", "Gflop/s", "Tflop/s",
		"cy", "cy/CL", "cy/it", "Hz", "kHz", "MHz", "GHz", "x"}
}

// badUnit explains why a number with the given suffix is not a quantity.
func badUnit(digits, name string) string {
	switch name {
	case "k", "K", "M", "G", "T":
		kilo := strings.ToLower(name[:1])
		if name != "k" && name != "K" {
			kilo = name
		}
		dec, bin := digits+kilo+"B", digits+strings.ToUpper(name)+"iB"
		return "unknown unit \"" + name + "\" in " + digits + name + ": write " + dec + byteCount(dec) + " or " + bin + byteCount(bin)
	}
	if _, _, err := units.Parse(digits + name); err != nil && strings.Contains(err.Error(), ": write ") {
		return err.Error()
	}
	msg := "unknown unit \"" + name + "\" in " + digits + name
	return msg + diag.DidYouMean(name, unitNames())
}

// byteCount returns " (64,000 B)" for 64kB, or nothing if that is no whole size.
func byteCount(quantity string) string {
	n, err := units.ParseInt(quantity, units.Size)
	if err != nil {
		return ""
	}
	return " (" + units.FormatCount(n) + " B)"
}
