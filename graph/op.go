package graph

// Kind says what an operation does.
type Kind uint8

// Operation kinds. The first group takes part in timing, the second is control
// flow that a cursor follows without any time passing.
const (
	// Compute occupies the rank's processor for the operation's cost.
	Compute Kind = iota
	// Load and Store are memory operations of a fixed time or a size.
	Load
	Store
	// Send and Recv are the two sides of a message.
	Send
	Recv
	// Collective is this rank's part of a collective of its group.
	Collective
	// Join takes no time; it waits for its dependencies. Trace metadata nodes and
	// wait statements are joins.
	Join

	// Loop repeats the operations up to its End, Peer times.
	Loop
	// End closes a Loop.
	End
	// Branch goes on behind itself if Peer is not zero, else at Arg.
	Branch
	// Jump goes on at Arg.
	Jump
	// ScopeEnd forgets the labels Arg up to, but not including, Arg+Label: they die
	// with their block.
	ScopeEnd
	// NumKinds is the number of kinds.
	NumKinds = iota
)

// String returns the kind's name in the graph's text form.
func (k Kind) String() string {
	return [...]string{"compute", "load", "store", "send", "recv", "collective", "join",
		"loop", "end", "branch", "jump", "scope-end"}[k]
}

// Timed reports whether the kind takes part in timing.
func (k Kind) Timed() bool { return k <= Join }

// Flags modify an operation.
type Flags uint16

// Flags of operations.
const (
	// Async lets the rank's thread go on at once; without it the thread stops until
	// the operation is complete.
	Async Flags = 1 << iota
	// More marks a member of a composite (halo, exchange, send-receive) that is not
	// its last: the thread issues the next operation too before it stops for all.
	More
	// HostCPU marks a compute operation of the host processor, which does not share
	// the accelerator's capacity.
	HostCPU
	// Eager and Rendezvous fix the protocol of a send; without either the network's
	// eager limit decides.
	Eager
	Rendezvous
	// Injected marks time that stands for a disturbance (delay), not for work.
	Injected
	// Skipped marks a trace collective that could not be expanded: it takes its
	// recorded duration and sends nothing.
	Skipped
	// WaitAll on a Join waits for every outstanding operation of the rank.
	WaitAll
	// Synchronize on a Collective puts the zero-byte tree barrier before it.
	Synchronize
)

// Has reports whether all given flags are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// Wildcards of receives, and the partner that makes an operation vanish.
const (
	// AnyRank matches every source.
	AnyRank = -1
	// AnyTag matches every tag.
	AnyTag = -1
)

// Op is one static operation. Which operands it has depends on its kind:
//
//	Compute, Load, Store  Arg = index in Program.Works
//	Send                  Peer = destination (world rank), Tag, Size in bytes, Arg = context
//	Recv                  Peer = source or AnyRank, Tag or AnyTag, Size = buffer bytes, Arg = context
//	Collective            Arg = index in Program.Calls; Peer = root as position in the group,
//	                      Tag = group id, Size = bytes as written, Index = instance number in flat programs
//	Join                  dependencies only
//	Loop                  Peer = trip count, Arg = index of its End, Label = slot of the loop counter
//	End                   Arg = index of its Loop
//	Branch, Jump          see Kind
type Op struct {
	Kind  Kind
	Flags Flags
	// Stream is 0, or 1 + the stream whose operations run one after another in
	// issue order.
	Stream uint16
	// Site says where the operation was written.
	Site int32

	Peer, Tag, Size Value
	// Arg is the kind's index operand.
	Arg int32
	// Label names the instances of this operation for dependencies, or is -1;
	// Index distinguishes instances of one label (@ar[b]).
	Label int32
	Index Value
	// DepLo and DepHi bound the explicit dependencies in Program.Deps.
	DepLo, DepHi int32
}

// DepMode says which instances of a label a dependency means.
type DepMode uint8

// Dependency modes.
const (
	// DepOp: the operation with this index in a flat program.
	DepOp DepMode = iota
	// DepLabel: the latest instance of the label.
	DepLabel
	// DepIndex: the instances of the label whose index equals Index.
	DepIndex
	// DepEach: all instances of the label.
	DepEach
	// DepPrev: the instance Back iterations ago of the innermost loop around both.
	DepPrev
)

// Dep is one explicit dependency: the operation that holds it starts only after
// the instances it names have completed. Instances that do not exist (any more)
// count as complete.
type Dep struct {
	Mode DepMode
	// Target is an operation index (DepOp) or a label.
	Target int32
	Index  Value
	Back   int32
}

// CollType is a type of collective.
type CollType uint8

// The collective types: those of the Chakra schema in its order, then our own.
const (
	AllReduce CollType = iota
	Reduce
	AllGather
	Gather
	Scatter
	Broadcast
	AllToAll
	ReduceScatter
	ReduceScatterBlock
	Barrier
	// AllToAllV is an all-to-all in which every pair has a size of its own.
	AllToAllV
	// NumCollTypes is the number of types, ChakraCollTypes of those that a trace names.
	NumCollTypes, ChakraCollTypes = iota, iota - 1
)

// collNames are the names that users write, in the order of the types.
func collNames() [NumCollTypes]string {
	return [...]string{"allreduce", "reduce", "allgather", "gather", "scatter", "broadcast", "alltoall",
		"reducescatter", "reducescatterblock", "barrier", "alltoallv"}
}

// String returns the type's name as files and flags spell it.
func (t CollType) String() string { return collNames()[t] }

// CollTypeNamed returns the type with the given name.
func CollTypeNamed(name string) (CollType, bool) {
	for i, n := range collNames() {
		if n == name {
			return CollType(i), true
		}
	}
	return 0, false
}

// Call is what a Collective operation calls.
type Call struct {
	Type CollType
	// Algorithm is the name in the collective table; "" until the pass that chooses
	// defaults has run.
	Algorithm string
	// Sizes are the sizes of an AllToAllV; without them every pair has C = ceil(S/N).
	Sizes PairSizes
}

// PairSizes gives the bytes of each transfer of an AllToAllV. Its environment is that
// of the sender: Rank is the sender's world rank and Peer the receiver's position in
// the group. Both sides evaluate it when the transfer starts, with the loop counters
// that held when their thread reached the operation.
type PairSizes interface {
	Expr
	// Varies reports whether sizes depend on loop counters.
	Varies() bool
}
