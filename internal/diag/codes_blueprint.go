package diag

// blueprintCodes are the findings of the blueprint language: E1xx lexical, E2xx
// grammar and values, E3xx ranks, grids and groups, W6xx likely mistakes.
func blueprintCodes() []Code {
	return append(append(lexicalCodes(), grammarCodes()...), append(valueCodes(), rankCodes()...)...)
}

func lexicalCodes() []Code {
	return []Code{
		{"E101", "unknown unit",
			"A number is followed directly by letters that are no unit. Units are exact: kB is 1000 bytes and KiB is 1024, Gbps counts bits and GB/s bytes. What could mean two things, such as 64k or 4Mb, is refused.",
			"send 64k to 1            // write 64kB or 64KiB"},
		{"E102", "string not closed", "A string ends on the line where it starts.", `region "halo { }`},
		{"E103", "comment not closed", "A comment that starts with /* ends with */. Such comments do not nest.", "/* a comment without an end"},
		{"E104", "stray character", "The character has no meaning here. Comments start with //, labels with @ and a name, and a backslash joins lines only at the end of a line.", "ranks 4 $"},
		{"E105", "not UTF-8", "Blueprints are UTF-8 text.", "a file saved in Latin-1 with accents in its strings"},
		{"E106", "number out of range", "A number must fit in 64 bits, a quantity in base units (bytes, picoseconds) likewise.", "param n = 99999999999999999999"},
		{"E107", "faulty escape", "A backslash in a string starts an escape: \\\" for a quote, \\\\ for a backslash, \\n, \\t.", `region "a\q" { }`},
		{"E109", "blueprint too long", "A blueprint is at most 16 MiB of text. Loops and parameters say the same in less.", "a generated file with every iteration written out"},
	}
}

func grammarCodes() []Code {
	return []Code{
		{"E201", "syntax error",
			"The text does not fit the grammar at this point. A statement is one line: [@label] [async] verb [operand] {clause}. Each faulty statement is reported by itself; the others are still checked.",
			"sendd 8B to 1            // did you mean send?"},
		{"E202", "bracket or block not closed", "The bracket or brace at this place has no counterpart.", "program {\n  compute 1us"},
		{"E203", "nested too deep", "Blocks and expressions nest at most 200 deep.", "200 opening brackets in a row"},
		{"E204", "too large",
			"An expression, a list or a rank's program grows beyond its limit. Loops are not unrolled, so long runs are never the cause; expanded functions, calls of defs in calls of defs, and lists that are built are.",
			"let xs = map(0..9_999_999, # * 2)"},
		{"E205", "not supported yet", "The language describes this, but the program cannot do it yet. Nothing is ignored silently.", `compute source "kernel.c"`},
		{"E206", "missing declaration", "A blueprint needs a number of ranks (or a grid that implies it) and a program block.", "program { }              // how many ranks?"},
		{"E207", "faulty include", "The included file cannot be read, includes itself, or holds more than declarations.", `include "missing.hbp"`},
		{"E208", "not constant", "The value must be the same on every rank and in every iteration, because it is needed before the program runs.", "ranks 4 + rank"},
		{"E209", "unknown language version", "The header names a version that this program does not read.", `blueprint "x" version 7`},
		{"E210", "unknown name", "No name like this is declared, or it is of another sort: a function is called, a grid has axes, a kernel follows compute kernel. The nearest spelling is suggested.", "compute tiem             // did you mean time?"},
		{"E211", "defined by itself", "A let, fn or def needs its own value. There is no recursion; loops repeat.", "let a = b + 1\nlet b = a + 1"},
		{"E212", "declared twice or reserved", "Each name is declared once, and the words of the language cannot be names.", "param send = 3"},
		{"E213", "wrong number of arguments", "A function, def or kernel gets as many arguments as it has parameters.", "fn f(a, b) = a + b\nlet x = f(1)"},
		{"E214", "label cannot be resolved",
			"A label names the operation before it in the same loop body, else one in a loop further in if only one loop there has it. Labels of several loops with the same name, or one that comes later, are not meant by guessing.",
			"wait @a\n@a async send 8B to 1"},
		{"E299", "fault of this program", "The lowering made a graph that breaks its own rules. Please report it with the blueprint.", ""},
	}
}

func valueCodes() []Code {
	return []Code{
		{"E220", "wrong dimension or type",
			"Quantities carry their dimension through every operation: bytes, time, flop, cycles. What is added or compared must agree, and each operand demands its own.",
			"let t = 8B + 1us"},
		{"E221", "not a whole number", "Sizes, ranks, tags, counts and indexes are whole. '/' divides exactly; div(a, b) rounds down, ceil(..) up.", "send 100B / 3 to 1"},
		{"E222", "value out of range", "A size, time or count is negative, not a number, infinite, or does not fit in 64 bits; or something is divided by zero.", "compute 1us / (rank - rank)"},
		{"E230", "parameter cannot take this value", "A value given with -D or in a parameters file, or the default itself, has another type than declared, lies outside of the declared range, or names no parameter.", "param msg: bytes = 8B range 0B, 1MiB   // with -D msg=25us"},
		{"E231", "requirement does not hold", "A require declaration states what must be true of the parameters; it is not.", `require layers % pp == 0, "pp must divide layers"`},
		{"E240", "clause missing, given twice, or not allowed", "Each verb takes its own clauses, each at most once.", "send 8B over world        // over goes with collectives"},
		{"E241", "transfer that differs between ranks",
			"A transfer is a global statement: every rank executes it and takes the part that it names. Its ends must therefore be the same on every rank. What each rank does with its neighbours is sendrecv, exchange or halo.",
			"transfer 8B from rank to rank + 1"},
	}
}

func rankCodes() []Code {
	return []Code{
		{"E301", "rank out of range",
			"A partner or root is outside of the ranks. For a ring use mod(rank - 1, ranks), whose result is never negative; for the edge of a grid use shift(), which gives norank, and an operation whose partner is norank is left out.",
			"recv 8B from rank - 1     // on rank 0"},
		{"E302", "grid or group does not fit",
			"The product of a grid's axes is not the number of ranks, a group has a member out of range or twice, or a rank calls a collective of a group to which it does not belong.",
			"ranks 6\ngrid G axes y = 2, x = 2"},
		{"W601", "declared but not used", "A parameter, let, fn, def, grid, group, stream, kernel or label that nothing refers to: often a misspelt use.", "let face = 8B * n         // and no statement mentions face"},
		{"W602", "nothing is touched", "An injection selects no operation, or a block is repeated 0 times.", `inject delay 5ms of "sweeep"`},
		{"W605", "name hidden", "An inner let or loop variable has the name of an outer one, which cannot be reached in the block.", "param n = 4\nprogram { for n in 0..3 { } }"},
	}
}
