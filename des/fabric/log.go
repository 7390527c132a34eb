package fabric

import "hybrid/internal/units"

// Log is what is counted of a traffic class at an output of a Buffered switch where
// somebody records. It changes nothing of what the switch does.
type Log struct {
	// Sent counts the packets whose transmission has started, Drops those that were lost
	// on their way to the output and Cuts those cut to their header.
	Sent        Count
	Drops, Cuts int64
	Stops       Stops
	most        int64 // bytes in memory since the last look, as far as some have left
}

// Stops counts the pauses of a class at a transmitter.
type Stops struct {
	// Frames counts the pause frames that have stopped the class, repetitions included.
	Frames int64

	total        units.Time // of the pauses before the last frame
	since, until units.Time // of the last frame
}

// Frame notes a pause frame that has taken effect now and stops the class until a time,
// or, if that is not later, lets it go on.
func (s *Stops) Frame(now, until units.Time) {
	s.total = s.Before(now)
	if s.since, s.until = now, until; until > now {
		s.Frames++
	}
}

// Before returns how long the class was paused before a time; [units.Never] stands for the
// end of all pauses.
func (s *Stops) Before(at units.Time) units.Time {
	return s.total + max(min(at, s.until)-s.since, 0)
}

// Record lets the switch count by traffic class from now on.
func (s *Buffered) Record() {
	s.begun = make([]int64, len(s.inlets))
	n := len(s.Classes) + 1
	logs := make([]Log, len(s.outlets)*n)
	for i := range s.outlets {
		o := &s.outlets[i]
		o.wire.sent = nil // see Sent
		if f := o.wire.faults; f != nil {
			f.recorded = true
		}
		o.log, logs = logs[:n:n], logs[n:]
	}
}

// counts says whether a frame that starts now is to be counted: somebody records, and the
// link is not down.
func (o *outlet) counts(now units.Time) bool {
	return o.log != nil && (o.wire.faults == nil || !o.wire.faults.Dead(now))
}

// Sent hands over, for each outgoing link, the frames whose transmission has started.
func (s *Buffered) Sent(take func(link int32, c Count)) {
	for i := range s.outlets {
		var sum Count
		for c := range s.outlets[i].log {
			sent := &s.outlets[i].log[c].Sent
			sum.Packets, sum.Bytes = sum.Packets+sent.Packets, sum.Bytes+sent.Bytes
		}
		take(s.outlets[i].link, sum)
	}
}

// Queue is what a switch tells of a class at an output.
type Queue struct {
	*Log
	// Marks counts marked packets. Most is the most bytes that the class has had in memory
	// at once since the last look, with the packet that is being sent.
	Marks, Most int64
}

// Look hands over what has been counted of each class at each outgoing link.
func (s *Buffered) Look(take func(link int32, class int, q Queue)) {
	for i := range s.outlets {
		o := &s.outlets[i]
		for c := range o.queues {
			l, q := &o.log[c], &o.queues[c]
			take(o.link, c, Queue{l, q.Marked, max(l.most, q.bytes)})
			l.most = 0
		}
	}
}

// Begun hands over, for each incoming link that was ever paused, how often.
func (s *Buffered) Begun(take func(link int32, pauses int64)) {
	for i, n := range s.begun {
		if n > 0 {
			take(s.inlets[i].Link, n)
		}
	}
}
