package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hybrid/internal/diag"
)

// Condition is one bound of a list such as mape>10,max>50: it holds where the
// magnitude of the metric exceeds Percent.
type Condition struct {
	Metric  string
	Percent float64
}

// metric is a row of the table of metrics that conditions may name.
type metric struct {
	Name, Doc string
	Of        func(*Metrics) Error
}

func metrics() []metric {
	return []metric{
		{"error", "error of the makespan", func(m *Metrics) Error { return m.Error }},
		{"bias", "mean error of all items", func(m *Metrics) Error { return m.Bias }},
		{"mape", "mean magnitude of the error", func(m *Metrics) Error { return m.MAPE }},
		{"wmape", "the same, weighted by time", func(m *Metrics) Error { return m.WMAPE }},
		{"p95", "magnitude that 95 % of the errors do not exceed", func(m *Metrics) Error { return m.P95 }},
		{"max", "largest error", func(m *Metrics) Error { return m.Max }},
	}
}

// ParseConditions reads a list such as mape>10,max>50,bias>5; the numbers are percent.
func ParseConditions(list string) ([]Condition, error) {
	var out []Condition
	for part := range strings.SplitSeq(list, ",") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func parseCondition(text string) (Condition, error) {
	name, number, ok := strings.Cut(text, ">")
	if !ok {
		return Condition{}, fmt.Errorf("%q is not a condition: write metric>percent, such as mape>10", text)
	}
	name = strings.TrimSpace(name)
	var names []string
	known := false
	for _, m := range metrics() {
		names = append(names, m.Name)
		known = known || m.Name == name
	}
	if !known {
		return Condition{}, fmt.Errorf("%q is not a metric%s (metrics: %s)", name, diag.DidYouMean(name, names), strings.Join(names, ", "))
	}
	number = strings.TrimSuffix(strings.TrimSpace(number), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return Condition{}, fmt.Errorf("%q is not a percentage in %q", number, text)
	}
	return Condition{name, v}, nil
}

// Violations says in one line each which conditions hold, model by model. A metric
// that is undefined violates nothing.
func (c *Comparison) Violations(conditions []Condition) []string {
	var out []string
	for i := range c.Metrics {
		m := &c.Metrics[i]
		for _, cond := range conditions {
			for _, k := range metrics() {
				e := k.Of(m)
				if k.Name == cond.Metric && e.Defined && 100*math.Abs(e.Value) > cond.Percent {
					out = append(out, fmt.Sprintf("%s: %s is %s %%, above %s %%", m.Model, k.Name, percentText(e),
						strconv.FormatFloat(cond.Percent, 'f', -1, 64)))
				}
			}
		}
	}
	return out
}
