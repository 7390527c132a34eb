package scaleup

import (
	"math"

	"hybrid/internal/units"
)

// rate turns sizes into times at a group's bandwidth.
type rate struct {
	clock   units.Clock
	perByte units.Rat
	header  int64
	// ticks is the time of a byte where it is whole and every packet's time fits,
	// else -1.
	ticks int64
}

func newRate(cfg *Config, perByte units.Rat) rate {
	r := rate{clock: cfg.Clock, perByte: perByte, header: cfg.Header, ticks: -1}
	if !cfg.Clock.Exact {
		return r
	}
	one, most := cfg.Clock.Span(perByte, 1), cfg.Header+cfg.Payload
	if one == 0 || most <= math.MaxInt64/one/max(1, int64(len(cfg.Group))) {
		r.ticks = one
	}
	return r
}

// span returns how long a packet with some data takes where n queues share the bandwidth.
// It is rounded once where the clock is not exact.
func (r *rate) span(data int64, n int32) units.Time {
	if r.ticks >= 0 {
		return (data + r.header) * int64(n) * r.ticks
	}
	return r.clock.Span(r.perByte, (data+r.header)*int64(n))
}
