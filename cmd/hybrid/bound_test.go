package main

import (
	"testing"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
	"hybrid/networks"
)

// 400 Gbit/s (20 ps a byte) beside a port of 800 Gbit/s (10 ps) carry a byte in
// 1 / (1/20 + 1/10) = 20/3 ps; a hop of 100 ns and two cables of 50 ns are 200 ns.
func TestScaleUpSpeed(t *testing.T) {
	up := &networks.ScaleUpPlacement{Groups: []networks.ScaleUpGroup{{PerByte: units.Int(10), Hop: 100_000, Cable: 50_000}}}
	for _, tt := range []struct {
		beside, want speed
	}{
		{speed{1_000_000, units.Int(20), true}, speed{200_000, units.NewRat(20, 3), true}},
		{speed{1000, units.Int(20), true}, speed{1000, units.NewRat(20, 3), true}},
		{speed{1000, units.Int(0), true}, speed{1000, units.Int(0), true}}, // no limit stays none
		{speed{}, speed{200_000, units.Int(10), true}},
	} {
		got := tt.beside
		if scaleUpSpeed(up, &got); got != tt.want {
			t.Errorf("beside %+v: %+v, want %+v", tt.beside, got, tt.want)
		}
	}
}

// Ranks that share a node have no link of their own, and an ideal network without a
// fabric has none at all; else 1 MiB over 8 ranks takes 2 x 7/8 MiB x 20 ps.
func TestIdealTime(t *testing.T) {
	c := &replay.CollectiveTimes{Type: graph.AllReduce, Algorithm: "ring", GroupSize: 8, Bytes: 1 << 20}
	for _, tt := range []struct {
		perNode int
		link    units.Rat
		want    int64
		ok      bool
	}{{1, units.Int(20), 36_700_160, true}, {2, units.Int(20), 0, false}, {1, units.Rat{}, 0, false}} {
		p := &prepared{platform: &platform{network: &networks.Network{}, placement: &networks.Placement{RanksPerNode: tt.perNode}}}
		p.platform.network.Fabric.Link.PerByte = tt.link
		if got, ok := p.idealTime(c); got != tt.want || ok != tt.ok {
			t.Errorf("%d ranks a node, %s a byte: %d, %v", tt.perNode, tt.link, got, ok)
		}
	}
}
