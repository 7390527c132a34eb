package networks

import (
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

type starParams struct {
	Hosts *int `yaml:"hosts" range:"1..16000000" doc:"Number of hosts; default: those of the run."`
}

func (p *starParams) hops() (short, long int) { return 2, 2 }

func (p *starParams) check(*yamldoc.Node, *diag.List) {}

// build hangs n hosts on one switch. Links: n up, by host, then n down, by host.
func (p *starParams) build(hosts int, link LinkSpec) (Topology, error) {
	n := hosts
	if p.Hosts != nil {
		n = *p.Hosts
	}
	if n > maxLinks/2 {
		return nil, tooLarge(2 * n)
	}
	t := &star{wired{kind: "star", hosts: n, switches: 1, diameter: 2, links: make([]Link, 0, 2*n),
		bisection: together(link.PerByte, n/2)}}
	for h := range n {
		t.add(h, n, link)
	}
	for h := range n {
		t.add(n, h, link)
	}
	return t, nil
}

type star struct{ wired }

// Next returns the host's only link, or the switch's link to dst.
func (t *star) Next(at, dst int32) (first, n int32) {
	switch {
	case at == dst:
		return 0, 0
	case int(at) < t.hosts:
		return at, 1
	}
	return int32(t.hosts) + dst, 1
}
