package records

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// parquetSink writes a table as Parquet, compressed with zstd.
type parquetSink struct {
	w       *parquet.GenericWriter[any]
	columns []Column
	values  []parquet.Value
	digits  []byte
}

// rowsPerGroup bounds what the writer of a table keeps in memory.
const rowsPerGroup = 1 << 16

// parquetType is the Go type of a column's values.
func parquetType(t Type) reflect.Type {
	switch t {
	case Text:
		return reflect.TypeFor[string]()
	case Integer:
		return reflect.TypeFor[int64]()
	case Unsigned:
		return reflect.TypeFor[uint64]()
	case Bool:
		return reflect.TypeFor[bool]()
	}
	return reflect.TypeFor[float64]()
}

// parquetSchema keeps the order of the columns, as a struct does and a parquet.Group
// does not.
func parquetSchema(name string, columns []Column) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		tag := c.Name + ",zstd"
		if c.Type == Ratio {
			tag += ",optional"
		}
		if c.Type == Text {
			tag += ",dict"
		}
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: parquetType(c.Type), Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", tag))}
	}
	model := reflect.New(reflect.StructOf(fields)).Interface()
	return parquet.NewSchema(name, parquet.SchemaOf(model))
}

func newParquet(out *output, record string, columns []Column) *parquetSink {
	w := parquet.NewGenericWriter[any](out.w, parquetSchema(record, columns), parquet.MaxRowsPerRowGroup(rowsPerGroup), parquet.CreatedBy("hybrid", "", ""))
	return &parquetSink{w: w, columns: columns, values: make([]parquet.Value, len(columns))}
}

func (s *parquetSink) row(cells []cell) error {
	for i := range cells {
		s.values[i] = s.value(s.columns[i].Type, &cells[i], i)
	}
	_, err := s.w.WriteRows([]parquet.Row{s.values[:len(cells)]})
	return err
}

// value converts a cell; a decimal becomes the double that is nearest to what CSV has.
func (s *parquetSink) value(t Type, c *cell, column int) parquet.Value {
	level := 0
	var v parquet.Value
	switch t {
	case Text:
		v = parquet.ByteArrayValue([]byte(c.text))
	case Integer, Unsigned:
		v = parquet.Int64Value(c.n)
	case Bool:
		v = parquet.BooleanValue(c.n != 0)
	case Ratio:
		if c.none {
			return parquet.NullValue().Level(0, 0, column)
		}
		level = 1
		fallthrough
	default:
		s.digits = appendDecimal(s.digits[:0], c.n, c.scale)
		d, err := strconv.ParseFloat(string(s.digits), 64)
		if err != nil {
			return parquet.DoubleValue(0).Level(0, level, column)
		}
		v = parquet.DoubleValue(d)
	}
	return v.Level(0, level, column)
}

func (s *parquetSink) close() error { return s.w.Close() }
