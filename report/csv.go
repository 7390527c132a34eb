package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteCSV writes one row for each place at which operations were written: for every
// run the total and mean time in picoseconds, for every model its error, empty where
// it is undefined.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"where", "kind", "name", "text", "count", "ranks"}
	for _, r := range c.Runs {
		head = append(head, r.Model+"_total_ps", r.Model+"_mean_ps")
	}
	for _, m := range c.Metrics {
		head = append(head, m.Model+"_error")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range c.Operations {
		if err := out.Write(c.csvRow(&c.Operations[i])); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (c *Comparison) csvRow(o *Operation) []string {
	row := []string{o.Where, o.Kind.String(), o.Name, o.Text, strconv.FormatInt(o.Count, 10), strconv.FormatInt(o.Ranks, 10)}
	for i := range c.Runs {
		row = append(row, strconv.FormatInt(o.Total[i], 10), strconv.FormatInt(o.Mean[i], 10))
	}
	for _, m := range c.Metrics {
		cell := ""
		if e := o.Errors[m.Run]; e.Defined {
			cell = strconv.FormatFloat(e.Value, 'g', -1, 64)
		}
		row = append(row, cell)
	}
	return row
}
