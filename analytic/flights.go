package analytic

import "hybrid/internal/units"

// flights keeps the messages of a rank in order: those to one destination do not
// overtake each other. It holds what is still on its way.
type flights struct {
	all    []flight
	oldest int        // index of the first that counts
	latest units.Time // of all arrivals so far
}

type flight struct {
	at  units.Time
	dst int32
}

// arrival returns when a message to dst arrives that would be there at time at, and
// remembers it. No later message arrives before soonest.
func (f *flights) arrival(dst int32, at, soonest units.Time) units.Time {
	for f.oldest < len(f.all) && f.all[f.oldest].at <= soonest {
		f.oldest++
	}
	if at < f.latest {
		for _, o := range f.all[f.oldest:] {
			if o.dst == dst {
				at = max(at, o.at)
			}
		}
	}
	f.latest = max(f.latest, at)
	if f.oldest > 8 && 2*f.oldest >= len(f.all) {
		f.all = f.all[:copy(f.all, f.all[f.oldest:])]
		f.oldest = 0
	}
	f.all = append(f.all, flight{at, dst})
	return at
}
