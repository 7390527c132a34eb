package chakra

import "hybrid/graph"

// NodeType is the type of a trace node in the numbering of the current schema.
type NodeType uint8

// Node types.
const (
	InvalidNode NodeType = iota
	MetadataNode
	MemLoadNode
	MemStoreNode
	CompNode
	CommSendNode
	CommRecvNode
	CommCollNode
	numNodeTypes = iota
)

// String returns the type's name in the schema.
func (t NodeType) String() string {
	if t >= numNodeTypes {
		return "INVALID_NODE"
	}
	return [...]string{"INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
		"COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"}[t]
}

// collName returns a collective type as the schema spells it. The numbers of the
// current schema are those of [graph.CollType].
func collName(t graph.CollType) string {
	return [...]string{"ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL",
		"REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"}[t]
}

// slot is a place for one integer attribute of a node.
type slot uint8

const (
	slotCommType slot = iota
	slotCommSize
	slotTensorSize
	slotNumOps
	slotSrc
	slotDst
	slotTag
	slotRoot
	slotOrder
	slotCPU
	slotGroup
	slotRuntime
	numSlots
	// slotGroupName is the one attribute that is text.
	slotGroupName
	slotNone
)

// slotName is the attribute's name in messages.
func slotName(s slot) string {
	return [...]string{"comm_type", "comm_size", "tensor_size", "num_ops", "comm_src", "comm_dst", "comm_tag",
		"root", "comm_seq", "is_cpu_op", "comm_group", "runtime"}[s]
}

// attrSlot returns the slot of an attribute name, and its precedence among the
// names that share the slot: a lower number wins.
func attrSlot(name []byte) (slot, uint8) {
	switch string(name) {
	case "comm_type":
		return slotCommType, 0
	case "comm_size":
		return slotCommSize, 0
	case "tensor_size":
		return slotTensorSize, 0
	case "num_ops":
		return slotNumOps, 0
	case "comm_src":
		return slotSrc, 0
	case "comm_dst":
		return slotDst, 0
	case "comm_tag":
		return slotTag, 0
	case "root":
		return slotRoot, 0
	case "root_rank":
		return slotRoot, 1
	case "comm_root":
		return slotRoot, 2
	case "comm_seq":
		return slotOrder, 0
	case "issue_order":
		return slotOrder, 1
	case "seq_num":
		return slotOrder, 2
	case "is_cpu_op":
		return slotCPU, 0
	case "comm_group":
		return slotGroup, 0
	case "runtime":
		return slotRuntime, 0
	case "pg_name":
		return slotGroupName, 0
	}
	return slotNone, 0
}

// action says what a field of a node message is.
type action uint8

const (
	actSkip action = iota
	actID
	actName
	actType
	actCtrl
	actData
	actStart
	actDuration
	actInputs
	actAttr
	// actSlot + s stores an integer in slot s.
	actSlot
)

// valueKind says how a member of an attribute's value union is read.
type valueKind uint8

const (
	kindSkip valueKind = iota
	kindInt64
	kindInt32
	kindUint32
	kindUint64
	kindSint32
	kindSint64
	kindFixed32
	kindSfixed32
	kindFixed64
	kindSfixed64
	kindBool
	kindFloat
	kindDouble
	kindText
	// kindIntOrText is an integer or a string by its wire type: a field that was
	// renumbered within one schema version.
	kindIntOrText
	// kindList is a list, which no attribute of interest is; it displaces another
	// member of the union.
	kindList
)

const maxField = 32

// schema is one version of the trace format: the meaning of field numbers and the
// numbering of enumerations.
type schema struct {
	Name, Doc string
	// current marks the schema whose inputs are messages and whose attribute values
	// are one union.
	current bool
	// node and value are indexed by field number.
	node  [maxField + 1]action
	value [maxField + 1]valueKind
	// types and colls translate enumerations of old schemas; nil keeps the number.
	types []NodeType
	colls []int8
}

// schemas is the table of formats. The current one is first.
func schemas() []schema {
	oldTypes := []NodeType{InvalidNode, MemLoadNode, MemStoreNode, CompNode, CommSendNode, CommRecvNode, CommCollNode}
	oldNode := [maxField + 1]action{1: actID, 2: actName, 3: actType, 4: actData, 5: actInputs, 11: actAttr}
	oldColls := []int8{int8(graph.AllReduce), int8(graph.AllToAll), int8(graph.AllGather), int8(graph.ReduceScatter), int8(graph.Broadcast)}
	return []schema{
		{
			Name: "0.0.4", Doc: "the current schema, also written as 1.0.0 (proto3, since October 2023)", current: true,
			node: [maxField + 1]action{1: actID, 2: actName, 3: actType, 4: actCtrl, 5: actData, 6: actStart, 7: actDuration, 8: actInputs, 10: actAttr},
			value: [maxField + 1]valueKind{3: kindDouble, 4: kindList, 5: kindFloat, 6: kindList, 7: kindInt32, 8: kindList, 9: kindInt64, 10: kindList,
				11: kindUint32, 12: kindList, 13: kindUint64, 14: kindList, 15: kindSint32, 16: kindList, 17: kindSint64, 18: kindList,
				19: kindFixed32, 20: kindList, 21: kindFixed64, 22: kindList, 23: kindSfixed32, 24: kindList, 25: kindSfixed64, 26: kindList,
				27: kindBool, 28: kindList, 29: kindText, 30: kindList, 31: kindText, 32: kindList},
		},
		{
			Name: "0.0.3", Doc: "July to October 2023: today's node types, attributes with a type field",
			node: oldNode, colls: oldColls,
			value: [maxField + 1]valueKind{4: kindBool, 5: kindFloat, 6: kindInt64, 7: kindIntOrText, 8: kindText},
		},
		{
			Name: "0.0.2", Doc: "June 2023: old node types, attributes with a type field",
			node: oldNode, types: oldTypes, colls: oldColls,
			value: [maxField + 1]valueKind{4: kindFloat, 5: kindInt64, 6: kindText},
		},
		{
			Name: "0.0.1", Doc: "January 2023: old node types, every quantity a field of its own",
			node: [maxField + 1]action{1: actID, 2: actName, 3: actType, 4: actData, 6: actSlot + action(slotTensorSize), 7: actDuration,
				12: actSlot + action(slotNumOps), 13: actSlot + action(slotCommType), 15: actSlot + action(slotGroup), 16: actSlot + action(slotSrc),
				17: actSlot + action(slotDst), 18: actSlot + action(slotCommSize), 19: actSlot + action(slotTag)},
			types: oldTypes,
			colls: []int8{-1, int8(graph.AllReduce), int8(graph.AllToAll), int8(graph.AllGather), int8(graph.ReduceScatter)},
		},
	}
}

// schemaNamed returns the schema of a version text.
func schemaNamed(name string) (*schema, bool) {
	if name == "1.0.0" {
		name = "0.0.4"
	}
	all := schemas()
	for i := range all {
		if all[i].Name == name {
			return &all[i], true
		}
	}
	return nil, false
}

// schemaNames lists the versions that Options.Schema accepts.
func schemaNames() []string {
	names := []string{"1.0.0"}
	for _, s := range schemas() {
		names = append(names, s.Name)
	}
	return names
}
