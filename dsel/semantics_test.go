package dsel

import (
	"fmt"
	"strings"
	"testing"

	"hybrid/graph"
	algorithms "hybrid/graph/collective"
	"hybrid/graph/replay"
)

// priced lets fixed work cost its time, and all other work nothing.
func priced(g *graph.Graph) *graph.Graph {
	for _, p := range g.Programs {
		p.Costs = nil
		for i := range p.Works {
			p.Costs = append(p.Costs, graph.Cost{Terms: []graph.Term{{V: p.Works[i].Time, Num: 1, Den: 1}}})
		}
	}
	return g
}

// thread drives the cursor of one rank by hand.
type thread struct {
	t    *testing.T
	g    *graph.Graph
	c    *replay.Cursor
	held []replay.Issue
	now  int64
}

// start loads a blueprint and returns the thread of a rank with what it issues at
// once.
func start(t *testing.T, src string, rank int) (*thread, string) {
	t.Helper()
	g := priced(loadText(t, "s.hbp", src))
	th := &thread{t: t, g: g, c: replay.NewCursor(replay.Config{Graph: g}, algorithms.NewTable(), rank)}
	return th, th.take(th.c.Start(0, nil))
}

// name is what a test calls an operation: its name or label, else its kind and
// partner.
func (th *thread) name(i *replay.Issue) string {
	s := th.g.Sites[i.Site].Name
	if s != "" && i.Kind != graph.Send && i.Kind != graph.Recv {
		return s
	}
	switch i.Kind {
	case graph.Send:
		return fmt.Sprintf("%s>%d", s, i.Peer)
	case graph.Recv:
		return fmt.Sprintf("%s<%d", s, i.Peer)
	}
	return fmt.Sprint(i.Duration)
}

func (th *thread) take(out []replay.Issue) string {
	th.t.Helper()
	if err := th.c.Err(); err != nil {
		th.t.Fatal(err)
	}
	var names []string
	for i := range out {
		names = append(names, th.name(&out[i]))
	}
	th.held = append(th.held, out...)
	return strings.Join(names, " ")
}

// done completes the oldest operation of a name and returns what that issues.
func (th *thread) done(name string) string {
	th.t.Helper()
	for i := range th.held {
		if th.name(&th.held[i]) == name {
			h := th.held[i].Handle
			th.held = append(th.held[:i], th.held[i+1:]...)
			th.now++
			return th.take(th.c.Done(h, th.now, nil))
		}
	}
	th.t.Fatalf("%s is not in progress", name)
	return ""
}

// TestSemantics runs programs step by step: `a b` in front are the operations that
// start at once, `x: y z` says that y and z start when x is complete, and `end` that
// the rank has finished. Operations go by their names or labels, messages by their
// partners.
func TestSemantics(t *testing.T) {
	for name, test := range map[string]struct {
		src   string
		steps string
	}{
		"blocking":                        {"compute 1us name \"a\"\ncompute 1us name \"b\"", "a | a: b | b: end"},
		"async":                           {"@a async compute 1us\ncompute 1us name \"b\"\ncompute 1us name \"c\"", "a b | b: c | c: | a: end"},
		"wait":                            {"@a async compute 1us\n@b async compute 1us\nwait @a\ncompute 1us name \"c\"", "a b | b: | a: c | c: end"},
		"wait for two":                    {"@a async compute 1us\n@b async compute 1us\nwait @a, @b\ncompute 1us name \"c\"", "a b | b: | a: c | c: end"},
		"waitall":                         {"@a async compute 1us\nasync compute 1us name \"b\"\nwaitall\ncompute 1us name \"c\"", "a b | b: | a: c | c: end"},
		"after":                           {"@a async compute 1us\n@b async compute 1us after @a\ncompute 1us name \"c\"", "a c | c: | a: b | b: end"},
		"after of a blocking operation":   {"@a async compute 1us\ncompute 1us name \"b\" after @a\ncompute 1us name \"c\"", "a | a: b | b: c | c: end"},
		"waiting twice":                   {"@a async compute 1us\nwait @a\nwait @a\ncompute 1us name \"c\"", "a | a: c | c: end"},
		"a label of a blocking operation": {"@a compute 1us\nwait @a\ncompute 1us name \"b\" after @a", "a | a: b | b: end"},
		"par":                             {"par { compute 1us name \"a\"; compute 1us name \"b\" }\ncompute 1us name \"c\"", "a b | b: | a: c | c: end"},
		"par with an asynchronous last":   {"par { compute 1us name \"a\"; @b async compute 1us }\ncompute 1us name \"c\"\nwait @b", "a b | a: c | c: | b: end"},
		"par inside par":                  {"par { par { compute 1us name \"a\"; compute 1us name \"b\" }; compute 1us name \"c\" }", "a b c | b: | c: | a: end"},
		"order inside par":                {"par { @a compute 1us; compute 1us name \"b\" after @a; compute 1us name \"c\" }\ncompute 1us name \"d\"", "a c | c: | a: b | b: d | d: end"},
		"par in a loop":                   {"repeat 2 { par { @a compute 1us; @b compute 1us after @a } }", "a | a: b | b: a | a: b | b: end"},
		"an indexed label":                {"for i in 0..2 { @a[i] async compute 1us }\nwait @a[1]\ncompute 1us name \"b\"", "a a a | a: | a: b | a: | b: end"},
		"each of a label":                 {"for i in 0..1 { @a[i] async compute 1us }\nwait @a[*]\ncompute 1us name \"b\"", "a a | a: | a: b | b: end"},
		"the latest instance":             {"for i in 0..1 { @a async compute 1us name \"a\" }\nwait @a\ncompute 1us name \"b\"", "a a | a: | a: b | b: end"},
		"an instance that does not exist": {"for i in 0..1 { @a[i] async compute 1us }\nwait @a[7]\ncompute 1us name \"b\"", "a a b | a: | a: | b: end"},
		"the previous iteration":          {"repeat 3 as i { @a async compute 1us after @a.prev\ncompute 1us name \"b\" }", "a b | b: b | b: b | a: a | b: | a: a | a: end"},
		"two iterations ago":              {"repeat 3 as i { @a async compute 1us after @a.prev(2) }", "a a | a: a | a: | a: end"},
		"the previous iteration had none": {"repeat 4 as i { if i != 1 { @a async compute 1us }\ncompute 1us name \"b\" after @a.prev }",
			"a b | b: | a: b | b: a b | b: a | a: b | b: | a: end"},
		"a label left out":                {"repeat 2 { @a async send 8B to norank\nwait @a\ncompute 1us name \"b\" }", "b | b: b | b: end"},
		"a label inside if":               {"if rank == 1 { @a async compute 1us }\nwait @a\ncompute 1us name \"b\"", "b | b: end"},
		"a label on two operations":       {"if rank == 0 { @a async compute 1us } else { @a compute 2us }\nwait @a\ncompute 1us name \"b\"", "a | a: b | b: end"},
		"a stream and a label of another": {"@a async compute 1us stream s\n@b async compute 1us stream u after @a\n@c async compute 1us stream u\nwait @c", "a | a: b | b: c | c: end"},
		"an asynchronous collective":      {"@r async allreduce 8B algo ring\ncompute 1us name \"a\"\nwait @r", "r>1 r<1 a | a: | r>1: | r<1: r>1 r<1 | r>1: | r<1: end"},
		"a stream":                        {"@a async compute 1us stream s\n@b compute 1us stream s\ncompute 1us name \"c\"\nwait @b\ncompute 1us name \"d\"", "a c | c: | a: b | b: d | d: end"},
		"a stream waits for the program":  {"compute 1us name \"a\"\n@b compute 1us stream s\ncompute 1us name \"c\"", "a | a: b c | b: | c: end"},
		"two streams":                     {"compute 1us name \"a\" stream s\ncompute 1us name \"b\" stream u\ncompute 1us name \"c\" stream s", "a b | b: | a: c | c: end"},
		"label scope":                     {"repeat 2 { @a async compute 1us\nwait @a }\ncompute 1us name \"b\"", "a | a: a | a: b | b: end"},
		"a label that dies":               {"repeat 2 { @a async compute 1us }\ncompute 1us name \"b\"", "a a b | a: | b: | a: end"},
		"def":                             {"f(2)\nf(1)", "2000000 | 2000000: 2 | 2: 1000000 | 1000000: 2 | 2: end"},
		"labels of a call":                {"g()\ng()", "x | x: x | x: end"},
		"norank":                          {"send 8B to norank\nrecv 8B from norank\nsendrecv 8B to norank from 1\ncompute 1us name \"a\"", "<1 | <1: a | a: end"},
		"sendrecv":                        {"sendrecv 8B to 1 from 1\ncompute 1us name \"a\"", "<1 >1 | >1: | <1: a | a: end"},
		"exchange":                        {"exchange 8B with [1, norank]\ncompute 1us name \"a\"", "<1 >1 | >1: | <1: a | a: end"},
		"asynchronous sendrecv":           {"@m async sendrecv 8B to 1 from 1\ncompute 1us name \"a\"\nwait @m\ncompute 1us name \"b\"", "m<1 m>1 a | a: | m>1: | m<1: b | b: end"},
		"asynchronous to itself":          {"@m async transfer 8B from 0 to 0\nwait @m\ncompute 1us name \"b\"", "m<0 m>0 | m>0: | m<0: b | b: end"},
		"transfer of others":              {"transfer 8B from 1 to 1\ncompute 1us name \"a\"", "a | a: end"},
		"a composite in a stream": {"compute 1us name \"a\" stream s\nsendrecv 8B to 1 from 1 stream s\ncompute 1us name \"b\" stream s",
			"a | a: <1 >1 | >1: | <1: b | b: end"},
		"two composites in a stream": {"exchange 8B with [1] stream s\nexchange 8B with [1] stream s", "<1 >1 | <1: | >1: <1 >1 | >1: | <1: end"},
		"a composite in par":         {"par { sendrecv 8B to 1 from 1; compute 1us name \"a\" }\ncompute 1us name \"b\"", "<1 >1 a | a: | >1: | <1: b | b: end"},
		"zero trips":                 {"repeat 0 * rank { compute 1us name \"a\" }\nfor i in 1..0 { compute 1us name \"a\" }\ncompute 1us name \"b\"", "b | b: end"},
		"if on a loop variable":      {"repeat 3 as i { if i == 1 { compute 1us name \"a\" } else if i == 2 { compute 1us name \"b\" } else { compute 1us name \"c\" } }", "c | c: a | a: b | b: end"},
		"on":                         {"on 0 { compute 1us name \"a\" }\non 1 { compute 1us name \"b\" }\non [1, 0] { compute 1us name \"c\" }\non 0..1 { compute 1us name \"d\" }", "a | a: c | c: d | d: end"},
		"partners of a loop":         {"for p in [1, norank, 0] { send 8B to p }", ">1 | >1: >0 | >0: end"},
		"backwards":                  {"for i in reverse(1..2) { compute i * 1us }", "2000000 | 2000000: 1000000 | 1000000: end"},
		"quantities":                 {"for d in [3us, 5us] { compute d }", "3000000 | 3000000: 5000000 | 5000000: end"},
		"let":                        {"repeat 2 as i { let d = (i + 1) * 1us\ncompute d }", "1000000 | 1000000: 2000000 | 2000000: end"},
		"sequential alltoallv":       {"alltoallv 8B algo sequential\ncompute 1us name \"a\"", "<1 >1 | <1: | >1: a | a: end"},
		"mark and seq":               {"mark \"x\"\nseq { compute 1us name \"a\"; region \"r\" { compute 1us name \"b\" } }", "a | a: b | b: end"},
	} {
		src := "ranks 2\nstream s\nstream u\ndef f(n) { compute n * 1us; compute 2ps }\ndef g() { @x async compute 1us\nwait @x }\nprogram {\n" + test.src + "\n}\n"
		steps := strings.Split(test.steps, " | ")
		th, got := start(t, src, 0)
		for i, step := range steps {
			want, finished := step, false
			if i > 0 {
				var op string
				op, want, _ = strings.Cut(step, ":")
				want, finished = strings.TrimSpace(want), false
				if got = th.done(op); want == "end" {
					want, finished = "", true
				}
			}
			if got != want {
				t.Errorf("%s: step %q issues %q", name, step, got)
				break
			}
			if th.c.Finished() != finished {
				t.Errorf("%s: step %q: finished %v", name, step, !finished)
				break
			}
		}
	}
}
