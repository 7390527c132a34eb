package records

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"hybrid/graph"
	"hybrid/internal/units"
)

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		n     int64
		scale uint8
		want  string
	}{
		{0, 12, "0"}, {1, 12, "0.000000000001"}, {1_500_000_000_000, 12, "1.5"}, {2_008_000, 6, "2.008"}, {10, 0, "10"},
		{100, 2, "1"}, {-25, 1, "-2.5"}, {-9223372036854775808, 6, "-9223372036854.775808"}, {9223372036854775807, 12, "9223372.036854775807"},
	} {
		if got := string(appendDecimal(nil, c.n, c.scale)); got != c.want {
			t.Errorf("%d/10^%d: %s, want %s", c.n, c.scale, got, c.want)
		}
	}
}

// A decimal is exact, has no zeros at its end and no point without digits.
func TestDecimalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, scale := rapid.Int64().Draw(t, "n"), rapid.Uint8Range(0, 12).Draw(t, "scale")
		text := string(appendDecimal(nil, n, scale))
		got, ok := new(big.Rat).SetString(text)
		den := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		if !ok || got.Cmp(new(big.Rat).SetFrac(big.NewInt(n), den)) != 0 {
			t.Fatalf("%d/10^%d prints as %s", n, scale, text)
		}
		if strings.Contains(text, ".") && (strings.HasSuffix(text, "0") || strings.HasSuffix(text, ".")) {
			t.Fatalf("%s has an idle end", text)
		}
	})
}

// A fraction is 1 only for the whole, also near the limits of 64 bits.
func TestFractions(t *testing.T) {
	const most = 1<<63 - 1
	for _, c := range []struct {
		n, of int64
		want  string
	}{{0, 0, "1"}, {0, 3, "0"}, {1, 3, "0.333333333"}, {3, 3, "1"}, {most - 1, most, "0.999999999"}, {most, most, "1"}, {1, most, "0"}} {
		q := fraction(c.n, c.of)
		if got := string(appendCell(nil, Decimal, &q)); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.n, c.of, got, c.want)
		}
	}
}

// Whatever a text holds, a CSV reader gets it back.
func TestTextsInCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("a,\"\n é;'"))).Draw(t, "s")
		q := text(s)
		got, err := csv.NewReader(bytes.NewReader(append(appendCell(nil, Text, &q), ",x\n"...))).Read()
		if err != nil || got[0] != s {
			t.Fatalf("%q reads back as %q, %v", s, got, err)
		}
	})
}

// Every record has a name and a sentence of its own, every column too.
func TestRecordTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Records() {
		if seen[r.Name] || r.Name == "" || r.Doc == "" {
			t.Errorf("record %q, %q", r.Name, r.Doc)
		}
		seen[r.Name] = true
		columns := map[string]bool{}
		for _, c := range r.Columns {
			if columns[c.Name] || c.Name == "" || c.Doc == "" {
				t.Errorf("%s: column %q, %q", r.Name, c.Name, c.Doc)
			}
			columns[c.Name] = true
		}
	}
}

// parquetText reads a Parquet file and prints it as CSV has it, but for decimals, which
// are doubles there.
func parquetText(t *testing.T, path string, columns []Column) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for _, c := range f.Schema().Columns() {
		head = append(head, c[0])
	}
	out := [][]string{head}
	rows := parquet.NewGenericReader[any](bytes.NewReader(b), f.Schema())
	defer rows.Close()
	buf := make([]parquet.Row, 1)
	for {
		n, err := rows.ReadRows(buf)
		if n == 0 {
			if err == nil {
				continue
			}
			return out
		}
		var row []string
		for i, v := range buf[0] {
			row = append(row, parquetCell(v, columns[i].Type))
		}
		out = append(out, row)
	}
}

func parquetCell(v parquet.Value, t Type) string {
	switch {
	case v.IsNull():
		return "NA"
	case t == Text:
		return string(v.ByteArray())
	case t == Integer:
		return strconv.FormatInt(v.Int64(), 10)
	case t == Unsigned:
		return strconv.FormatUint(v.Uint64(), 10)
	case t == Bool:
		return strconv.FormatBool(v.Boolean())
	}
	return strconv.FormatFloat(v.Double(), 'g', -1, 64)
}

// The Parquet tables hold what the CSV tables hold: the same columns in the same order,
// and the double nearest to each decimal.
func TestParquetEqualsCSV(t *testing.T) {
	g := traces(t, 2, func(m *maker) {
		last := m.compute(m.rank+1, 0)
		for k := range int64(3) {
			last = m.collective(graph.AllReduce, "ring", 2*k, 1000*k, graph.Synchronize, last)
			last = m.collective(graph.Barrier, "tree", 2*k+1, 0, 0, last)
		}
	})
	p := pair()
	p.ScaleUp, p.Subgroup = []int32{0, -1}, []uint32{1, 0}
	p.Groups = []ScaleUpGroup{{ID: 7, PerByte: units.NewRat(10, 1), Hop: 100_000, Cable: 50_000}}
	opt := Options{Interval: 1_300_000, DeviceInterval: 3_700_000, Ideal: func(_ graph.CollType, _ string, n int, bytes int64) (int64, bool) { return 1234567, bytes > 0 }}
	texts := recordWith(t, g, p, opt, 1e6, units.Never, nil)
	opt.Dir, opt.Format = t.TempDir(), Parquet
	binary := recordWith(t, g, p, opt, 1e6, units.Never, nil)
	tables := 0
	for _, r := range Records() {
		if r.Columns == nil {
			continue
		}
		tables++
		name := "test-" + r.Name + "-0"
		if _, ok := binary[name+".parquet"]; !ok {
			t.Errorf("no %s.parquet", name)
			continue
		}
		want, err := csv.NewReader(strings.NewReader(texts[name+".csv"])).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range want[1:] {
			for i, c := range r.Columns {
				if v, err := strconv.ParseFloat(row[i], 64); err == nil && (c.Type == Decimal || c.Type == Ratio) {
					row[i] = strconv.FormatFloat(v, 'g', -1, 64)
				}
			}
		}
		if d := cmp.Diff(want, parquetText(t, filepath.Join(opt.Dir, name+".parquet"), r.Columns)); d != "" {
			t.Errorf("%s: %s", r.Name, d)
		}
	}
	if tables != 12 {
		t.Errorf("%d tables", tables)
	}
}

// Dates in any order are what package time prints of the same nanoseconds, truncated.
func TestDates(t *testing.T) {
	var d dates
	for _, ps := range []int64{0, 999, 1000, 123_456_789_999, 999_999_999_999, 1e12, 1e12 + 1, 5e11, 86_400e12 + 7e3, math.MaxInt64, 2e12 + 10e3} {
		want := time.Unix(0, 0).Add(time.Duration(ps / 1000)).UTC().Format("2006-01-02T15:04:05.000000000Z")
		if got := d.text(ps); got != want {
			t.Errorf("%d ps: %s, want %s", ps, got, want)
		}
	}
}

// RFC 4180 quotes commas, quotes and line ends, and nothing else.
func TestQuoted(t *testing.T) {
	for c := range 256 {
		s := "a" + string([]byte{byte(c)}) + "b"
		if got, want := quoted(s), strings.ContainsAny(s, ",\"\r\n"); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}
