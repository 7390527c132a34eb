package networks

import (
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type directParams struct {
	Hosts *int `yaml:"hosts" range:"1..5792" doc:"Number of hosts; default: those of the run."`
}

func (p *directParams) hops() (short, long int) { return 1, 1 }

func (p *directParams) check(*yamldoc.Node, *diag.List) {}

// build joins every ordered pair of n hosts: n*(n-1) links.
func (p *directParams) build(hosts int, link LinkSpec) (Topology, error) {
	n := hosts
	if p.Hosts != nil {
		n = *p.Hosts
	}
	if n > 1 && n-1 > maxLinks/n {
		return nil, tooLarge(n * (n - 1))
	}
	t := &direct{wired{kind: "direct", hosts: n, diameter: 1, links: make([]Link, 0, n*(n-1)),
		bisection: together(link.PerByte, (n/2)*((n+1)/2))}}
	for from := range n {
		for to := range n {
			if to != from {
				t.add(from, to, link)
			}
		}
	}
	return t, nil
}

type direct struct{ wired }

// Next returns the one link from at to dst: those of a host are ordered by target,
// with the host itself left out.
func (t *direct) Next(at, dst int32) (first, n int32) {
	if at == dst {
		return 0, 0
	}
	first = at*int32(t.hosts-1) + dst
	if dst > at {
		first--
	}
	return first, 1
}
