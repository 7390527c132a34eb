package replay

import "testing"

// The eager limit of a cycle is one number only if all its messages have the same.
func TestSetLimit(t *testing.T) {
	for _, test := range []struct {
		cycle  []int32
		limits []int64 // by sender
		has    bool
		want   int64
	}{
		{nil, nil, false, 0},
		{[]int32{0, 1, 2}, []int64{8, 8, 8}, true, 8},
		{[]int32{0, 1, 2}, []int64{8, 8, 9}, true, -1},
	} {
		v := Verdict{Cycle: test.cycle}
		v.SetLimit(func(src, dst int32) int64 {
			if want := (src + 1) % int32(len(test.cycle)); dst != want {
				t.Errorf("asked for the limit from %d to %d, not to %d", src, dst, want)
			}
			return test.limits[src]
		})
		if v.HasLimit != test.has || v.EagerLimit != test.want {
			t.Errorf("cycle %v with limits %v: %v, %d; want %v, %d", test.cycle, test.limits, v.HasLimit, v.EagerLimit, test.has, test.want)
		}
	}
}
