package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// The schema of network files has every key that the reference has, those of the engine
// among them.
func TestSchemaHasAllKeys(t *testing.T) {
	var schema any
	if err := json.Unmarshal(networkSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, p := range parameters() {
		path := strings.Split(strings.ReplaceAll(p.Path, "[]", ""), ".")
		if p.kind == "network" && !inSchema(schema, path) {
			t.Errorf("the schema lacks %s", p.Path)
		}
	}
	if inSchema(schema, []string{"fabric", "switch", "cut_befor"}) {
		t.Error("any key is in the schema")
	}
}

// inSchema says whether a path of keys leads anywhere.
func inSchema(schema any, path []string) bool {
	s, _ := schema.(map[string]any)
	if len(path) == 0 || s == nil {
		return s != nil
	}
	forms, _ := s["anyOf"].([]any)
	for _, form := range append(forms, s["items"]) {
		if inSchema(form, path) {
			return true
		}
	}
	properties, _ := s["properties"].(map[string]any)
	return inSchema(properties[path[0]], path[1:])
}
