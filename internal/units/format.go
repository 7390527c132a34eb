package units

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatPS prints a span of picoseconds with four to six significant digits in
// the unit that suits it: 103.001 us. Text reports use it; JSON keeps integers.
func FormatPS(ps int64) string {
	type scale struct {
		ps   float64
		name string
	}
	for _, s := range []scale{{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}} {
		if v := float64(ps) / s.ps; v >= 1 || v <= -1 {
			return strconv.FormatFloat(v, 'f', 3, 64) + " " + s.name
		}
	}
	return strconv.FormatInt(ps, 10) + " ps"
}

// FormatBytes prints a size exactly, in the largest unit that keeps it whole:
// 64KiB, 125B, 32MB.
func FormatBytes(n int64) string {
	if n == 0 {
		return "0B"
	}
	for _, s := range []struct {
		n    int64
		name string
	}{{1 << 40, "TiB"}, {1e12, "TB"}, {1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "kB"}} {
		if n%s.n == 0 {
			return strconv.FormatInt(n/s.n, 10) + s.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// FormatCount prints an integer with thousands separated: 1,048,576.
func FormatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// FormatRate prints a per-byte time as the bit rate it stands for: 400Gbps.
func FormatRate(perByte Rat) string {
	if perByte.Num == 0 {
		return "unlimited"
	}
	bits := 8e12 * float64(perByte.Den) / float64(perByte.Num)
	for _, s := range []struct {
		n    float64
		name string
	}{{1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"}, {1e3, "kbps"}} {
		if bits >= s.n {
			return fmt.Sprintf("%s%s", strconv.FormatFloat(bits/s.n, 'g', 6, 64), s.name)
		}
	}
	return fmt.Sprintf("%sbps", strconv.FormatFloat(bits, 'g', 6, 64))
}
