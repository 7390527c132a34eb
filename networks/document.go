package networks

import (
	"maps"

	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// document is a network file. Its tags are the reference of every key that is read
// here; nic, topology and switch have keys of their own beside these.
type document struct {
	Name        string            `yaml:"name" doc:"Name of the network; the file's name without ending."`
	Summary     string            `yaml:"summary" doc:"One sentence that hybrid list networks prints."`
	Source      string            `yaml:"source" doc:"Where each figure comes from."`
	Levels      levelsDoc         `yaml:"levels" doc:"Closed-form parameters by distance; a missing level falls back to the next wider one."`
	Collectives map[string]string `yaml:"collectives" doc:"Default algorithm of each collective type."`
	Topology    *yamldoc.Node     `yaml:"topology" doc:"Kind of topology and its sizes."`
	Fabric      fabricDoc         `yaml:"fabric" doc:"Links, switches and framing."`
	NIC         nicDoc            `yaml:"nic" doc:"Transport and its parameters."`
	ScaleUp     scaleUpDoc        `yaml:"scale_up" doc:"Packets of the scale-up fabric; its groups come from the mapping file."`
	Host        hostDoc           `yaml:"host" doc:"Processor time per message in the packet engine."`
	Node        nodeDoc           `yaml:"node" doc:"Transfers that stay inside a rank."`
	Faults      []faultDoc        `yaml:"faults" doc:"Links that fail, are slower than the others, or lose frames."`
	Models      *yamldoc.Node     `yaml:"models" doc:"Parameters of analytic models, by model."`
}

type levelsDoc struct {
	IntraChip    levelDoc `yaml:"intra_chip" doc:"Two ranks on one socket or memory domain."`
	InterChip    levelDoc `yaml:"inter_chip" doc:"Two ranks on two sockets of a node."`
	InterNode    levelDoc `yaml:"inter_node" doc:"Two ranks on two nodes."`
	InterCluster levelDoc `yaml:"inter_cluster" doc:"Two ranks in two clusters."`
}

func (d *levelsDoc) all() [Levels]*levelDoc {
	return [Levels]*levelDoc{&d.IntraChip, &d.InterChip, &d.InterNode, &d.InterCluster}
}

type levelDoc struct {
	EagerLimit *int64        `yaml:"eager_limit" unit:"size" range:"0B.." doc:"Messages up to this size are eager, larger ones rendezvous; without it all are eager."`
	Hockney    *yamldoc.Node `yaml:"hockney" doc:"Hockney's model, or pieces of it."`
	LogGP      *yamldoc.Node `yaml:"loggp" doc:"The LogGP model, or pieces of it."`
}

// hockneyDoc is one piece of Hockney's model.
type hockneyDoc struct {
	From      int64     `yaml:"from" unit:"size" default:"0B" range:"0B.." doc:"Smallest message of this piece."`
	Latency   int64     `yaml:"latency,required" unit:"time" range:"0ns.." doc:"Time of an empty message."`
	Bandwidth units.Rat `yaml:"bandwidth,required" unit:"rate" doc:"Rate of a long message, or its inverse such as 0.08ns/B."`
}

// loggpDoc is one piece of the LogGP model.
type loggpDoc struct {
	From int64     `yaml:"from" unit:"size" default:"0B" range:"0B.." doc:"Smallest message of this piece."`
	L    int64     `yaml:"L,required" unit:"time" range:"0ns.." doc:"Latency of the network."`
	Over int64     `yaml:"o,required" unit:"time" range:"0ns.." doc:"Processor time to send or receive a message."`
	Gap  int64     `yaml:"g" unit:"time" default:"0ns" range:"0ns.." doc:"Least time between two messages of a process."`
	G    units.Rat `yaml:"G,required" unit:"perbyte" range:"0ns/B.." doc:"Time per byte of a long message."`
	O    units.Rat `yaml:"O" unit:"perbyte" default:"0ns/B" range:"0ns/B.." doc:"Processor time per byte."`
}

type fabricDoc struct {
	Link    linkDoc       `yaml:"link" doc:"Default link; a tier of the topology may override it."`
	Switch  switchDoc     `yaml:"switch" doc:"Every switch of the fabric."`
	Wire    wireDoc       `yaml:"wire" doc:"Header and framing bytes: a preset, any size of which may be replaced."`
	Routing *yamldoc.Node `yaml:"routing" doc:"How packets find their way among several: a kind, or a mapping with kind and its keys; hybrid list routings prints them."`
	Reroute int64         `yaml:"reroute" unit:"time" default:"0ns" range:"0ns.." doc:"Time after which switches and NICs know that a link elsewhere has gone down or come back."`
	MTU     int64         `yaml:"mtu" unit:"size" default:"4096B" range:"1B..1MiB" doc:"Payload of a full packet."`
}

type linkDoc struct {
	Rate  *units.Rat `yaml:"rate" unit:"rate" doc:"Rate of a link, both directions at once."`
	Delay *int64     `yaml:"delay" unit:"time" range:"0ns.." doc:"Propagation delay of a link."`
}

type switchDoc struct {
	Latency    int64         `yaml:"latency" unit:"time" default:"0ns" range:"0ns.." doc:"Time between a packet's arrival and its output queue."`
	Forwarding string        `yaml:"forwarding" default:"store-and-forward" oneof:"store-and-forward|cut-through" doc:"Whether a packet is received whole before it is sent on."`
	Buffer     *int64        `yaml:"buffer" unit:"size" range:"0B.." doc:"Packet memory of a switch; without it unlimited."`
	Own        *yamldoc.Node `yaml:",rest"`
}

type nicDoc struct {
	Transport string        `yaml:"transport,short" default:"roce" doc:"Transport: roce, uet, mrc or ideal; hybrid list transports prints them."`
	Own       *yamldoc.Node `yaml:",rest"`
}

type scaleUpDoc struct {
	Header  int64 `yaml:"header" unit:"size" default:"24B" range:"0B..64MiB" doc:"Header of a scale-up packet."`
	Payload int64 `yaml:"payload" unit:"size" default:"4096B" range:"1B..64MiB" doc:"Payload of a full scale-up packet."`
}

type hostDoc struct {
	Send    *int64 `yaml:"send_overhead" unit:"time" range:"0ns.." doc:"Processor time to send a message; default o of levels.inter_node.loggp for blueprints and GOAL, 0 for Chakra traces."`
	Receive *int64 `yaml:"receive_overhead" unit:"time" range:"0ns.." doc:"Processor time to receive a message; default as for send_overhead."`
}

type nodeDoc struct {
	Copy *units.Rat `yaml:"copy_bandwidth" unit:"rate" doc:"Rate at which a rank's transfers to itself are copied; without it they are free."`
}

// piecesDoc is the piecewise form of either model.
type piecesDoc struct {
	Pieces []*yamldoc.Node `yaml:"pieces,required" doc:"Size ranges with rising from, each valid until the next."`
}

// Parameters returns every parameter that this package reads, with its path in the
// file. Keys of a topology stand under topology, once for each kind that has them.
func Parameters() []yamldoc.Field {
	var out []yamldoc.Field
	for _, f := range yamldoc.Fields(document{}) {
		out = append(out, f)
		switch f.Path {
		case "topology":
			out = append(out, topologyFields()...)
		case "levels.intra_chip.hockney", "levels.inter_chip.hockney", "levels.inter_node.hockney", "levels.inter_cluster.hockney":
			out = append(out, under(f.Path, yamldoc.Fields(hockneyDoc{}))...)
		case "levels.intra_chip.loggp", "levels.inter_chip.loggp", "levels.inter_node.loggp", "levels.inter_cluster.loggp":
			out = append(out, under(f.Path, yamldoc.Fields(loggpDoc{}))...)
		}
	}
	return out
}

func topologyFields() []yamldoc.Field {
	out := under("topology", yamldoc.Fields(topologySection{}))
	for _, k := range topologyKinds() {
		fields := under("topology", yamldoc.Fields(k.New()))
		for i := range fields {
			fields[i].Doc = k.Name + ": " + fields[i].Doc
		}
		out = append(out, fields...)
	}
	return out
}

func under(path string, fields []yamldoc.Field) []yamldoc.Field {
	for i := range fields {
		fields[i].Path = path + "." + fields[i].Path
	}
	return fields
}

// Schema returns the JSON Schema (draft 2020-12) of a network file, with the keys of
// the nic section, of fabric.routing and of fabric.switch as [yamldoc.Schema] gives them for
// what belongs to the engine; nil leaves a section open.
func Schema(nic, routing, switches map[string]any) []byte {
	s := yamldoc.Schema(document{})
	properties := s["properties"].(map[string]any)
	properties["topology"] = topologySchema()
	levels := properties["levels"].(map[string]any)["properties"].(map[string]any)
	for _, l := range levels {
		p := l.(map[string]any)["properties"].(map[string]any)
		p["hockney"] = piecewiseSchema(hockneyDoc{})
		p["loggp"] = piecewiseSchema(loggpDoc{})
	}
	if nic != nil {
		properties["nic"] = nic
	}
	fabric := properties["fabric"].(map[string]any)["properties"].(map[string]any)
	if routing != nil {
		fabric["routing"] = routing
	}
	if switches != nil {
		own := fabric["switch"].(map[string]any)
		maps.Copy(own["properties"].(map[string]any), switches["properties"].(map[string]any))
		own["additionalProperties"] = false
	}
	return yamldoc.SchemaDocument("hybrid network", s)
}

func piecewiseSchema(piece any) map[string]any {
	one := yamldoc.Schema(piece)
	many := map[string]any{"type": "object", "additionalProperties": false, "required": []string{"pieces"},
		"properties": map[string]any{"pieces": map[string]any{"type": "array", "minItems": 1, "items": one}}}
	return map[string]any{"anyOf": []any{one, many}}
}

func topologySchema() map[string]any {
	var kinds []any
	for _, k := range topologyKinds() {
		s := yamldoc.Schema(k.New())
		s["properties"].(map[string]any)["kind"] = map[string]any{"const": k.Name, "description": k.Doc}
		s["required"] = []string{"kind"}
		kinds = append(kinds, s, map[string]any{"const": k.Name})
	}
	return map[string]any{"anyOf": kinds}
}
