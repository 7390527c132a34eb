package yamldoc

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"hybrid/internal/units"
)

// Field is what a struct tag says about one parameter. The tags are
//
//	yaml:"name[,required][,short][,rest]"   key; short: a bare value in place of the
//	                                        mapping sets this field; rest: a *Node that
//	                                        takes all keys no other field names
//	unit:"size|time|rate|perbyte|frequency|flops|cycles|cy/CL"   none: a plain number
//	default:"500ns"                         value where the key is missing
//	range:"0ns..1s"                         inclusive; either end may be left out
//	oneof:"a|b"                             the texts that are allowed
//	doc:"One sentence."
type Field struct {
	// Path is the keys joined by dots; list elements show as [], mapping entries of
	// free name as *.
	Path string
	// Type is string, bool, integer, number, quantity, list, mapping or section.
	Type                      string
	Unit, Default, Range, Doc string
	OneOf                     []string
	Required                  bool
}

// Fields returns the parameters that a struct's tags declare, in declaration
// order, with those of nested structs after their section.
func Fields(structValue any) []Field {
	t := reflect.TypeOf(structValue)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	return appendFields(nil, t, "", 0)
}

func appendFields(out []Field, t reflect.Type, prefix string, depth int) []Field {
	if depth > 16 {
		return out
	}
	for _, p := range paramsOf(t) {
		if p.rest {
			continue
		}
		path := prefix + p.name
		out = append(out, Field{Path: path, Type: typeName(p.typ, p.unit), Unit: p.unit, Default: p.def,
			Range: p.rng, Doc: p.doc, OneOf: p.oneOf, Required: p.required})
		inner, suffix := stripped(p.typ)
		if inner.Kind() == reflect.Struct && inner != ratType && inner != nodeType {
			out = appendFields(out, inner, path+suffix+".", depth+1)
		}
	}
	return out
}

// stripped strips pointers, slices and maps from a type.
func stripped(t reflect.Type) (inner reflect.Type, suffix string) {
	for {
		switch t.Kind() {
		case reflect.Pointer:
		case reflect.Slice:
			suffix += "[]"
		case reflect.Map:
			suffix += ".*"
		default:
			return t, suffix
		}
		t = t.Elem()
	}
}

var (
	ratType  = reflect.TypeFor[units.Rat]()
	nodeType = reflect.TypeFor[Node]()
)

// param is one field of a struct with its tags taken apart.
type param struct {
	name, unit, def, rng, doc string
	oneOf                     []string
	required, short, rest     bool
	index                     []int
	typ                       reflect.Type
}

// paramsOf lists a struct's parameters; embedded structs without a key are inlined.
func paramsOf(t reflect.Type) []param {
	var out []param
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("yaml")
		if !ok && f.Anonymous && f.Type.Kind() == reflect.Struct {
			for _, p := range paramsOf(f.Type) {
				p.index = append([]int{i}, p.index...)
				out = append(out, p)
			}
			continue
		}
		if !ok || tag == "-" {
			continue
		}
		out = append(out, newParam(f, tag, i))
	}
	return out
}

func newParam(f reflect.StructField, tag string, index int) param {
	name, options, _ := strings.Cut(tag, ",")
	p := param{name: name, index: []int{index}, typ: f.Type,
		unit: f.Tag.Get("unit"), def: f.Tag.Get("default"), rng: f.Tag.Get("range"), doc: f.Tag.Get("doc"),
		required: f.Tag.Get("required") == "true"}
	if s := f.Tag.Get("oneof"); s != "" {
		p.oneOf = strings.Split(s, "|")
	}
	for o := range strings.SplitSeq(options, ",") {
		switch o {
		case "required":
			p.required = true
		case "short":
			p.short = true
		case "rest":
			p.rest = true
		}
	}
	return p
}

func names(params []param) []string {
	var out []string
	for _, p := range params {
		if !p.rest {
			out = append(out, p.name)
		}
	}
	return out
}

func typeName(t reflect.Type, unit string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nodeType:
		return "section"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Map:
		return "mapping"
	case unit != "":
		return "quantity"
	case t == ratType, t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Struct:
		return "mapping"
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "bool"
	}
	return "integer"
}

// dimensionOf maps a unit tag to the dimension of package units.
func dimensionOf(unit string) (units.Dimension, bool) {
	switch unit {
	case "":
		return units.Plain, true
	case "size":
		return units.Size, true
	case "time":
		return units.Duration, true
	case "rate", "perbyte":
		return units.PerByte, true
	case "frequency":
		return units.Frequency, true
	case "flops":
		return units.Flops, true
	case "cycles", "cy/CL":
		return units.Cycles, true
	}
	return units.Plain, false
}

// bounds is an inclusive range; nil ends are open.
type bounds struct {
	low, high *units.Rat
	text      string
}

// parseRange reads a range tag. A rate's bounds become times of a byte, so that the
// ends change places.
func parseRange(text, unit string) (bounds, error) {
	b := bounds{text: text}
	if text == "" {
		return b, nil
	}
	low, high, ok := strings.Cut(text, "..")
	if !ok {
		return b, fmt.Errorf("range %q is not written low..high", text)
	}
	var err error
	if b.low, err = bound(low, unit); err != nil {
		return b, err
	}
	if b.high, err = bound(high, unit); err != nil {
		return b, err
	}
	if unit == "rate" {
		b.low, b.high = b.high, b.low
	}
	return b, nil
}

func bound(text, unit string) (*units.Rat, error) {
	if text == "" {
		return nil, nil
	}
	dim, _ := dimensionOf(unit)
	r, err := units.ParseAs(text, dim)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

func (b bounds) holds(r units.Rat) bool {
	return (b.low == nil || r.Cmp(*b.low) >= 0) && (b.high == nil || r.Cmp(*b.high) <= 0)
}

// words tells a reader what the range allows.
func (b bounds) words() string {
	low, high, _ := strings.Cut(b.text, "..")
	switch {
	case high == "":
		return "at least " + low
	case low == "":
		return "at most " + high
	}
	return "from " + low + " to " + high
}

// fits reports whether n can be held by an integer type.
func fits(n int64, k reflect.Kind) bool {
	switch k {
	case reflect.Int32:
		return n >= math.MinInt32 && n <= math.MaxInt32
	case reflect.Int16:
		return n >= math.MinInt16 && n <= math.MaxInt16
	case reflect.Int8:
		return n >= math.MinInt8 && n <= math.MaxInt8
	case reflect.Uint8:
		return n >= 0 && n <= math.MaxUint8
	case reflect.Uint16:
		return n >= 0 && n <= math.MaxUint16
	case reflect.Uint32:
		return n >= 0 && n <= math.MaxUint32
	case reflect.Uint, reflect.Uint64:
		return n >= 0
	}
	return true
}
