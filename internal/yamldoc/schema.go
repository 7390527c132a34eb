package yamldoc

import (
	"encoding/json"
	"reflect"
	"strings"

	"hybrid/internal/units"
)

// Schema returns the JSON Schema (draft 2020-12) of a struct's tags as nested
// maps, ready for encoding/json. Ranges of quantities stand in the description:
// JSON Schema cannot compare 1us with 500ns.
func Schema(root any) map[string]any {
	t := reflect.TypeOf(root)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return structSchema(t)
}

// SchemaDocument returns a whole schema document as indented JSON.
func SchemaDocument(title string, schema map[string]any) []byte {
	doc := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
	for k, v := range schema {
		doc[k] = v
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("yamldoc: schema is not JSON: " + err.Error())
	}
	return append(out, '\n')
}

func structSchema(t reflect.Type) map[string]any {
	properties := map[string]any{}
	required := []string{}
	var short map[string]any
	open := false
	for _, p := range paramsOf(t) {
		if p.rest {
			open = true
			continue
		}
		s := paramSchema(p)
		properties[p.name] = s
		if p.required {
			required = append(required, p.name)
		}
		if p.short {
			short = s
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": open}
	if len(required) > 0 {
		out["required"] = required
	}
	if short != nil {
		return map[string]any{"anyOf": []any{out, short}}
	}
	return out
}

func paramSchema(p param) map[string]any {
	s := typeSchema(p.typ, p)
	if d := description(p); d != "" {
		s["description"] = d
	}
	if p.def != "" {
		s["default"] = schemaDefault(p)
	}
	return s
}

func description(p param) string {
	d := p.doc
	if p.rng != "" {
		d = strings.TrimSpace(d + " (range " + p.rng + ")")
	}
	return d
}

func schemaDefault(p param) any {
	t, _ := stripped(p.typ)
	switch typeName(t, p.unit) {
	case "integer", "number":
		return json.Number(p.def)
	case "bool":
		return p.def == "true"
	}
	return p.def
}

func typeSchema(t reflect.Type, p param) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return typeSchema(t.Elem(), p)
	case t == nodeType:
		return map[string]any{}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem(), p)}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": typeSchema(t.Elem(), p)}
	case isStruct(t):
		return structSchema(t)
	}
	return scalarSchema(t, p)
}

func scalarSchema(t reflect.Type, p param) map[string]any {
	switch typeName(t, p.unit) {
	case "quantity":
		dim, _ := dimensionOf(p.unit)
		return map[string]any{"type": "string", "pattern": pattern(p.unit), "examples": []string{example(p.unit, dim)}}
	case "bool":
		return map[string]any{"type": "boolean"}
	case "number":
		return withRange(map[string]any{"type": "number"}, p)
	case "integer":
		return withRange(map[string]any{"type": "integer"}, p)
	}
	if len(p.oneOf) > 0 {
		return map[string]any{"enum": p.oneOf}
	}
	return map[string]any{"type": "string"}
}

func withRange(s map[string]any, p param) map[string]any {
	b, err := parseRange(p.rng, "")
	if err != nil {
		return s
	}
	for key, end := range map[string]*units.Rat{"minimum": b.low, "maximum": b.high} {
		if end != nil {
			s[key] = end.Float()
		}
	}
	return s
}

// pattern is the regular expression of a quantity's text.
func pattern(unit string) string {
	suffix := map[string]string{
		"size":      "([kKMGTP]i?)?B",
		"time":      "(ps|ns|us|µs|ms|s|min|h)",
		"rate":      "([kMGTP]?bps|([kKMGTP]i?)?B/s)",
		"perbyte":   "((ps|ns|us|µs|ms|s)/B|[kMGTP]?bps|([kKMGTP]i?)?B/s)",
		"frequency": "[kMGTP]?Hz",
		"flops":     "[kMGTP]?flop/s",
		"cycles":    "cy",
		"cy/CL":     "cy/CL",
	}[unit]
	return `^[+-]?[0-9][0-9._]*([eE][+-]?[0-9]+)? ?` + suffix + "$"
}
