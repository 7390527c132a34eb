package units

import "strconv"

// exactBelow is up to which size in bytes ReadableBytes prints every digit.
const exactBelow = 100_000

// ReadableBytes prints a size in bytes for people: as it is where that is short
// (64KiB, 6MiB, 61,860B), else rounded to four digits in powers of 1000 (236.0MB).
// [FormatBytes] is the exact form.
func ReadableBytes(n int64) string {
	exact := FormatBytes(n)
	whole := 0
	for whole < len(exact) && '0' <= exact[whole] && exact[whole] <= '9' {
		whole++
	}
	if unit := exact[whole:]; unit != "B" && unit != "kB" && whole <= 4 {
		return exact
	}
	if n < exactBelow {
		return FormatCount(n) + "B"
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		if value /= 1000; value < 999.95 {
			break
		}
	}
	decimals := 1
	switch {
	case value < 9.9995:
		decimals = 3
	case value < 99.995:
		decimals = 2
	}
	return strconv.FormatFloat(value, 'f', decimals, 64) + unit
}
