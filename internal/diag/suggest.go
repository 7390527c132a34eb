package diag

import (
	"fmt"
	"strings"
)

// Suggest returns the candidate that a reader most likely meant by name: the one
// with the smallest edit distance, if that is below three and below half the
// name's length; else the only one that begins with name, if that has three letters
// at least; else "". Of equally near candidates the first wins.
func Suggest(name string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := distance(name, c); d < at && 2*d < max(len(name), len(c)) {
			best, at = c, d
		}
	}
	if best == "" && len(name) >= 3 {
		return onlyWithPrefix(name, candidates)
	}
	return best
}

func onlyWithPrefix(prefix string, candidates []string) string {
	found := ""
	for _, c := range candidates {
		if strings.HasPrefix(c, prefix) {
			if found != "" {
				return ""
			}
			found = c
		}
	}
	return found
}

// DidYouMean returns `; did you mean "x"?` for the nearest candidate, or "".
func DidYouMean(name string, candidates []string) string {
	if s := Suggest(name, candidates); s != "" {
		return fmt.Sprintf("; did you mean %q?", s)
	}
	return ""
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours cost one each.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > 2 || len(y)-len(x) > 2 {
		return 3
	}
	prev2, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(y)]
}
