package dsel

import (
	"slices"
	"sync"
)

// verbs are the operations that a statement may start with.
func verbs() []string {
	return []string{"compute", "delay", "load", "store", "mark", "send", "isend", "recv", "irecv", "sendrecv", "transfer", "exchange", "halo",
		"barrier", "bcast", "reduce", "allreduce", "gather", "allgather", "scatter", "reducescatter", "alltoall", "alltoallv"}
}

// blockWords start the statements that are no operations.
func blockWords() []string {
	return []string{"let", "if", "repeat", "for", "on", "par", "seq", "region", "wait", "waitall", "require", "async"}
}

// startsStatement reports whether a statement may start with the word.
func startsStatement(s string) bool {
	return slices.Contains(verbs(), s) || slices.Contains(blockWords(), s)
}

const statementEnds = ": a statement ends at the end of the line or at ';'"

// declWords start declarations.
func declWords() []string {
	return []string{"blueprint", "include", "param", "let", "fn", "ranks", "require", "grid", "group", "stream", "kernel", "def", "inject",
		"target", "expect", "meta", "program"}
}

// clauseWords end an expression outside brackets.
func clauseWords() []string {
	return []string{"to", "from", "tag", "over", "algo", "root", "after", "name", "bytes", "flops", "work", "per", "cores", "precision", "with",
		"rsize", "rtag", "each", "proto", "ecm", "source", "define", "kernel", "stream", "on", "for", "as", "doc", "range", "oneof", "order",
		"by", "of", "when", "seed"}
}

// stopWords is clauseWords as a set.
var stopWords = sync.OnceValue(func() map[string]bool { return setOf(clauseWords()) })

// reserved holds every word that a declaration must not use as a name.
var reserved = sync.OnceValue(func() map[string]bool {
	words := slices.Concat(verbs(), blockWords(), declWords(), clauseWords(),
		[]string{"version", "axes", "periodic", "machine", "network", "mapping", "program", "in", "else", "any", "all", "none", "one", "async",
			"noise", "array", "layout",
			"int", "float", "bool", "string", "time", "rate",
			"and", "or", "not", "matches", "contains", "startsWith", "endsWith", "true", "false", "nil",
			"rank", "ranks", "norank", "world", "peer", "makespan"},
		exprBuiltins(), builtinNames())
	return setOf(words)
})

// verbSet is verbs as a set.
var verbSet = sync.OnceValue(func() map[string]bool { return setOf(verbs()) })

// opClauses are the words that start a clause of an operation.
var opClauses = sync.OnceValue(func() map[string]bool {
	m := setOf([]string{"after", "over", "name", "each", "algo", "stream", "on", "precision", "proto", "kernel", "source", "ecm"})
	for w := range valueWords() {
		m[w] = true
	}
	return m
})

// valueWords are the clause words that a value follows.
var valueWords = sync.OnceValue(func() map[string]bool {
	return setOf([]string{"to", "from", "tag", "root", "bytes", "flops", "work", "cores", "for", "with", "rsize", "rtag", "per"})
})

func setOf(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
