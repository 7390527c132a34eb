package main

import "testing"

// Whatever a file holds, it is something, and saying so takes no longer than reading it.
func FuzzSniff(f *testing.F) {
	for _, s := range []string{"", "ranks 2", "a: [1", "num_ranks 2", "0 0\n1 1", "{}", "\x0a\x02\x08\x01", "\xef\xbb\xbf---\n", "// x\n/*\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if c := sniff(text); c.String() == "" {
			t.Errorf("content %d has no name", c)
		}
	})
}
