// Package yamldoc reads YAML into a tree that remembers where everything was
// written, and decodes parts of that tree into structs whose tags declare every
// parameter once: its name, unit, default, range and one sentence.
//
// Invariants:
//
//  1. Every node knows its place. A finding about a value points at the value, one
//     about a key at the key, one about something missing at the mapping around it.
//  2. All findings of a document are reported together; nothing panics and nothing
//     runs away: depth, size and the number of expanded aliases are bounded.
//  3. Key order is kept. A key stands once in a mapping; a second one is an error.
//  4. What a struct tag says is all there is to know about a parameter: decoding,
//     validation, [Fields] and [Schema] read the same tags.
//  5. Quantities carry units and are exact (package units); a bare number where a
//     unit is possible is an error.
package yamldoc
