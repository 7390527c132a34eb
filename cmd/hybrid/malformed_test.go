package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goodNetwork is a network file that the rows of TestMalformed spoil.
const goodNetwork = `name: net
summary: One level.
source: Invented for a test.
levels:
  inter_node:
    eager_limit: 64KiB
    hockney: {latency: 1us, bandwidth: 10GB/s}
    loggp: {L: 0.8us, o: 0.1us, g: 0ns, G: 0.1ns/B, O: 0ns/B}
topology: direct
fabric:
  link: {rate: 80Gbps, delay: 500ns}
  wire: none
nic: {transport: ideal}
`

// bomb is a YAML document of a few lines with 9^13 values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a [x, x, x, x, x, x, x, x, x]\n")
	for c := 'b'; c <= 'm'; c++ {
		p := "*" + string(c-1)
		b.WriteString(string(c) + ": &" + string(c) + " [" + strings.Repeat(p+", ", 8) + p + "]\n")
	}
	return b.String()
}

// malformed is an input that cannot be run: as a blueprint, as a network file, or as
// further arguments. want is a pattern that standard error must match.
type malformed struct {
	name, blueprint, network string
	args                     []string
	status                   int
	want                     string
}

const fine = "blueprint \"fine\"\nparam n: int = 2 range 1, 8\nranks n\nprogram { compute 1us }\n"

func badBlueprints() []malformed {
	deep := strings.Repeat("{ repeat 2 ", 5000)
	rows := [][3]string{
		{"garbage", "\x7f\x01\x80\xff\x00 garbage \x00\x00", `w\.hbp:1: error: a blueprint is UTF-8 text, but byte 2 is 0x80`},
		{"zero byte", "ranks 2\nprogram { compute 1us }\n\x00", `w\.hbp:3: error: a blueprint is UTF-8 text, but byte 32 is 0x00`},
		{"broken text", "ranks 2\nprogram { compute 1us name \"\xff\" }\n", `w\.hbp:2: error: .* \[E902\]`},
		{"empty", "", `w\.hbp: error: the file is empty \[E902\]`},
		{"only a comment", "// nothing\n", `the blueprint has no program \{ \.\.\. \} block \[E206\]`},
		{"no program", "ranks 2\n", `\[E206\]`},
		{"20 MB", fine + "// " + strings.Repeat("x", 20<<20), `w\.hbp: error: .* more than 16777216 bytes \[E901\]`},
		{"deep blocks", "ranks 2\nprogram " + deep, `w\.hbp:2:9: error: the block opened here is not closed \[E202\]`},
		{"deep and closed", "ranks 2\nprogram " + strings.Repeat("{ repeat 2 ", 5000) + "{ compute 1us " + strings.Repeat("}", 5001) + "\n", `w\.hbp:2:[0-9]+: error: .*(deep|nested)`},
		{"deep brackets", "ranks " + strings.Repeat("(", 50000) + "2" + strings.Repeat(")", 50000) + "\nprogram {}\n", `\[E203\]`},
		{"deep signs", "ranks " + strings.Repeat("-", 50000) + "2\nprogram {}\n", `\[E203\]`},
		{"unclosed string", "ranks 2\nprogram { compute 1us name \"a }\n", `w\.hbp:2:28: error: the string is not closed`},
		{"unclosed comment", "ranks 2 /* program { }\n", `w\.hbp:1:9: error: the comment opened here is not closed`},
		{"unit", "ranks 2\nprogram { transfer 64k from 0 to 1 }\n", `unknown unit "k" in 64k: write 64kB \(64,000 B\) or 64KiB \(65,536 B\) \[E101\]`},
		{"dimension", "ranks 2\nprogram { compute 1us + 3B }\n", `\[E220\]`},
		{"no ranks", "ranks 0\nprogram { compute 1us }\n", `w\.hbp:1:7: error: 0 ranks; the number of ranks must be in 1\.\.1048576 \[E302\]`},
		{"fraction of a rank", "ranks 2.5\nprogram { compute 1us }\n", `\[E221\]`},
		{"too many ranks", "ranks 2_000_000_000\nprogram { compute 1us }\n", `\[E302\]`},
		{"rank out of range", "ranks 4\nprogram {\n  send 8B to rank + 1\n  recv 8B from mod(rank - 1, 4)\n}\n", `w\.hbp:3:14: error: rank 4 computed on rank 3 is outside 0\.\.3 \[E301\]`},
		{"unknown name", "ranks 2\nprogram { compute nx * 1us }\n", `w\.hbp:2:19: error: unknown name "nx" \[E210\]`},
		{"unknown group", "ranks 2\nprogram { allreduce 8B over nobody }\n", `unknown group "nobody" \[E210\]`},
		{"cycle of labels", "ranks 2\nprogram {\n  @a compute 1us after @b\n  @b compute 1us after @a\n}\n", `w\.hbp:3:24: error: label @b is used before the operation that it names \[E214\]`},
		{"functions in a circle", "ranks 2\nfn f(x) = g(x)\nfn g(x) = f(x)\nprogram { compute f(1) * 1us }\n", `\[E211\]`},
		{"definitions in a circle", "ranks 2\ndef f() { f() }\nprogram { f() }\n", `\[E211\]`},
		{"includes itself", "include \"w.hbp\"\nranks 2\nprogram { compute 1us }\n", `w\.hbp:1:9: error: .*includes itself \[E207\]`},
		{"includes nothing", "include \"nosuch.hbp\"\nranks 2\nprogram { compute 1us }\n", `\[E207\]`},
		{"algorithm that does not fit", "ranks 6\nprogram { allreduce 8B algo halving_doubling }\n", `a group whose size is a power of two, not 6 \[E303\]`},
		{"unknown algorithm", "ranks 6\nprogram { allreduce 8B algo rign }\n", `no algorithm "rign" for allreduce; did you mean "ring"\? \[E406\]`},
		{"negative time", "ranks 2\nprogram { compute -1us }\n", `\[E222\]`},
		{"division by zero", "ranks 2\nprogram { compute 1us / 0 }\n", `\[E222\]`},
		{"overflow", "ranks 2\nprogram { compute 1h * 1e15 }\n", `does not fit in 64 bits \[E222\]`},
		{"negative tag", "ranks 2\nprogram { transfer 8B from 0 to 1 tag -1 }\n", `\[E222\]`},
		{"too long for its receive", "ranks 2\nprogram {\n on 0 { send 16B to 1 }\n on 1 { recv 8B from 0 }\n}\n", `w\.hbp:4:9: error: message of 16 B .* longer than its receive of 8 B`},
		{"nobody receives", "ranks 2\nprogram { on 0 { send 8B to 1 } }\n", `w\.hbp:2:18: error: rank 0 -> 1, tag 0: 1 send but no receive \[E401\]`},
		{"collective of one", "ranks 4\nprogram { if rank == 0 { allreduce 8B } }\n", `ranks 1, 2, 3 never reach it, rank 0 does \[E403\]`},
		{"different collectives", "ranks 4\nprogram { if rank == 0 { allreduce 8B } else { barrier } }\n", `\[E403\]`},
		{"deadlock", "ranks 2\nprogram {\n  recv 8B from 1 - rank\n  send 8B to 1 - rank\n}\n", `w\.hbp:3:3: error: deadlock: 0 waits in recv from 1, 1 in recv from 0 \[E501\]`},
		{"doubling definitions", "ranks 2\ndef d0() { compute 1us }\n" + doubling(30) + "program { d30() }\n", `would have more than 262144 operations \[E204\]`},
		{"long list", "ranks 2\nlet x = sum(map(0..100_000_000, # * 2))\nprogram { compute x * 1us }\n", `\[E204\]`},
		{"foreign grammar", "num_ranks 2\nrank 0 {\n}\n", `GOAL programs cannot be read yet \[E902\]`},
	}
	var out []malformed
	for _, r := range rows {
		out = append(out, malformed{name: r[0], blueprint: r[1], status: exitFailed, want: r[2]})
	}
	return out
}

// doubling defines d1 to dn, each of which calls the one before twice.
func doubling(n int) string {
	var b strings.Builder
	name := func(i int) string { return "d" + string(rune('0'+i/10)) + string(rune('0'+i%10)) }
	b.WriteString("def d00() { d0() }\n")
	for i := 1; i < n; i++ {
		b.WriteString("def " + name(i) + "() {\n" + name(i-1) + "()\n" + name(i-1) + "()\n}\n")
	}
	b.WriteString("def d" + "30() { " + name(n-1) + "() }\n")
	return b.String()
}

func badNetworks() []malformed {
	spoil := func(old, new string) string { return strings.Replace(goodNetwork, old, new, 1) }
	rows := [][3]string{
		{"unknown key", spoil("bandwidth", "bandwith"), `net\.yml:7:29: error: unknown key "bandwith" in inter_node\.hockney; did you mean "bandwidth"\? \[E804\]`},
		{"unit of a rate", spoil("10GB/s", "10GBps"), `net\.yml:7:40: error: .*unknown unit "GBps" in 10GBps: write 10GB/s or 10Gbps`},
		{"size for a rate", spoil("80Gbps", "80GiB"), `fabric\.link\.rate: 80GiB is a size; a rate such as 400Gbps is expected \[E807\]`},
		{"no unit", spoil("500ns", "500"), `fabric\.link\.delay: 500 has no unit; a time such as 1\.5us is expected \[E807\]`},
		{"negative", spoil("500ns", "-500ns"), `out of range; it must be at least 0ns \[E808\]`},
		{"zero rate", spoil("80Gbps", "0Gbps"), `\[E807\]`},
		{"huge rate", spoil("80Gbps", "99999999999999999999999Gbps"), `too large or too fine to be held exactly`},
		{"key twice", goodNetwork + "topology: star\n", `net\.yml:14:1: error: key "topology" stands twice in one mapping \[E802\]`},
		{"tab", spoil("  inter_node", "\tinter_node"), `net\.yml:5:1: error: not valid YAML`},
		{"list", "- a\n- b\n", `the document is a list; a mapping is expected \[E806\]`},
		{"text", "hello\n", `the document is a value; a mapping is expected \[E806\]`},
		{"nothing", "", `neither levels nor a fabric is described \[E816\]`},
		{"topology", spoil("direct", "fattree"), `unknown topology kind "fattree"; did you mean "fat-tree"\? \[E817\]`},
		{"too small", spoil("direct", "{kind: leaf-spine, leaves: 1, spines: 1, hosts_per_leaf: 1}"), `net\.yml:9:1: error: the topology has 1 host, but the run needs 2 \[E813\]`},
		{"algorithm", goodNetwork + "collectives: {allreduce: rng}\n", `net\.yml:14:26: error: allreduce has no algorithm "rng"; did you mean "ring"\? \[E406\]`},
		{"bomb", bomb(), `more than 200000 values after aliases are expanded \[E803\]`},
		{"alias of itself", "name: &a [*a]\n", `\[E801\]`},
		{"deep list", "name: " + strings.Repeat("[", 100_000) + "\n", `nested more than 64 levels deep \[E803\]`},
		{"binary", "name: \xff\xfe\n", `the file is not UTF-8 text \[E803\]`},
		{"large", "name: " + strings.Repeat("x", 2<<20) + "\n", `at most 1048576 are read \[E803\]`},
	}
	var out []malformed
	for _, r := range rows {
		out = append(out, malformed{name: "network: " + r[0], blueprint: fine, network: r[1], status: exitFailed, want: r[2]})
	}
	return out
}

func badArguments() []malformed {
	var out []malformed
	for _, r := range []struct {
		status     int
		args, want string
	}{
		{exitFailed, "-D m=3", `^-D m=3: error: the blueprint has no parameter "m" \[E230\]`},
		{exitFailed, "-D n=9", `param n is 9, outside of 1 \.\. 8 \[E230\]`},
		{exitFailed, "-D n=25us", `\[E2[0-9]+\]`},
		{exitFailed, "-D n=x", `unknown name "x"`},
		{exitFailed, "--params nosuch.yml", `^nosuch\.yml: error: the parameter file cannot be read`},
		{exitFailed, "--set fabrc.link.rate=1Gbps", `neither a network nor a machine has a section "fabrc"; did you mean "fabric"\? \[E815\]`},
		{exitFailed, "--set fabric.link.rat=1Gbps", `unknown key "rat" in fabric\.link; did you mean "rate"\? \[E804\]`},
		{exitFailed, "--set fabric.link.rate=", `\[E815\]`},
		{exitFailed, "--set fabric.link.rate", `\[E815\]`},
		{exitFailed, "--set nic.transport=roc", `unknown transport "roc"; did you mean "roce"\? \[E950\]`},
		{exitFailed, "--network idael", `^--network idael: error: no network is called "idael"; did you mean "ideal"\? \[E810\]`},
		{exitFailed, "--network nosuch.yml", `^nosuch\.yml: error: the network file cannot be read`},
		{exitFailed, "--machine icelake", `^--machine icelake: error: no machine is called "icelake"; did you mean "icelake-sp-8360y"\? \[E810\]`},
		{exitFailed, "--placement blok", `did you mean "block"\? \[E903\]`},
		{exitUsage, "-D n", `write name=value`},
		{exitUsage, "--scale 2", `--scale is a number from 0 to 1`},
		{exitUsage, "--stop-at 5", `--stop-at: 5 has no unit`},
		{exitUsage, "--models logpg", `did you mean "loggp"`},
		{exitUsage, "--cores x", `--cores takes a whole number, not "x"`},
		{exitUsage, "--seed -1", `--seed takes a whole number of 0 or more, not "-1"`},
		{exitUsage, "--netwrk ideal", `unknown flag: --netwrk; did you mean --network\?`},
		{exitUsage, "another.hbp", `one WORKLOAD is timed at a time, but 2 are given`},
	} {
		out = append(out, malformed{name: r.args, blueprint: fine, args: strings.Fields(r.args), status: r.status, want: r.want})
	}
	return out
}

// What cannot be run ends with a finding that says where and why, and with nothing on
// standard output or in the file of --out.
func TestMalformed(t *testing.T) {
	for _, m := range append(append(badBlueprints(), badNetworks()...), badArguments()...) {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			put(t, dir, "w.hbp", m.blueprint)
			args := []string{"compare", "w.hbp", "--out", "report.txt"}
			if m.network != "" || strings.HasPrefix(m.name, "network: ") {
				args = append(args, "--network", put(t, dir, "net.yml", m.network))
			}
			status, stdout, stderr := invoke(t.Context(), "", append(args, m.args...)...)
			if status != m.status || stdout != "" {
				t.Errorf("status %d, want %d; standard output %q", status, m.status, stdout)
			}
			if !regexp.MustCompile("(?m)"+m.want).MatchString(stderr) || strings.Contains(stderr, "internal error") {
				t.Errorf("standard error does not match %s:\n%.2000s", m.want, stderr)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 2 {
				t.Errorf("%d files where the inputs stood (%v)", len(entries), err)
			}
			if _, err := os.Stat(filepath.Join(dir, "report.txt")); err == nil {
				t.Error("a report was written")
			}
		})
	}
}
