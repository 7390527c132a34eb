package records

import (
	"strconv"
	"strings"
)

// Type says what the cells of a column hold, and which type it has in Parquet.
type Type uint8

// Types of columns.
const (
	// Text is a string.
	Text Type = iota
	// Integer is an int64, Unsigned a uint64.
	Integer
	Unsigned
	// Decimal is a decimal fraction, in Parquet a double.
	Decimal
	// Ratio is a Decimal that may be missing: NA in CSV, null in Parquet.
	Ratio
	// Bool is true or false.
	Bool
)

// Column is one column of a record.
type Column struct {
	Name string
	Type Type
	// Doc says in a few words what it holds.
	Doc string
}

// cell is one value of a row: an integer, a bool as 0 or 1, a text, or n/10^scale.
type cell struct {
	n     int64
	scale uint8
	none  bool
	text  string
}

func text(s string) cell                               { return cell{text: s} }
func integer[T int | int32 | int64 | uint32](n T) cell { return cell{n: int64(n)} }
func unsigned(n uint64) cell                           { return cell{n: int64(n)} }
func decimal(n int64, scale uint8) cell                { return cell{n: n, scale: scale} }

// missing is the cell of a ratio that does not exist.
func missing() cell { return cell{none: true} }

func boolean(b bool) cell {
	if b {
		return cell{n: 1}
	}
	return cell{}
}

// seconds and micros are picoseconds in another unit.
func seconds(ps int64) cell { return decimal(ps, 12) }
func micros(ps int64) cell  { return decimal(ps, 6) }

// appendCell prints a cell as CSV has it.
func appendCell(b []byte, t Type, c *cell) []byte {
	switch {
	case t == Text:
		return appendText(b, c.text)
	case c.none:
		return append(b, "NA"...)
	case t == Integer:
		return strconv.AppendInt(b, c.n, 10)
	case t == Unsigned:
		return strconv.AppendUint(b, uint64(c.n), 10)
	case t == Bool:
		return strconv.AppendBool(b, c.n != 0)
	}
	return appendDecimal(b, c.n, c.scale)
}

// appendText quotes a text where RFC 4180 asks for it.
func appendText(b []byte, s string) []byte {
	if !quoted(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

// quoted says whether a text has a comma, a quote or an end of line.
func quoted(s string) bool {
	const special = 1<<',' | 1<<'"' | 1<<'\r' | 1<<'\n'
	for i := range len(s) {
		if c := s[i]; c < 64 && uint64(special)>>c&1 != 0 {
			return true
		}
	}
	return false
}

// appendDecimal prints n/10^scale exactly, without zeros at its end.
func appendDecimal(b []byte, n int64, scale uint8) []byte {
	if n < 0 {
		b = append(b, '-')
	}
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], magnitude(n), 10)
	whole := len(d) - int(scale)
	if whole <= 0 {
		b = append(b, '0')
	} else {
		b = append(b, d[:whole]...)
	}
	end := len(d)
	for end > 0 && end > whole && d[end-1] == '0' {
		end--
	}
	if end <= max(whole, 0) {
		return b
	}
	b = append(b, '.')
	for i := whole; i < 0; i++ {
		b = append(b, '0')
	}
	return append(b, d[max(whole, 0):end]...)
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// sink takes the rows of one table. The row is reused.
type sink interface {
	row(cells []cell) error
	close() error
}

// csvSink writes RFC 4180 with a header and line feeds.
type csvSink struct {
	out     *output
	columns []Column
	line    []byte
}

func newCSV(out *output, columns []Column) (*csvSink, error) {
	s := &csvSink{out: out, columns: columns}
	for i := range columns {
		if i > 0 {
			s.line = append(s.line, ',')
		}
		s.line = appendText(s.line, columns[i].Name)
	}
	return s, s.flush()
}

func (s *csvSink) row(cells []cell) error {
	s.line = s.line[:0]
	for i := range cells {
		if i > 0 {
			s.line = append(s.line, ',')
		}
		s.line = appendCell(s.line, s.columns[i].Type, &cells[i])
	}
	return s.flush()
}

func (s *csvSink) flush() error {
	s.line = append(s.line, '\n')
	_, err := s.out.w.Write(s.line)
	return err
}

func (s *csvSink) close() error { return nil }
