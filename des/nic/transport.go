package nic

import (
	"strings"

	"hybrid/des/fabric"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
	"hybrid/networks"
)

// Params are the decoded parameters of a transport.
type Params struct {
	// Packets is false where a message is one unit on every link.
	Packets bool
	// MTU is the payload of a full packet and Wire its framing, in bytes.
	MTU  int64
	Wire networks.Wire
	// AckEvery is the number of packets after which a receiver acknowledges in the
	// middle of a message; the last packet of a message it always acknowledges at once.
	AckEvery int32
	// Classes are the traffic classes of data and of acknowledgements.
	Classes [2]uint8
	// PerByte is the least time between the starts of two data packets of a queue pair for
	// each byte of the first, on the link, in picoseconds; 0 where there is none. It needs
	// the run's Clock.
	PerByte units.Rat
	Clock   units.Clock
	// Flags are those of data packets (see [fabric.Capable]).
	Flags uint8
	// Lossy says that the fabric may drop packets.
	Lossy bool
	// Accept says that packets may arrive in any order.
	Accept bool
	// Routing is nil where routes are the default.
	Routing *fabric.Routing
}

// Transport is a row of the transport table. Reliability, congestion control and path
// selection become tables of their own beside it, which a transport's New consults.
type Transport struct {
	Name, Doc string
	// New decodes the network's nic section; findings go to list.
	New func(n *networks.Network, list *diag.List) Params
	// Section is a value of the struct whose tags declare the section's keys.
	Section any
}

func transports() []Transport {
	return []Transport{
		{"roce", "RoCEv2 reliable connections: WRITE packets with sequence numbers, cumulative acknowledgements, round robin over queue pairs.", newRoCE, roceSection{}},
		{"ideal", "No headers, no packets, no acknowledgements on the wire: each link carries one message at a time, first come first served.", newIdeal, idealSection{}},
	}
}

// planned are names that a network file may reasonably hold but that no row has yet.
func planned() []string { return []string{"uet", "mrc"} }

// Transports returns the table.
func Transports() []Transport { return transports() }

// Find returns the transport that a network names. Findings, also those of its own
// section, go to list; ok is false if it cannot be used.
func Find(n *networks.Network, list *diag.List) (p Params, ok bool) {
	before := list.CountOf(diag.Error)
	for _, t := range transports() {
		if t.Name == n.NIC.Transport {
			p = t.New(n, list)
			return p, list.CountOf(diag.Error) == before
		}
	}
	names := make([]string, 0, 4)
	for _, t := range transports() {
		names = append(names, t.Name)
	}
	for _, name := range planned() {
		if name == n.NIC.Transport {
			list.Errorf("E951", position(n), "transport %q is not available yet", name).
				Note("available: %s", strings.Join(names, ", "))
			return p, false
		}
	}
	list.Errorf("E950", position(n), "unknown transport %q%s", n.NIC.Transport, diag.DidYouMean(n.NIC.Transport, names)).
		Note("available: %s", strings.Join(names, ", "))
	return p, false
}

func position(n *networks.Network) diag.Pos {
	if t := n.Doc.At("nic", "transport"); t != nil {
		return t.Pos
	}
	if s := n.NIC.Section; s != nil && s.Pos != (diag.Pos{}) {
		return s.Pos
	}
	return diag.Pos{File: n.File}
}

type roceSection struct {
	AckEvery   int        `yaml:"ack_every" default:"16" range:"1..1000000" doc:"Packets after which a receiver acknowledges in the middle of a message; the last packet of a message is always acknowledged at once."`
	Class      int        `yaml:"class" default:"0" range:"0..7" doc:"Traffic class of data, where switches have classes."`
	AckClass   int        `yaml:"ack_class" default:"1" range:"0..7" doc:"Traffic class of acknowledgements; the last one there is, if it is less."`
	OutOfOrder string     `yaml:"out_of_order" default:"discard" oneof:"discard|accept" doc:"discard: packets behind a missing one are discarded, as go-back-N does; accept: packets arrive in any order, messages are complete in the order of posting."`
	Rate       *units.Rat `yaml:"rate" unit:"rate" range:"1Mbps.." doc:"The most that a queue pair sends: a packet starts no sooner than the one before it takes at this rate, while others go on; default: no bound."`
}

func newRoCE(n *networks.Network, list *diag.List) Params {
	var s roceSection
	yamldoc.DecodeAt(n.NIC.Section, "nic", &s, list)
	p := Params{Packets: true, MTU: n.Fabric.MTU, Wire: n.Fabric.Wire, AckEvery: int32(s.AckEvery), Classes: [2]uint8{uint8(s.Class), uint8(s.AckClass)}, Accept: s.OutOfOrder == "accept"}
	if s.Rate != nil {
		p.PerByte = *s.Rate
	}
	return p
}

type idealSection struct{}

func newIdeal(n *networks.Network, list *diag.List) Params {
	var s idealSection
	yamldoc.DecodeAt(n.NIC.Section, "nic", &s, list)
	return Ideal()
}

// Ideal returns the parameters of the ideal transport, whatever a network file says.
func Ideal() Params { return Params{} }
