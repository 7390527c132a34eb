package yamldoc

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// Decode fills the struct that into points to from a mapping, as the struct's tags
// direct (see [Field]). Every finding goes to list; a field whose value is wrong
// keeps its default. A nil or empty node gives all defaults. Decode panics if a
// struct's tags are malformed, which is the program's fault, never the input's.
func Decode(node *Node, into any, list *diag.List) {
	DecodeAt(node, keyOf(node), into, list)
}

// DecodeAt is [Decode] for a node whose key does not say where it stands: path names
// it in messages.
func DecodeAt(node *Node, path string, into any, list *diag.List) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("yamldoc: Decode into %T, not a pointer to a struct", into))
	}
	d := decoder{list: list}
	d.structure(node, v.Elem(), path)
}

type decoder struct {
	list *diag.List
}

func (d *decoder) structure(n *Node, v reflect.Value, path string) {
	params := paramsOf(v.Type())
	for _, p := range params {
		d.defaultOf(v.FieldByIndex(p.index), p)
	}
	if n == nil || n.Kind == Null {
		n = &Node{Kind: Mapping, Pos: posOf(n), Key: keyOf(n)}
	}
	if n.Kind == Scalar {
		n = shorthand(n, params)
	}
	if n.Kind != Mapping {
		d.list.Errorf("E806", n.Pos, "%s is %s; a mapping is expected", label(path), n.Kind).
			Note("its keys are %s", strings.Join(names(params), ", "))
		return
	}
	d.entries(n, v, params, path)
	for _, p := range params {
		if p.required && n.Get(p.name) == nil {
			d.list.Errorf("E805", n.Pos, "%s is missing in %s", strconv.Quote(p.name), label(path)).Note("%s", p.doc)
		}
	}
}

// shorthand turns a bare value into a mapping with the struct's short key.
func shorthand(n *Node, params []param) *Node {
	for _, p := range params {
		if p.short {
			e := *n
			e.Key, e.KeyPos = p.name, n.Pos
			return &Node{Key: n.Key, KeyPos: n.KeyPos, Pos: n.Pos, Kind: Mapping, Items: []*Node{&e}}
		}
	}
	return n
}

func (d *decoder) entries(n *Node, v reflect.Value, params []param, path string) {
	rest := slices.IndexFunc(params, func(p param) bool { return p.rest })
	var left []*Node
	for _, e := range n.Items {
		i := slices.IndexFunc(params, func(p param) bool { return !p.rest && p.name == e.Key })
		switch {
		case i >= 0:
			d.value(e, v.FieldByIndex(params[i].index), params[i], join(path, e.Key))
		case rest >= 0:
			left = append(left, e)
		default:
			d.unknown(e, path, slices.Concat(n.Beside, names(params)))
		}
	}
	if rest >= 0 {
		r := *n
		r.Items, r.Beside = left, names(params)
		v.FieldByIndex(params[rest].index).Set(reflect.ValueOf(&r))
	}
}

func (d *decoder) unknown(e *Node, path string, known []string) {
	f := d.list.Errorf("E804", e.KeyPos, "unknown key %q in %s%s", e.Key, label(path), diag.DidYouMean(e.Key, known))
	if diag.Suggest(e.Key, known) == "" {
		f.Note("its keys are %s", strings.Join(known, ", "))
	}
}

// value decodes one entry. An empty value counts as absent.
func (d *decoder) value(n *Node, v reflect.Value, p param, path string) {
	t := v.Type()
	if t.Kind() == reflect.Pointer && t.Elem() == nodeType {
		v.Set(reflect.ValueOf(n))
		return
	}
	if n.Kind == Null && !isStruct(t) {
		if p.required {
			d.list.Errorf("E805", n.Pos, "%s has no value", path).Note("%s", p.doc)
		}
		return
	}
	switch {
	case t.Kind() == reflect.Pointer:
		e := reflect.New(t.Elem())
		before := d.list.CountOf(diag.Error)
		d.value(n, e.Elem(), p, path)
		if isStruct(t.Elem()) || d.list.CountOf(diag.Error) == before {
			v.Set(e)
		}
	case isStruct(t):
		d.structure(n, v, path)
	case t.Kind() == reflect.Slice:
		d.slice(n, v, p, path)
	case t.Kind() == reflect.Map:
		d.mapping(n, v, p, path)
	default:
		d.scalar(n, v, p, path)
	}
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != ratType && t != nodeType
}

func (d *decoder) slice(n *Node, v reflect.Value, p param, path string) {
	if n.Kind != Sequence {
		d.list.Errorf("E806", n.Pos, "%s is %s; a list is expected", path, n.Kind)
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, e := range n.Items {
		d.value(e, s.Index(i), p, fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(s)
}

func (d *decoder) mapping(n *Node, v reflect.Value, p param, path string) {
	if n.Kind != Mapping {
		d.list.Errorf("E806", n.Pos, "%s is %s; a mapping is expected", path, n.Kind)
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.Items))
	for _, e := range n.Items {
		x := reflect.New(v.Type().Elem()).Elem()
		d.value(e, x, p, join(path, e.Key))
		m.SetMapIndex(reflect.ValueOf(e.Key), x)
	}
	v.Set(m)
}

func (d *decoder) scalar(n *Node, v reflect.Value, p param, path string) {
	if n.Kind != Scalar {
		d.list.Errorf("E806", n.Pos, "%s is %s; %s is expected", path, n.Kind, p.wants())
		return
	}
	code, message := assign(v, n, p)
	if message != "" {
		d.list.Errorf(code, n.Pos, "%s: %s", path, message)
	}
}

func (p param) wants() string {
	dim, _ := dimensionOf(p.unit)
	if p.unit != "" {
		return fmt.Sprintf("a %s such as %s", p.unitWord(), example(p.unit, dim))
	}
	if len(p.oneOf) > 0 {
		return "one of " + strings.Join(p.oneOf, ", ")
	}
	t, _ := stripped(p.typ)
	return map[string]string{"string": "a text", "bool": "true or false", "integer": "a whole number",
		"number": "a number"}[typeName(t, "")]
}

func (p param) unitWord() string {
	switch p.unit {
	case "perbyte":
		return "time per byte"
	case "cy/CL":
		return "number of cycles per cache line"
	}
	dim, _ := dimensionOf(p.unit)
	return dim.String()
}

func example(unit string, dim units.Dimension) string {
	switch unit {
	case "perbyte":
		return "0.08ns/B"
	case "cy/CL":
		return "4.1cy/CL"
	}
	return dim.Example()
}

// assign reads a scalar into v. It returns the code and message of what is wrong.
func assign(v reflect.Value, n *Node, p param) (code, message string) {
	switch k := v.Kind(); {
	case v.Type() == ratType:
		return assignRat(v, n.Text, p)
	case k == reflect.String:
		if len(p.oneOf) > 0 && !slices.Contains(p.oneOf, n.Text) {
			return "E809", fmt.Sprintf("%q is not one of %s%s", n.Text, strings.Join(p.oneOf, ", "), diag.DidYouMean(n.Text, p.oneOf))
		}
		v.SetString(n.Text)
	case k == reflect.Bool:
		if n.Text != "true" && n.Text != "false" || n.Quoted {
			return "E806", fmt.Sprintf("%q is not true or false", n.Text)
		}
		v.SetBool(n.Text == "true")
	case k == reflect.Float64:
		return assignFloat(v, n.Text, p)
	case v.CanInt() || v.CanUint():
		return assignInt(v, n.Text, p)
	default:
		panic(fmt.Sprintf("yamldoc: field %s of type %s", p.name, v.Type()))
	}
	return "", ""
}

// quantity reads text in the parameter's unit and checks its range.
func quantity(text string, p param) (r units.Rat, code, message string) {
	dim, ok := dimensionOf(p.unit)
	if !ok {
		panic(fmt.Sprintf("yamldoc: unit %q of field %s", p.unit, p.name))
	}
	number, perLine := text, true
	if p.unit == "cy/CL" {
		number, perLine = strings.CutSuffix(text, "/CL")
	}
	r, got, err := units.Parse(number)
	switch {
	case !perLine:
		return r, "E807", fmt.Sprintf("%s is not in cycles per cache line; %s is expected", text, p.wants())
	case err != nil && dim == units.Plain:
		if _, no := strconv.ParseFloat(text, 64); no == nil {
			return r, "E808", fmt.Sprintf("%s is too large or too fine to be held exactly", text)
		}
		return r, "E806", fmt.Sprintf("%q is not a number", text)
	case err != nil:
		return r, "E807", fmt.Sprintf("%v; %s is expected", err, p.wants())
	case got == units.Plain && dim != units.Plain:
		return r, "E807", fmt.Sprintf("%s has no unit; %s is expected", text, p.wants())
	case got != dim && dim == units.Plain:
		return r, "E807", fmt.Sprintf("%s is a %s; a plain number is expected", text, got)
	case got != dim:
		return r, "E807", fmt.Sprintf("%s is a %s; %s is expected", text, got, p.wants())
	case p.unit == "rate" && r.Num <= 0:
		return r, "E808", fmt.Sprintf("%s is not a rate; %s is expected", text, p.wants())
	}
	b, err := parseRange(p.rng, p.unit)
	if err != nil {
		panic(fmt.Sprintf("yamldoc: field %s: %v", p.name, err))
	}
	if !b.holds(r) {
		return r, "E808", fmt.Sprintf("%s is out of range; it must be %s", text, b.words())
	}
	return r, "", ""
}

func assignRat(v reflect.Value, text string, p param) (code, message string) {
	r, code, message := quantity(text, p)
	if message == "" {
		v.Set(reflect.ValueOf(r))
	}
	return code, message
}

func assignInt(v reflect.Value, text string, p param) (code, message string) {
	r, code, message := quantity(text, p)
	switch {
	case message != "":
		return code, message
	case r.Den != 1 && p.unit == "time":
		return "E807", text + " is not a whole number of picoseconds"
	case r.Den != 1 && p.unit == "size":
		return "E807", text + " is not a whole number of bytes"
	case r.Den != 1:
		return "E806", text + " is not a whole number"
	case !fits(r.Num, v.Kind()):
		return "E808", text + " is too large"
	}
	if v.CanUint() {
		v.SetUint(uint64(r.Num))
	} else {
		v.SetInt(r.Num)
	}
	return "", ""
}

func assignFloat(v reflect.Value, text string, p param) (code, message string) {
	r, code, message := quantity(text, p)
	if message == "" {
		v.SetFloat(r.Float())
	}
	return code, message
}

// defaultOf sets a field to its default, or to the defaults of its fields.
func (d *decoder) defaultOf(v reflect.Value, p param) {
	if isStruct(v.Type()) {
		for _, q := range paramsOf(v.Type()) {
			d.defaultOf(v.FieldByIndex(q.index), q)
		}
	}
	if p.def == "" || isStruct(v.Type()) {
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if _, message := assign(v, &Node{Kind: Scalar, Text: p.def}, p); message != "" {
		panic(fmt.Sprintf("yamldoc: default of field %s: %s", p.name, message))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func label(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}

func posOf(n *Node) diag.Pos {
	if n == nil {
		return diag.Pos{}
	}
	return n.Pos
}

func keyOf(n *Node) string {
	if n == nil {
		return ""
	}
	return n.Key
}
