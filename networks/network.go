package networks

import (
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// LevelID is a distance between two ranks.
type LevelID uint8

// The distances, nearest first: one socket or memory domain, one node, one
// cluster, two clusters.
const (
	IntraChip LevelID = iota
	InterChip
	InterNode
	InterCluster
)

// Levels is the number of distances.
const Levels = 4

// String returns the level's key in a network file: intra_chip, inter_chip,
// inter_node or inter_cluster.
func (id LevelID) String() string {
	names := [Levels]string{"intra_chip", "inter_chip", "inter_node", "inter_cluster"}
	if int(id) >= len(names) {
		return "unknown level"
	}
	return names[id]
}

// HockneyPiece is one size range of Hockney's model, T(s) = Latency + s*PerByte
// (R. Hockney, "The communication challenge for MPP", Parallel Computing 20, 1994).
type HockneyPiece struct {
	From    int64     // smallest message, bytes
	Latency int64     // picoseconds
	PerByte units.Rat // picoseconds a byte
}

// LogGPPiece is one size range of the LogGP model (A. Alexandrov et al., "LogGP:
// Incorporating Long Messages into the LogP Model", SPAA 1995) with the per-byte
// overhead O of LogGPS/LogGOPS (T. Hoefler et al., "LogGOPSim", HPDC 2010).
type LogGPPiece struct {
	From     int64     // smallest message, bytes
	L        int64     // latency, picoseconds
	Overhead int64     // o: processor time per message, picoseconds
	Gap      int64     // g: time between messages, picoseconds
	G        units.Rat // gap per byte, picoseconds a byte
	O        units.Rat // processor time per byte, picoseconds a byte
}

// Level holds the closed-form parameters of one distance. Pieces have rising From,
// the first is 0, and each holds until the next begins.
type Level struct {
	// EagerLimit is the largest message sent eagerly, bytes; larger ones rendezvous.
	EagerLimit int64
	Hockney    []HockneyPiece
	LogGP      []LogGPPiece
}

// HockneyAt returns the Hockney parameters of a message of the given size.
func (l *Level) HockneyAt(bytes int64) HockneyPiece {
	p := l.Hockney[0]
	for _, q := range l.Hockney[1:] {
		if bytes < q.From {
			break
		}
		p = q
	}
	return p
}

// LogGPAt returns the LogGP parameters of a message of the given size.
func (l *Level) LogGPAt(bytes int64) LogGPPiece {
	p := l.LogGP[0]
	for _, q := range l.LogGP[1:] {
		if bytes < q.From {
			break
		}
		p = q
	}
	return p
}

// Rates returns every per-byte time of the level, for [units.NewClock].
func (l *Level) Rates() []units.Rat {
	var rates []units.Rat
	for _, p := range l.Hockney {
		rates = append(rates, p.PerByte)
	}
	for _, p := range l.LogGP {
		rates = append(rates, p.G, p.O)
	}
	return rates
}

// Network is one interconnect as its file describes it.
type Network struct {
	// Name is the file's name key, Summary one sentence, Source where the figures
	// come from.
	Name, Summary, Source string
	// File is the path it was read from, or the embedded file's name.
	File string
	// Levels holds the closed-form parameters by [LevelID]; nil where the file has
	// none. [Network.Level] applies the fallback.
	Levels [Levels]*Level
	// Collectives maps a collective type to the default algorithm's name.
	Collectives map[string]string
	Fabric      Fabric
	NIC         NIC
	ScaleUp     ScaleUp
	Host        Host
	Node        NodeParams
	// Doc is the whole document after overrides.
	Doc *yamldoc.Node

	topology parameters
	faults   []fault
}

// Fabric describes links, switches and framing.
type Fabric struct {
	Link   LinkSpec
	Switch SwitchSpec
	Wire   Wire
	// MTU is the payload of a full packet, bytes.
	MTU int64
	// Reroute is the time after which a link's failure, or its end, changes the ways of
	// packets elsewhere, picoseconds.
	Reroute int64
	// Routing is decoded by the engine; nil where the file has none.
	Routing *yamldoc.Node
}

// LinkSpec is one direction of a link.
type LinkSpec struct {
	PerByte units.Rat // picoseconds a byte
	Delay   int64     // propagation, picoseconds
}

// SwitchSpec describes every switch of the fabric.
type SwitchSpec struct {
	// Latency is added to each packet between its arrival and its output queue, picoseconds.
	Latency int64
	// Forwarding is store-and-forward or cut-through.
	Forwarding string
	// Buffer is the packet memory in bytes; nil means unlimited.
	Buffer *int64
	// Section holds the switch's further keys, decoded by the engine.
	Section *yamldoc.Node
}

// NIC names the transport; the transport decodes the rest of the section.
type NIC struct {
	// Transport is a row of the engine's transport table: roce, uet, mrc, ideal.
	Transport string
	// Section is the rest of the nic section with its positions; never nil.
	Section *yamldoc.Node
}

// ScaleUp describes packets of the scale-up fabric.
type ScaleUp struct {
	Header, Payload int64 // bytes
}

// Host gives the processor time per message in the packet engine.
type Host struct {
	// SendOverhead and ReceiveOverhead are picoseconds. Nil means the default: o of
	// the inter_node level for blueprints and GOAL, 0 for Chakra traces.
	SendOverhead, ReceiveOverhead *int64
}

// NodeParams describes what happens inside a node.
type NodeParams struct {
	// CopyPerByte is the time of a byte a rank sends to itself, picoseconds; the zero
	// value means such transfers are free.
	CopyPerByte units.Rat
}

// Level returns the parameters for a distance. A missing level falls back to the
// next wider one that the file has, then to the next narrower; from says which
// level's parameters are returned. ok is false if the file has no level at all.
func (n *Network) Level(id LevelID) (l *Level, from LevelID, ok bool) {
	for w := int(id); w < Levels; w++ {
		if n.Levels[w] != nil {
			return n.Levels[w], LevelID(w), true
		}
	}
	for w := int(id) - 1; w >= 0; w-- {
		if w < Levels && n.Levels[w] != nil {
			return n.Levels[w], LevelID(w), true
		}
	}
	return nil, id, false
}

// Default is the network used where neither the command line nor the workload
// names one.
func Default() string { return "ib-fat-tree-200g" }
