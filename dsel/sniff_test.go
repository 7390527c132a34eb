package dsel

import "testing"

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		"blueprint \"x\"\n": true, "\n\n// c\n/* d */ param n: int = 4\n": true, "program{": true, "ranks 4": true,
		"target: machine\n": false, "name: x\n": false, "num_ranks 4\nrank 0 {\n": false, "{\"a\": 1}": false, "": false, "0,1\n": false,
	} {
		if got := Sniff([]byte(text)); got != want {
			t.Errorf("Sniff(%q) = %v", text, got)
		}
	}
}
