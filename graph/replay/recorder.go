package replay

import (
	"hybrid/graph"
	"hybrid/internal/units"
)

// Recorder receives what a simulation does while it goes on, so that record files and
// timelines cost no memory. The engine calls it from one thread, in an order that
// depends on nothing but the simulated program: between windows, with what happened
// since the last call. An error ends the run, which then fails with it.
type Recorder interface {
	// Begin is called once, before anything happens. The clock gives the unit of all
	// times; simulated time begins at 0 when the ranks start.
	Begin(clock units.Clock) error
	// Events delivers events in the order of (T, Rank, Seq, Kind). The slice is reused.
	Events(events []Event) error
	// Parts delivers the parts of collectives that ranks have completed, in the order
	// of (End, Group, Instance, Rank). The slice is reused.
	Parts(parts []CollectiveEnd) error
	// NextMark returns the next time at which the recorder wants to look at the
	// counters, or [units.Never]. It is asked again after each mark.
	NextMark() units.Time
	// Mark is called when everything before the time at, and nothing else, has happened.
	// Counters are totals since the start: links by link ID of the topology, scaleUp by
	// rank (nil without a scale-up fabric). The slices are reused.
	Mark(at units.Time, links, scaleUp []PortCount) error
	// End is called once, with the result of the run and the counters at its end, unless
	// an earlier call failed.
	End(res *Result, links, scaleUp []PortCount) error
}

// Selective is a [Recorder] that says what it has no use for, so that the engine spends
// nothing on it.
type Selective interface {
	// Wants is called once, before Begin.
	Wants() Wants
}

// Wants is what a recorder has use for beside marks; one that is not [Selective] has for
// everything.
type Wants struct {
	// Events asks for all events. Without it the only ones are those of RankEnded, and none
	// where ranks wait for acknowledgements before they end.
	Events bool
	// Parts asks for the parts of collectives.
	Parts bool
	// Queues asks a [QueueRecorder] to be told of queues.
	Queues bool
}

// QueueRecorder is a [Recorder] that also looks at the counters of traffic classes.
type QueueRecorder interface {
	// Queues is called right before each Mark, and before End. Class c at the sending end
	// of link i is queues[i*classes+c]; networks without traffic classes have one. The slice
	// is reused.
	Queues(queues []QueueCount, classes int) error
}

// EventKind says what an [Event] tells.
type EventKind uint8

// Kinds of events.
const (
	// OpStarted: an operation, or a transfer of a collective, has started.
	OpStarted EventKind = iota
	// OpEnded: it is complete and has released what waits for it. A send ends when its
	// last bit has left, a receive when the whole transfer has been received.
	OpEnded
	// Acked: the acknowledgement of a send has reached its sender.
	Acked
	// RankEnded: the rank has nothing left to do and every acknowledgement that it waits
	// for has arrived.
	RankEnded
)

// Event is one thing that happened at a rank. Of a RankEnded event only T, Rank and
// Kind mean something.
type Event struct {
	// T is when it happened, Start when the operation started.
	T, Start units.Time
	Rank     int32
	Kind     EventKind
	// OpKind and Flags are the operation's. Collective marks a transfer of a collective,
	// Sync one of the barrier before it.
	OpKind           graph.Kind
	Flags            graph.Flags
	Collective, Sync bool
	// Op is the operation in the rank's program, of a transfer that of its collective;
	// Step is the transfer's number in the collective or the barrier, or -1.
	Op, Step int32
	// Peer is the partner, graph.AnyRank for a receive that takes any.
	Peer int32
	// Seq is the issue order within the rank; it names the operation from its start to
	// its acknowledgement.
	Seq uint64
	// Tag and Context are the matching key; of a plain transfer [PlainTag] puts them
	// together again, of a collective [ContextCollective] says which it is.
	Tag     int32
	Context uint64
	// Bytes is the size of a transfer after scaling, of a receive that has ended the size
	// of what was sent, or the traffic of a memory operation; Work the duration of a compute or memory operation as it was given,
	// after scaling, in picoseconds. Written is, of a collective's transfer, the size of
	// the collective as it was written.
	Bytes, Work, Written int64
}

// PortCount counts what a port has sent and received since the start. A packet counts
// as sent when its first bit leaves, as received when its last bit has arrived.
type PortCount struct {
	TxPackets, TxBytes, RxPackets, RxBytes int64
	// TxDrops counts the packets that a switch dropped on their way to the link.
	TxDrops int64
	// Queue is, of the packets that have left an output of a switch since the last mark,
	// the most bytes that one found before it when it arrived; 0 at NICs.
	Queue int64
	// TxMarks counts the packets that a switch has marked on their way to the link, TxCuts
	// those that it has cut to their header.
	TxMarks, TxCuts int64
	// Pauses counts how often the switch at the link's end has paused its sender: frames
	// that pause a class (XOFF) without their repetitions. PauseFrames counts those, with
	// repetitions, that have taken effect at the sender.
	Pauses, PauseFrames int64
}

// QueueCount counts what has happened to one traffic class at the sending end of a link
// since the start.
type QueueCount struct {
	// TxPackets and TxBytes are as in [PortCount].
	TxPackets, TxBytes int64
	// Marks, Drops and Cuts count packets that a switch has marked, lost for want of room,
	// or cut to their header; a cut one under the class that it had before.
	Marks, Drops, Cuts int64
	// PauseFrames counts the frames, repetitions included, that have paused the class, and
	// Paused is how long it was paused, in ticks.
	PauseFrames int64
	Paused      units.Time
	// Most is the most bytes since the last mark: at a switch with a packet memory those
	// that the class had in memory for the link at any instant, at others as
	// [PortCount.Queue]; 0 at NICs.
	Most int64
}

// PlainTag returns the tag of a plain transfer as it was written, from its matching
// key.
func PlainTag(tag int32, context uint64) int64 {
	if tag < 0 {
		return graph.AnyTag
	}
	return int64(tag) | int64(context>>32)<<31
}

// ContextCollective returns the group and the instance number of the collective whose
// transfers have this context; ok is false for a plain transfer.
func ContextCollective(context uint64) (group int32, instance int64, ok bool) {
	return int32(context >> 40 & (1<<23 - 1)), int64(context & (1<<40 - 1)), context>>63 != 0
}
