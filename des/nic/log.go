package nic

import (
	"hybrid/des/fabric"
	"hybrid/internal/units"
)

// portLog is what is counted at a port where somebody records.
type portLog struct {
	acks  fabric.Count
	stops [2]fabric.Stops // by kind of frame
}

// Record lets the NIC count by kind of frame from now on.
func (n *NIC) Record() {
	for i := range n.ports {
		n.ports[i].log = &portLog{}
	}
}

// Stopped is what a NIC tells of one kind of frames at a port.
type Stopped struct {
	// Acks counts the acknowledgements among the frames that were sent.
	Acks fabric.Count
	// Frames counts the pause frames that stopped the kind, repetitions included, and
	// Time is how long it was paused.
	Frames int64
	Time   units.Time
}

// Look hands over for each outgoing link what has been counted before a time of data and
// of acknowledgements.
func (n *NIC) Look(at units.Time, take func(link int32, data, acks Stopped)) {
	for i := range n.ports {
		l := n.ports[i].log
		if l == nil {
			continue
		}
		d, a := &l.stops[frameData], &l.stops[frameAck]
		take(n.first+int32(i), Stopped{Frames: d.Frames, Time: d.Before(at)}, Stopped{l.acks, a.Frames, a.Before(at)})
	}
}
