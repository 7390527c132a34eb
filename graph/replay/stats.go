package replay

// Stats are what a simulation cost beyond the counts of its [Result]. They depend on
// threads and machine and are no part of any result.
type Stats struct {
	// Threads are the events that each thread handled.
	Threads []int64
	// Visits counts, over all windows, the processes (nodes and switches) that had something
	// to do in it.
	Visits int64
	// QueuePairs is how many queue pairs came into being.
	QueuePairs int64
	// Queues are the longest queues at outputs of switches, longest first.
	Queues []QueueStat
	// Estimate is the memory that was foreseen in bytes, Peak the most that the process
	// has held, Allocated what was allocated in all, and Allocations in how many pieces; 0
	// where it is not known.
	Estimate, Peak, Allocated, Allocations int64
}

// QueueStat is the queue of one link.
type QueueStat struct {
	// Link describes the link, Bytes is the most that an arriving packet found before it.
	Link  string
	Bytes int64
}
