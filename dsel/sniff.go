package dsel

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// Sniff reports whether text looks like a blueprint: its first word is a
// declaration's, and no colon follows it as in YAML.
func Sniff(text []byte) bool {
	s := &scanner{src: string(text[:min(len(text), 64<<10)]), pos: lexer.Position{Line: 1, Column: 1}, list: &findings{}}
	for s.src != "" && len(s.tokens) < 4 && !s.list.full() {
		s.step()
	}
	tokens := s.tokens
	for len(tokens) > 0 && tokens[0].Type == tokNL {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 || tokens[0].Type != tokIdent || !slices.Contains(declWords(), tokens[0].Value) {
		return false
	}
	return len(tokens) == 1 || !isOp(&tokens[1], ":")
}
