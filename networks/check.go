package networks

import (
	"math"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// decodeLevel reads the parameters of one distance; an absent or empty level is nil.
func decodeLevel(d *levelDoc, node *yamldoc.Node, list *diag.List) *Level {
	if node == nil || len(node.Items) == 0 {
		return nil
	}
	l := &Level{EagerLimit: math.MaxInt64}
	if d.EagerLimit != nil {
		l.EagerLimit = *d.EagerLimit
	} else {
		list.Warnf("W823", node.Pos, "%s has no eager_limit: every message is eager", node.Key)
	}
	for _, p := range pieces(d.Hockney, list) {
		var h hockneyDoc
		yamldoc.DecodeAt(p, node.Key+".hockney", &h, list)
		l.Hockney = append(l.Hockney, HockneyPiece{From: h.From, Latency: h.Latency, PerByte: h.Bandwidth})
	}
	for _, p := range pieces(d.LogGP, list) {
		var g loggpDoc
		yamldoc.DecodeAt(p, node.Key+".loggp", &g, list)
		l.LogGP = append(l.LogGP, LogGPPiece{From: g.From, L: g.L, Overhead: g.Over, Gap: g.Gap, G: g.G, O: g.O})
	}
	checkRising(d.Hockney, len(l.Hockney), func(i int) int64 { return l.Hockney[i].From }, list)
	checkRising(d.LogGP, len(l.LogGP), func(i int) int64 { return l.LogGP[i].From }, list)
	if len(l.Hockney)+len(l.LogGP) == 0 {
		list.Errorf("E816", node.Pos, "%s has parameters of neither hockney nor loggp", node.Key)
		return nil
	}
	l.fill(node, list)
	return l
}

// pieces returns the mappings that hold parameters: the section itself, or the
// elements of its pieces.
func pieces(section *yamldoc.Node, list *diag.List) []*yamldoc.Node {
	if section == nil || section.Kind == yamldoc.Null {
		return nil
	}
	if section.Get("pieces") == nil {
		return []*yamldoc.Node{section}
	}
	var d piecesDoc
	yamldoc.Decode(section, &d, list)
	if p := section.Get("pieces"); p.Kind == yamldoc.Null || p.Kind == yamldoc.Sequence && len(p.Items) == 0 {
		list.Errorf("E805", section.Pos, "pieces of %s is empty", section.Key)
	}
	return d.Pieces
}

// checkRising demands that pieces begin at 0 bytes and rise, so that every size has
// exactly one piece.
func checkRising(section *yamldoc.Node, n int, from func(int) int64, list *diag.List) {
	for i := range n {
		pos := section.Pos
		if p := section.Get("pieces"); p != nil && i < len(p.Items) {
			pos = p.Items[i].Pos
			if f := p.Items[i].Get("from"); f != nil {
				pos = f.Pos
			}
		} else if f := section.Get("from"); f != nil {
			pos = f.Pos
		}
		switch {
		case i == 0 && from(0) != 0:
			list.Errorf("E812", pos, "the first piece of %s begins at %s; it must begin at 0B", section.Key, units.FormatBytes(from(0)))
		case i > 0 && from(i) <= from(i-1):
			list.Errorf("E812", pos, "this piece of %s begins at %s, not above the %s of the one before it", section.Key,
				units.FormatBytes(from(i)), units.FormatBytes(from(i-1)))
		}
	}
}

// fill derives the model that a level lacks from the one it has, so that a message of
// m bytes takes the same time in both: Hockney counts m times per byte, LogGP m-1, hence
// latency = L + 2o - G.
func (l *Level) fill(node *yamldoc.Node, list *diag.List) {
	switch {
	case len(l.LogGP) == 0:
		for _, h := range l.Hockney {
			l.LogGP = append(l.LogGP, LogGPPiece{From: h.From, L: addTimes(h.Latency, oneByte(h.PerByte)), G: h.PerByte, O: units.Int(0)})
		}
		list.Infof("W825", node.Pos, "%s has no loggp: L and G are derived from hockney, o and g are 0", node.Key)
	case len(l.Hockney) == 0:
		for _, g := range l.LogGP {
			beta := slower(g.G, g.O)
			latency := max(0, addTimes(g.L, g.Overhead, g.Overhead)-oneByte(beta))
			l.Hockney = append(l.Hockney, HockneyPiece{From: g.From, Latency: latency, PerByte: beta})
		}
		list.Infof("W825", node.Pos, "%s has no hockney: latency and bandwidth are derived from loggp", node.Key)
	}
}

// oneByte is a time per byte in whole picoseconds.
func oneByte(perByte units.Rat) int64 {
	if perByte.Num <= 0 || perByte.Den <= 0 {
		return 0
	}
	return units.MulDiv(1, perByte.Num, perByte.Den)
}

// addTimes adds spans that are not negative, saturating.
func addTimes(spans ...int64) int64 {
	sum := int64(0)
	for _, s := range spans {
		if s > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += s
	}
	return sum
}

// complete fills in the link and the topology where the file leaves them out. Without
// a fabric the widest inter-node parameters stand in for it: a link of Hockney's
// rate and latency between every two hosts, on which a transfer takes exactly
// Hockney's time.
func (n *Network) complete(d *document, root *yamldoc.Node, list *diag.List) {
	written := root.At("fabric", "link")
	if written != nil {
		requireLink(written, list)
	}
	l, _, ok := n.Level(InterNode)
	switch {
	case d.Fabric.Link.Rate != nil:
		n.Fabric.Link.PerByte = *d.Fabric.Link.Rate
		if d.Fabric.Link.Delay != nil {
			n.Fabric.Link.Delay = *d.Fabric.Link.Delay
		}
	case written != nil:
	case ok:
		p := l.Hockney[len(l.Hockney)-1]
		n.Fabric.Link = LinkSpec{PerByte: p.PerByte, Delay: p.Latency}
		list.Infof("W826", diag.Pos{File: n.File}, "no fabric is described: links take the rate and latency of the Hockney parameters")
	case !list.HasErrors():
		list.Errorf("E816", root.Pos, "neither levels nor a fabric is described")
	}
	if !ok && d.Fabric.Link.Rate != nil {
		list.Warnf("W824", root.Pos, "no level has closed-form parameters: the analytic models cannot be used with this network")
	}
	n.topology = parameters(new(directParams))
	if d.Topology != nil && d.Topology.Kind != yamldoc.Null {
		n.topology = decodeTopology(d.Topology, list)
	} else if written != nil {
		n.topology = new(starParams)
	}
	if written == nil && root.Get("nic") == nil {
		n.NIC.Transport = "ideal"
	}
}

// requireLink reports missing keys of a link that is written down.
func requireLink(link *yamldoc.Node, list *diag.List) {
	for _, k := range []string{"rate", "delay"} {
		if link.Kind == yamldoc.Mapping && link.Get(k) == nil {
			list.Errorf("E805", link.Pos, "%q is missing in fabric.link", k)
		}
	}
}

// checkSpeed warns where a closed form is faster than the fabric's links allow: the
// time of a payload byte is at least that of its share of the wire bytes.
func (n *Network) checkSpeed(root *yamldoc.Node, list *diag.List) {
	l := n.Levels[InterNode]
	if l == nil || n.Fabric.Link.PerByte.IsZero() || n.Fabric.MTU <= 0 {
		return
	}
	overhead := n.Fabric.Wire.Middle
	if n.NIC.Transport == "ideal" {
		overhead = 0
	}
	least, ok := n.Fabric.Link.PerByte.Mul(units.NewRat(n.Fabric.MTU+overhead, n.Fabric.MTU))
	if !ok {
		return
	}
	level := root.At("levels", InterNode.String())
	for i, p := range l.Hockney {
		warnFast(level.Get("hockney"), i, "bandwidth", p.PerByte, least, list)
	}
	for i, p := range l.LogGP {
		warnFast(level.Get("loggp"), i, "G", p.G, least, list)
	}
}

func warnFast(section *yamldoc.Node, i int, key string, got, least units.Rat, list *diag.List) {
	if section == nil || got.Den == 0 || got.Cmp(least) >= 0 { // Den 0: not given, an error by now
		return
	}
	at := section
	if p := section.Get("pieces"); p != nil && i < len(p.Items) {
		at = p.Items[i]
	}
	pos := at.Pos
	if v := at.Get(key); v != nil {
		pos = v.Pos
	}
	list.Warnf("W821", pos, "%s is faster than the wire: %s ps a byte, while the link needs %s with its headers", key, got, least)
}
