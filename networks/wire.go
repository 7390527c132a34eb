package networks

import (
	"hybrid/internal/diag"
	"hybrid/internal/yamldoc"
)

// Wire is the framing of packets: bytes that a packet occupies on a link beyond
// its payload, gaps and preambles included.
type Wire struct {
	Name string
	// First, Middle, Last and Only are added to the payload by the packet's position
	// in its message. Ack is the whole acknowledgement frame.
	First, Middle, Last, Only, Ack int64
	// MinFrame is the least number of bytes any frame occupies; 0 means none.
	MinFrame int64
}

// wirePreset is a row of the table of framings.
type wirePreset struct {
	Doc  string
	Wire Wire
}

// wirePresets is the table of framings. Ethernet framing is 14 B header, 4 B FCS,
// and 20 B of preamble, delimiter and gap (IEEE 802.3); IPv4 takes 20 B, IPv6 40 B,
// UDP 8 B. No preset pads short frames to Ethernet's minimum of 64 B: it would change
// only messages or tails below 3 B.
func wirePresets() []wirePreset {
	return []wirePreset{
		// BTH 12, RETH 16 (first or only packet of a WRITE), ICRC 4; ACK: BTH 12, AETH 4,
		// ICRC 4 (InfiniBand Architecture Specification vol. 1, annex A17, and section 9).
		{"RoCEv2 over IPv4 without VLAN, WRITE: +98 B on the first packet, +82 B on the others, ACK 86 B.",
			Wire{Name: "rocev2", First: 98, Middle: 82, Last: 82, Only: 98, Ack: 86}},
		// LRH 8, BTH 12, RETH 16, ICRC 4, VCRC 2; ACK: LRH 8, BTH 12, AETH 4, ICRC 4, VCRC 2
		// (InfiniBand Architecture Specification vol. 1, section 5.2).
		{"InfiniBand within a subnet, WRITE: +42 B on the first packet, +26 B on the others, ACK 30 B.",
			Wire{Name: "infiniband", First: 42, Middle: 26, Last: 26, Only: 42, Ack: 30}},
		// SES 44 (first) or 32, PDS RUD request 12, CRC 4, over UDP/IPv4; ACK_CC 32 (Ultra
		// Ethernet Specification 1.0, sections 3.4 and 3.5.10).
		{"Ultra Ethernet, RUD over UDP/IPv4 with CRC: +126 B on the first packet, +114 B on the others, ACK_CC 102 B.",
			Wire{Name: "uet", First: 126, Middle: 114, Last: 114, Only: 126, Ack: 102}},
		// BTH 12, METH 4, TSETH 4, RETH 16 on every packet, ICRC 4, over UDP/IPv6; SACK 138.
		{"MRC over IPv6: +126 B on every packet, SACK 138 B.",
			Wire{Name: "mrc", First: 126, Middle: 126, Last: 126, Only: 126, Ack: 138}},
		{"Scala's RoCE NIC model: +58 B, ACK 126 B; no preamble, gap or ICRC.",
			Wire{Name: "scala-roce", First: 58, Middle: 58, Last: 58, Only: 58, Ack: 126}},
		{"Scala's UET NIC model: +106 B, ACK 78 B; no preamble or gap.",
			Wire{Name: "scala-uet", First: 106, Middle: 106, Last: 106, Only: 106, Ack: 78}},
		{"htsim: +64 B flat, ACK 64 B; no preamble or gap.",
			Wire{Name: "htsim", First: 64, Middle: 64, Last: 64, Only: 64, Ack: 64}},
		{"ns-3 RDMA simulators: +48 B, ACK 60 B; no preamble or gap.",
			Wire{Name: "ns3", First: 48, Middle: 48, Last: 48, Only: 48, Ack: 60}},
		{"No headers, and acknowledgements of no size.", Wire{Name: "none"}},
	}
}

// WirePresets lists the framings a network file may name.
func WirePresets() []Info {
	var out []Info
	for _, p := range wirePresets() {
		out = append(out, Info{Name: p.Wire.Name, Summary: p.Doc})
	}
	return out
}

// WirePreset returns a framing by name.
func WirePreset(name string) (Wire, bool) {
	for _, p := range wirePresets() {
		if p.Wire.Name == name {
			return p.Wire, true
		}
	}
	return Wire{}, false
}

// wireDoc is the wire section: a preset, any size of which may be replaced.
type wireDoc struct {
	Preset   string `yaml:"preset,short" default:"rocev2" doc:"Framing preset: rocev2, infiniband, uet, mrc, scala-roce, scala-uet, htsim, ns3 or none."`
	First    *int64 `yaml:"first" unit:"size" range:"0B..64KiB" doc:"Bytes added to the first of several packets."`
	Middle   *int64 `yaml:"middle" unit:"size" range:"0B..64KiB" doc:"Bytes added to packets between the first and the last."`
	Last     *int64 `yaml:"last" unit:"size" range:"0B..64KiB" doc:"Bytes added to the last of several packets."`
	Only     *int64 `yaml:"only" unit:"size" range:"0B..64KiB" doc:"Bytes added to the only packet of a message."`
	Ack      *int64 `yaml:"ack" unit:"size" range:"0B..64KiB" doc:"Size of an acknowledgement on the link."`
	MinFrame *int64 `yaml:"min_frame" unit:"size" range:"0B..64KiB" doc:"Least size of any frame on the link."`
}

func (d *wireDoc) wire(node *yamldoc.Node, list *diag.List) Wire {
	w, ok := WirePreset(d.Preset)
	if !ok {
		pos := node.Pos
		if p := node.Get("preset"); p != nil {
			pos = p.Pos
		}
		var names []string
		for _, p := range wirePresets() {
			names = append(names, p.Wire.Name)
		}
		list.Errorf("E809", pos, "unknown wire preset %q%s", d.Preset, diag.DidYouMean(d.Preset, names)).Note("presets: %s", joined(names))
	}
	for _, o := range []struct {
		from *int64
		to   *int64
	}{{d.First, &w.First}, {d.Middle, &w.Middle}, {d.Last, &w.Last}, {d.Only, &w.Only}, {d.Ack, &w.Ack}, {d.MinFrame, &w.MinFrame}} {
		if o.from != nil {
			*o.to = *o.from
		}
	}
	return w
}

// Packet returns the link bytes of packet i of n with the given payload.
func (w Wire) Packet(i, n, payload int64) int64 {
	add := w.Middle
	switch {
	case n == 1:
		add = w.Only
	case i == 0:
		add = w.First
	case i == n-1:
		add = w.Last
	}
	return max(payload+add, w.MinFrame)
}

// Message returns the number of packets and of link bytes of a message of size
// bytes cut at mtu; a message of no bytes is one packet.
func (w Wire) Message(size, mtu int64) (packets, bytes int64) {
	packets = size / mtu
	if size%mtu != 0 || size == 0 {
		packets++
	}
	if packets == 1 {
		return 1, w.Packet(0, 1, size)
	}
	last := size - (packets-1)*mtu
	bytes = w.Packet(0, packets, mtu) + w.Packet(packets-1, packets, last)
	return packets, bytes + (packets-2)*w.Packet(1, packets, mtu)
}
