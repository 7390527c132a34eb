package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
)

func TestIdealRatios(t *testing.T) {
	want := []Ratio{{1.25, true}, {1.375, true}, {1.25, true}}
	c := comparison(t, threeRuns())
	if r := &c.Collectives[0]; !r.HasIdeal || r.Ideal != 8e6 || cmp.Diff(want, r.IdealRatios) != "" {
		t.Errorf("ideal %d, %v, ratios %v, want %v", r.Ideal, r.HasIdeal, r.IdealRatios, want)
	}
}

// There is no ratio without an ideal time, to one of nothing, and of a run that did not
// finish or never came to the collective.
func TestNoIdealRatio(t *testing.T) {
	none := func(*replay.CollectiveTimes) (int64, bool) { return 0, false }
	nothing := func(*replay.CollectiveTimes) (int64, bool) { return 0, true }
	stopped := threeRuns()
	stopped[1].Verdict.Outcome = replay.Stopped
	missing := threeRuns()
	missing[1].Collectives = nil
	for _, tt := range []struct {
		name  string
		runs  []*replay.Result
		ideal Bound
		want  []bool
		ps    any
	}{
		{"no ideal time", threeRuns(), none, []bool{false, false, false}, nil},
		{"an ideal time of 0", threeRuns(), nothing, []bool{false, false, false}, 0.0},
		{"a run cut short", stopped, ideal, []bool{true, false, true}, 8e6},
		{"a run without the collective", missing, ideal, []bool{true, false, true}, 8e6},
		{"nobody asked", threeRuns(), nil, []bool{false, false, false}, nil},
	} {
		c := New(inputs(), ringGraph(t), tt.runs, bound, nil)
		if tt.ideal != nil {
			c.AddIdeals(tt.ideal)
		}
		ps, ratios := idealsInJSON(t, c)
		var got []bool
		for _, model := range []string{"packet", "loggp", "hockney"} {
			ratio, present := ratios[model]
			if !present {
				t.Errorf("%s: no ratio of %s", tt.name, model)
			}
			got = append(got, ratio != nil)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || ps != tt.ps {
			t.Errorf("%s: ideal_ps %v, want %v; ratios %s", tt.name, ps, tt.ps, diff)
		}
		if shown := strings.Contains(text(t, c), "x ideal"); shown != tt.want[0] {
			t.Errorf("%s: column of ratios %v", tt.name, shown)
		}
	}
}

func idealsInJSON(t *testing.T, c *Comparison) (ps any, ratios map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Collectives []struct {
			Ideal  any            `json:"ideal_ps"`
			Ratios map[string]any `json:"ideal_ratio"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Collectives[0].Ideal, doc.Collectives[0].Ratios
}

// The number of sends gives way where ratios and two models' errors need the width.
func TestSendsGiveWay(t *testing.T) {
	for _, tt := range []struct {
		runs, sends int
		verbose     bool
	}{{3, 0, false}, {3, 1, true}, {1, 1, false}} {
		c := New(inputs(), ringGraph(t), threeRuns()[:tt.runs], bound, nil)
		c.AddIdeals(ideal)
		var b bytes.Buffer
		if err := c.WriteText(&b, TextOptions{Verbose: tt.verbose}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), " sends "); got != tt.sends {
			t.Errorf("%d runs, verbose %v: %d columns of sends", tt.runs, tt.verbose, got)
		}
	}
}

func TestRatioText(t *testing.T) {
	for _, tt := range []struct {
		r    Ratio
		want string
	}{
		{Ratio{}, "-"}, {Ratio{1, true}, "1.00"}, {Ratio{0.004, true}, "<0.01"}, {Ratio{0.25, true}, "0.25"},
		{Ratio{9.99, true}, "9.99"}, {Ratio{9.996, true}, "10.0"}, {Ratio{99.96, true}, "100"}, {Ratio{1250.4, true}, "1,250"},
		{Ratio{2e16, true}, "2.0e+16"},
	} {
		if got := ratioText(tt.r); got != tt.want {
			t.Errorf("%+v prints as %q, want %q", tt.r, got, tt.want)
		}
	}
}
