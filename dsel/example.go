package dsel

import _ "embed"

//go:embed example.hbp
var exampleSource string

// Example returns the name and the text of a small blueprint that runs without
// any parameter and on which closed forms and packets disagree.
func Example() (name string, src []byte) { return "example.hbp", []byte(exampleSource) }
