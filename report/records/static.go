package records

import (
	"fmt"
	"strconv"

	"hybrid/internal/units"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// fixed is a record that is known before the run.
type fixed struct {
	quiet
	r       *Recorder
	name    string
	columns []Column
	rows    func(r *Recorder, t *table) error
}

func (f *fixed) begin() error {
	t, err := f.r.open(f.name, f.columns)
	if err != nil {
		return err
	}
	return f.rows(f.r, t)
}

func writeHosts(r *Recorder, t *table) error {
	for h := range r.platform.Hosts {
		if err := t.row(text(r.platform.Nodes[h].Name), integer(1)); err != nil {
			return err
		}
	}
	return nil
}

func writeMapping(r *Recorder, t *table) error {
	p := r.platform
	for rank, host := range p.HostOf {
		row := []cell{integer(rank), text(p.Nodes[host].Name), integer(host), integer(host), integer(host), integer(0), text(address(host))}
		if p.ScaleUp != nil {
			row = append(row, p.groupCells(int32(rank))...)
		}
		if err := t.row(row...); err != nil {
			return err
		}
	}
	return nil
}

// groupCells are the numbers of a rank's scale-up group and subgroup, -1 where it is
// in none.
func (p *Platform) groupCells(rank int32) []cell {
	g := p.ScaleUp[rank]
	if g < 0 {
		return []cell{integer(-1), integer(-1)}
	}
	return []cell{integer(p.Groups[g].ID), integer(p.Subgroup[rank])}
}

// address is a host's: host h has 10.x.y.z with x, y and z the bytes of h+1.
func address(host int32) string {
	n := host + 1
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

func writeApps(r *Recorder, t *table) error {
	for rank := range r.g.Ranks {
		if err := t.row(text(app(int32(rank))), integer(0)); err != nil {
			return err
		}
	}
	return nil
}

// gbps is the rate that a time of a byte stands for, to the bit a second: a byte in p
// picoseconds is 8000/p Gbit/s.
func gbps(perByte units.Rat) cell {
	if perByte.Num <= 0 {
		return decimal(0, 0)
	}
	return decimal(units.MulDiv(8000*1e9, perByte.Den, perByte.Num), 9)
}

func nanos(ps int64) cell { return decimal(ps, 3) }

// nodeType is the type of a node in records.
func (p *Platform) nodeType(node int32) string {
	if int(node) < p.Hosts {
		return "Server"
	}
	return "Switch"
}

// port is one end of a cable: the link that leaves through it and the one that comes
// in, and the number of the device at its node.
type port struct {
	out, in int32
	device  int32
}

// ports lists the ports of all nodes in the order of the links. The link back is the
// k-th between the two nodes where the link out is the k-th.
func (p *Platform) ports() []port {
	type pair struct{ from, to int32 }
	byPair := map[pair][]int32{}
	for id, l := range p.Links {
		byPair[pair{l.From, l.To}] = append(byPair[pair{l.From, l.To}], int32(id))
	}
	out := make([]port, len(p.Links))
	used := map[pair]int{}
	device, last := int32(0), int32(-1)
	for id, l := range p.Links {
		if l.From != last {
			device, last = 0, l.From
		}
		q := port{out: int32(id), in: -1, device: device}
		if back := byPair[pair{l.To, l.From}]; used[pair{l.From, l.To}] < len(back) {
			q.in = back[used[pair{l.From, l.To}]]
		}
		used[pair{l.From, l.To}]++
		out[id] = q
		device++
	}
	return out
}

func deviceName(p *Platform, node, device int32) string {
	if int(node) < p.Hosts {
		return "nic" + itoa(int64(device))
	}
	return "port" + itoa(int64(device))
}

// end7 are the seven columns of one end of a cable.
func (p *Platform) end7(node, device int32) []cell {
	n := &p.Nodes[node]
	return []cell{text(n.Name), text(p.nodeType(node)), integer(n.Tier), integer(n.Subtier), integer(node),
		text(deviceName(p, node, device)), integer(device)}
}

func writeTopology(r *Recorder, t *table) error {
	p := r.platform
	ports := p.ports()
	for _, q := range ports {
		l := &p.Links[q.out]
		row := p.end7(l.From, q.device)
		if q.in >= 0 {
			row = append(row, p.end7(l.To, ports[q.in].device)...)
		} else {
			row = append(row, p.end7(l.To, 0)...)
		}
		if err := t.row(append(row, gbps(l.PerByte), nanos(l.Delay))...); err != nil {
			return err
		}
	}
	return p.writeScaleUp(t)
}

// writeScaleUp lists the scale-up fabric as cables between each member and its
// subgroup's switch, and between the switches of the subgroups and one above them where
// a group has several: the three hops and four segments of a crossing between
// subgroups.
func (p *Platform) writeScaleUp(t *table) error {
	for gi := range p.Groups {
		g := &p.Groups[gi]
		var subgroups []uint32
		members := map[uint32]int32{}
		for rank, at := range p.ScaleUp {
			if at != int32(gi) {
				continue
			}
			sub := p.Subgroup[rank]
			if members[sub] == 0 {
				subgroups = append(subgroups, sub)
			}
			members[sub]++
			host := p.HostOf[rank]
			near := []cell{text(p.Nodes[host].Name), text(scaleUpNIC), integer(3), integer(p.Nodes[host].Subtier), integer(host), text(scaleUpDevice), integer(0)}
			far := p.scaleUpSwitch(fmt.Sprintf("%s-%d-%d", scaleUpSwitch, g.ID, sub), 2, members[sub]-1)
			if err := cable(t, near, far, g); err != nil {
				return err
			}
		}
		for i, sub := range subgroups {
			if len(subgroups) < 2 {
				break
			}
			near := p.scaleUpSwitch(fmt.Sprintf("%s-%d-%d", scaleUpSwitch, g.ID, sub), 2, members[sub])
			far := p.scaleUpSwitch(fmt.Sprintf("%s-%d", scaleUpSwitch, g.ID), 1, int32(i))
			if err := cable(t, near, far, g); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names of the scale-up fabric in records.
const (
	scaleUpDevice = "ChakraScaleUpNetDevice"
	scaleUpNIC    = "ChakraScaleUpNic"
	scaleUpSwitch = "ChakraScaleUpSwitch"
)

func (p *Platform) scaleUpSwitch(name string, tier, device int32) []cell {
	return []cell{text(name), text(scaleUpSwitch), integer(tier), integer(0), integer(-1), text("port" + itoa(int64(device))), integer(device)}
}

// cable writes both directions of a cable of the scale-up fabric.
func cable(t *table, near, far []cell, g *ScaleUpGroup) error {
	for _, ends := range [2][2][]cell{{near, far}, {far, near}} {
		row := append(append([]cell{}, ends[0]...), ends[1]...)
		if err := t.row(append(row, gbps(g.PerByte), nanos(g.Cable))...); err != nil {
			return err
		}
	}
	return nil
}
