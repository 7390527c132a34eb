package main

import "testing"

// BenchmarkCommands runs what most of a user's time goes to. Its CPU profile is the one
// that the compiler optimises the command with:
//
//	go test -pgo off -run '^$' -bench Commands -benchtime 1x -cpuprofile cmd/hybrid/default.pgo ./cmd/hybrid
func BenchmarkCommands(b *testing.B) {
	for _, bb := range []struct {
		name string
		args []string
	}{
		{"command=predict/workload=heat2d", []string{"predict", "../../testdata/blueprints/heat2d.hbp", "-D", "steps=10_000"}},
		{"command=simulate/workload=heat2d", []string{"simulate", "--cores", "1", "../../testdata/blueprints/heat2d.hbp", "-D", "steps=1000"}},
		{"command=simulate/workload=ddp", []string{"simulate", "--cores", "1", "../../testdata/blueprints/ddp.hbp", "-D", "steps=1"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				if status, _, stderr := invoke(b.Context(), "", append(bb.args, "-q")...); status != exitDone {
					b.Fatalf("status %d\n%s", status, stderr)
				}
			}
		})
	}
}
