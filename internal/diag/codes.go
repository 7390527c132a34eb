package diag

import "slices"

// Code explains one diagnostic code.
type Code struct {
	// Code is the stable name: E for errors, W for warnings, and three digits.
	Code string
	// Title is one line, Doc says what causes it and what to do, Example is input
	// that triggers it.
	Title, Doc, Example string
}

// Codes returns the table of all codes, ordered.
func Codes() []Code {
	all := slices.Concat(blueprintCodes(), traceCodes(), platformCodes(), runCodes(), engineCodes(), faultCodes())
	slices.SortFunc(all, func(a, b Code) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}

// Explain returns the entry of a code.
func Explain(code string) (Code, bool) {
	for _, c := range Codes() {
		if c.Code == code {
			return c, true
		}
	}
	return Code{}, false
}
