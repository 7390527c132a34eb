package fabric

import (
	"math/rand/v2"
	"testing"
)

// pods is a switch behind whose ports hosts are reached in runs of per, but for one run
// whose hosts have a port each.
type pods struct {
	cross
	per, own int32
}

func (p pods) Next(_, dst int32) (first, n int32) {
	if run := dst / p.per; run != p.own {
		return 100 + run%5, 1 + run%3
	}
	return 200 + dst%p.per, 1
}

// A table says what the topology says, in whatever order it is asked, and holds no more
// than one route for a block and those of blocks with several.
func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		hosts    int
		per, own int32
		blocks   int // with several routes, at most
	}{{1, 1, 0, 1}, {5, 2, 1, 1}, {1000, 16, 3, 1}, {1000, 64, 3, 4}, {1000, 7, 3, 63}, {8192, 64, 5, 1}, {8192, 256, 5, 4}} {
		topo := pods{cross{c.hosts}, c.per, c.own}
		s := &Switch{topo: topo, first: 100, table: newRoutes(topo, 300)}
		for range 2 {
			for _, h := range rand.New(rand.NewPCG(1, 1)).Perm(c.hosts) {
				first, n := topo.Next(0, int32(h))
				if e := s.route(uint32(h)); int32(e.first) != first-100 || int32(e.n) != n {
					t.Fatalf("%+v: route %+v to host %d, want %d ports from %d on", c, e, h, n, first-100)
				}
			}
		}
		if most := (c.blocks + 1) << s.table.bits; len(s.table.hosts) > most {
			t.Errorf("%+v: %d routes of single hosts, want at most %d", c, len(s.table.hosts), most)
		}
	}
	if topo := (pods{cross{1 << 29}, 64, 0}); newRoutes(topo, 64).blocks != nil && RouteBytes(topo) == 0 {
		t.Error("a table that is not accounted for")
	}
	if newRoutes(pods{cross{10}, 1, 0}, 1<<16).blocks != nil {
		t.Error("a table whose ports do not fit")
	}
}
