package des

import (
	"fmt"
	"slices"
	"strings"

	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// pausedQueue is a paused queue at an output port of a switch.
type pausedQueue struct {
	link  int32
	class uint8
}

// circle finds paused queues of which each holds packets for the next, and the last for the
// first; nil if there is none. It goes through switches alone: a host takes in whatever
// comes and pauses nobody, and what a switch does not let a host send waits in no memory
// that another could fill.
//
// A frame that a switch cutting through has in part is in no queue: its rest comes without
// anybody's leave, and when it is whole it waits in one. A class held to a rate is none that is paused. Where ports are
// chosen by queues a packet waits at the port it was given when it came. So queues that are paused are all there is.
//
// The search is depth first from the lowest link; a queue waits for every queue at the far
// switch that is paused and has packets of its link.
func (r *run) circle() []pausedQueue {
	now := r.kernel.Reached
	done := map[pausedQueue]bool{}
	for _, s := range r.buffered {
		var from []pausedQueue
		s.Paused(now, func(link int32, class uint8) { from = append(from, pausedQueue{link, class}) })
		for _, q := range from {
			if way := r.follow(q, done, now); way != nil {
				return way
			}
		}
	}
	return nil
}

// follow searches from one queue for a circle; done holds the queues that lead to none.
func (r *run) follow(from pausedQueue, done map[pausedQueue]bool, now units.Time) []pausedQueue {
	type step struct {
		queue pausedQueue
		next  []pausedQueue
	}
	if done[from] {
		return nil
	}
	way := []step{{from, r.holders(from, now)}}
	done[from] = true
	for len(way) > 0 {
		last := &way[len(way)-1]
		if len(last.next) == 0 {
			way = way[:len(way)-1]
			continue
		}
		to := last.next[0]
		last.next = last.next[1:]
		if at := slices.IndexFunc(way, func(s step) bool { return s.queue == to }); at >= 0 {
			var circle []pausedQueue
			for _, s := range way[at:] {
				circle = append(circle, s.queue)
			}
			return circle
		}
		if !done[to] {
			done[to] = true
			way = append(way, step{to, r.holders(to, now)})
		}
	}
	return nil
}

// holders are the queues behind a link that its packets fill and that are paused.
func (r *run) holders(q pausedQueue, now units.Time) (out []pausedQueue) {
	hosts := int32(r.job.Topology.Hosts())
	if to := r.job.Topology.Links()[q.link].To; to >= hosts {
		r.buffered[to-hosts].Holds(q.link, q.class, now, func(link int32) { out = append(out, pausedQueue{link, q.class}) })
	}
	return out
}

// pausedPorts describes the circle, if that is what ended the run.
func (r *run) pausedPorts() (out []replay.PausedPort) {
	links, hosts := r.job.Topology.Links(), r.medium.Hosts
	for _, q := range r.still.circle {
		l := links[q.link]
		at := r.buffered[l.From-hosts].At(q.link, q.class)
		out = append(out, replay.PausedPort{Link: q.link, From: r.nodeName(l.From), To: r.nodeName(l.To), Class: q.class, Bytes: at.Queue,
			Since: r.clockAt(q.link, at.Since), Head: r.frameOf(&at.Head)})
	}
	return out
}

// circleError says which switches a circle goes through.
func (r *run) circleError(way []pausedQueue) error {
	links := r.job.Topology.Links()
	var b strings.Builder
	for _, q := range way {
		fmt.Fprintf(&b, "%s -> ", r.nodeName(links[q.link].From))
	}
	return diag.Diagnostic{Severity: diag.Error, Code: "E970", Message: fmt.Sprintf("pauses have stopped each other in a circle: %s%s", &b, r.nodeName(links[way[0].link].From)),
		Notes: []string{"each of these ports holds packets that the next one would have to send, and is paused by the switch there",
			"no circle comes about where routes go up and then down (leaf-spine, fat-tree), or where each turn of a ring or torus has a class of its own; a larger xoff makes it less likely"}}
}
