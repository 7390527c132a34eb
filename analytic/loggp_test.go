package analytic

import (
	"testing"

	"hybrid/graph"
)

func pingPong(t testing.TB, n int, bytes int64) *graph.Graph {
	b := newBuilder(2)
	for r := range 2 {
		p := b.rank(r, false)
		for i := range n {
			if r == 0 {
				p.send(bytes, 1, i)
				p.recv(bytes, 1, i)
			} else {
				p.recv(bytes, 0, i)
				p.send(bytes, 0, i)
			}
		}
		p.Done()
	}
	return b.finish(t)
}

// Figures of LogGOPSim (stable sort of ready operations), ns.
func TestPingPong(t *testing.T) {
	for _, tt := range []struct {
		bytes   int64
		n       int
		a, b, c [2]int64
	}{
		{1, 1, [2]int64{11000, 7000}, [2]int64{4200, 2500}, [2]int64{8000, 4500}},
		{1, 10, [2]int64{110000, 106000}, [2]int64{42000, 40300}, [2]int64{80000, 76500}},
		{8, 1, [2]int64{11084, 7042}, [2]int64{4214, 2514}, [2]int64{8028, 4514}},
		{8, 10, [2]int64{110840, 106798}, [2]int64{42140, 40440}, [2]int64{80280, 76766}},
		{1024, 1, [2]int64{23276, 13138}, [2]int64{6246, 4546}, [2]int64{12092, 6546}},
		{1024, 10, [2]int64{232760, 222622}, [2]int64{62460, 60760}, [2]int64{120920, 115374}},
		{16384, 1, [2]int64{207596, 105298}, [2]int64{36966, 35266}, [2]int64{73532, 37266}},
		{65535, 1, [2]int64{797408, 400204}, [2]int64{135268, 133568}, [2]int64{270136, 135568}},
		{65536, 1, [2]int64{797420, 402710}, [2]int64{135270, 133570}, [2]int64{270140, 135570}},
		{65536, 10, [2]int64{7974200, 7579490}, [2]int64{1352700, 1351000}, [2]int64{2701400, 2566830}},
		{1048576, 1, [2]int64{12593900, 6300950}, [2]int64{2101350, 2099650}, [2]int64{4202300, 2101650}},
		{1048576, 10, [2]int64{125939000, 119646050}, [2]int64{21013500, 21011800}, [2]int64{42023000, 39922350}},
	} {
		g := pingPong(t, tt.n, tt.bytes)
		for i, want := range [][2]int64{tt.a, tt.b, tt.c} {
			set := []parameters{setA, setB, setC}[i]
			for _, one := range []bool{false, true} {
				got := nanoseconds(t, run(t, "loggp", Job{Graph: g, Network: set.network(), LogGOPSim: one}))
				if got[0] != want[0] || got[1] != want[1] {
					t.Errorf("%d B x %d, set %c, one processor %v: %v, want %v", tt.bytes, tt.n, 'A'+i, one, got, want)
				}
			}
		}
	}
}

// Small graphs with computation, set A, LogGOPSim's single processor.
func TestOneProcessor(t *testing.T) {
	flat := func(r0, r1 func(p *program)) *graph.Graph {
		b := newBuilder(2)
		for i, write := range []func(*program){r0, r1} {
			p := b.rank(i, true)
			write(p)
			p.Done()
		}
		return b.finish(t)
	}
	sendCalc := func(p *program) { p.calc(10*ns, p.send(100000, 1, 0)) }
	late := flat(sendCalc, func(p *program) { p.recv(100000, 0, 0, p.calc(2_000_000*ns)) })
	early := flat(sendCalc, func(p *program) { p.recv(100000, 0, 0) })
	two := flat(func(p *program) { p.send(1000, 1, 0); p.send(1000, 1, 0); p.calc(100 * ns) },
		func(p *program) { p.recv(1000, 0, 0); p.recv(1000, 0, 0) })
	with := func(f func(*parameters)) parameters { p := setA; f(&p); return p }
	for _, tt := range []struct {
		name string
		g    *graph.Graph
		p    parameters
		want [2]int64
	}{
		{"rendezvous, late receiver", late, setA, [2]int64{2000010, 2601494}},
		{"eager, late receiver", late, with(func(p *parameters) { p.S = 200000 }), [2]int64{1510, 2601494}},
		{"rendezvous, early receiver", early, setA, [2]int64{4010, 605494}},
		{"eager, early receiver", early, with(func(p *parameters) { p.S = 200000 }), [2]int64{1510, 605494}},
		{"two sends", two, setA, [2]int64{8494, 18988}},
		{"two sends, O=1", two, with(func(p *parameters) { p.O = 1 }), [2]int64{9493, 18988}},
		{"two sends, O=10", two, with(func(p *parameters) { p.O = 10 }), [2]int64{23080, 26980}},
	} {
		got := nanoseconds(t, run(t, "loggp", Job{Graph: tt.g, Network: tt.p.network(), LogGOPSim: true}))
		if got[0] != tt.want[0] || got[1] != tt.want[1] {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
