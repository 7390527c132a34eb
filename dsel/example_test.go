package dsel

import "testing"

// The example: 3 steps of 16 ranks. A step has 16 computes, 16 pairs in the ring,
// 15 into rank 0 with one wait, and an allreduce.
func TestExampleProgram(t *testing.T) {
	name, src := Example()
	c := count(t, loadText(t, name, string(src)))
	if c.compute != 48 || c.sends != 3*31 || c.recvs != 3*31 || c.joins != 3 || c.collectives[0] != 48 {
		t.Errorf("counted %+v", *c)
	}
}
