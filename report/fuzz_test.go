package report

import (
	"math"
	"testing"
)

// A list of conditions is refused or has bounds that a metric can be compared with.
func FuzzParseConditions(f *testing.F) {
	for _, s := range []string{"mape>10,max>50,bias>5", "error > 1 %", "x", ",", "max>1e300", "max>0x1p-2", "max>Inf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		conditions, err := ParseConditions(list)
		for _, c := range conditions {
			if err == nil && (c.Metric == "" || math.IsNaN(c.Percent) || c.Percent < 0) {
				t.Errorf("%q gives %+v", list, c)
			}
		}
	})
}
