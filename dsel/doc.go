// Package dsel is the blueprint language: it reads the description of a
// distributed program (.hbp) and lowers it to the operation graph.
//
// The stages are files of their own: lexer (lexer.go, unit.go), grammar (ast.go,
// read by participle one statement at a time in parse.go), expressions (parsed by
// expr; compile*.go types them and turns them into native closures, vm.go hands
// the rest to expr's virtual machine), declarations (declare*.go), the static check
// (check*.go) and the lowering (lower*.go).
//
// Invariants:
//
//  1. Input never makes the package panic or hang: sizes, nesting, expression and
//     program growth are bounded, and every fault is a positioned finding.
//  2. A quantity is a number in base units (byte, picosecond, flop, cycle) and an
//     exponent of each; adding or comparing different exponents is an error. A size
//     or rank that is not whole is an error, a time is rounded to a picosecond.
//  3. An expression is compiled once for each context in which its statement
//     stands (the chain of loops and calls around it). What does not change from
//     iteration to iteration is evaluated while lowering; what does becomes one
//     graph.Expr, the same pointer on every rank, so that ranks share programs.
//  4. Loops are not unrolled. The size of the graph follows the text, not the trip
//     counts.
//  5. Lowering a rank depends on nothing but the text, the parameters and the
//     rank: same input, same graph.
package dsel
