package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
	"hybrid/report/records"
)

// recordOptions are the flags of record files, and of how long a simulation lasts.
type recordOptions struct {
	dir, format                        string
	only                               []string
	interval, deviceInterval, profiles string
	linkInterval                       string
	scaleUp                            bool
	collectiveStart                    string
	start, warmUp, run, coolDown       string

	set *pflag.FlagSet
}

// flags declares the flags.
func (o *recordOptions) flags(f *pflag.FlagSet) {
	o.set = f
	f.StringVar(&o.dir, "records", "", "write the record files of the simulation to a `folder`")
	f.StringVar(&o.format, "records-format", "csv", "form of the record tables: `csv` or parquet")
	f.StringSliceVar(&o.only, "records-only", nil, "write these records only: a `list`")
	f.StringVar(&o.interval, "record-interval", "1ms", "`time` between rows of chakra-cdf; the simulation lasts as long beyond the end of the last rank")
	f.StringVar(&o.deviceInterval, "nd-interval", "1ms", "`time` between rows of nd-stats")
	f.StringVar(&o.linkInterval, "link-interval", "", "`time` between rows of link-stats and queue-stats (default: that of --nd-interval)")
	f.StringVar(&o.profiles, "profile-interval", "", "list the running nodes of each rank at every multiple of a `time`")
	f.BoolVar(&o.scaleUp, "scale-up-stats", false, "scale-up devices in nd-stats")
	f.StringVar(&o.collectiveStart, "collective-start", "latest", "a collective starts with its `latest` or earliest participant, in records")
	f.StringVar(&o.start, "start-time", "0s", "simulated `time` at which the ranks start, in records")
	f.StringVar(&o.warmUp, "warm-up", "0s", "`time` before --run-time")
	f.StringVar(&o.run, "run-time", "", "end the run after this `time`, --warm-up and --cool-down added")
	f.StringVar(&o.coolDown, "cool-down", "0s", "`time` behind --run-time")
}

// Intervals of records lie between a nanosecond and an hour, in picoseconds.
const (
	shortestInterval = 1e3
	longestInterval  = 3600 * 1e12
)

// check finds wrong usage.
func (o *recordOptions) check() error {
	if o.set == nil {
		return nil
	}
	for _, f := range []func() error{o.checkNames, o.checkTimes, o.checkStop} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (o *recordOptions) checkNames() error {
	for _, w := range []struct {
		flag, value string
		allowed     []string
	}{
		{"--records-format", o.format, []string{"csv", "parquet"}},
		{"--collective-start", o.collectiveStart, []string{"latest", "earliest"}},
	} {
		if w.value != w.allowed[0] && w.value != w.allowed[1] {
			return fmt.Errorf("%s is %s, not %q%s", w.flag, choices(w.allowed), w.value, diag.DidYouMean(w.value, w.allowed))
		}
	}
	if o.set.Changed("records-only") && len(o.only) == 0 {
		return fmt.Errorf("--records-only is empty (records: %s)", strings.Join(records.Names(), ", "))
	}
	for i, name := range o.only {
		o.only[i] = strings.TrimSpace(name)
		if err := records.CheckName(o.only[i]); err != nil {
			return fmt.Errorf("--records-only: %w", err)
		}
		if o.only[i] == "chakra-profiling" && o.profiles == "" {
			return errors.New("--records-only chakra-profiling needs --profile-interval")
		}
	}
	if o.set.Changed("records") && o.dir == "" {
		return errors.New("--records takes the name of a folder")
	}
	for _, flag := range []string{"records-format", "records-only", "record-interval", "nd-interval", "link-interval", "profile-interval", "scale-up-stats", "collective-start", "start-time"} {
		if o.dir == "" && o.set.Changed(flag) {
			return fmt.Errorf("--%s needs --records DIR", flag)
		}
	}
	return nil
}

// recordTimes are the times of the flags, in picoseconds.
type recordTimes struct {
	interval, devices, links, profiles, start, warmUp, run, coolDown int64
}

func (o *recordOptions) times() (t recordTimes, err error) {
	for _, w := range []struct {
		flag, text  string
		to          *int64
		least, most int64
	}{
		{"--record-interval", o.interval, &t.interval, shortestInterval, longestInterval},
		{"--nd-interval", o.deviceInterval, &t.devices, shortestInterval, longestInterval},
		{"--link-interval", o.linkInterval, &t.links, shortestInterval, longestInterval},
		{"--profile-interval", o.profiles, &t.profiles, shortestInterval, longestInterval},
		{"--start-time", o.start, &t.start, 0, 24 * longestInterval},
		{"--warm-up", o.warmUp, &t.warmUp, 0, 24 * longestInterval},
		{"--run-time", o.run, &t.run, 1, 24 * longestInterval},
		{"--cool-down", o.coolDown, &t.coolDown, 0, 24 * longestInterval},
	} {
		if w.text == "" && (o.set == nil || !o.set.Changed(w.flag[2:])) {
			continue
		}
		if *w.to, err = units.ParseInt(w.text, units.Duration); err != nil {
			return t, fmt.Errorf("%s: %w", w.flag, err)
		}
		switch {
		case *w.to < w.least && w.least == shortestInterval:
			return t, fmt.Errorf("%s: %s is less than %s", w.flag, w.text, spanText(w.least))
		case *w.to < w.least && w.least > 0:
			return t, fmt.Errorf("%s: %s is not after the start", w.flag, w.text)
		case *w.to < w.least:
			return t, fmt.Errorf("%s: %s is negative", w.flag, w.text)
		case *w.to > w.most:
			return t, fmt.Errorf("%s: %s is more than %s", w.flag, w.text, spanText(w.most))
		}
	}
	return t, nil
}

func (o *recordOptions) checkTimes() error {
	_, err := o.times()
	return err
}

func (o *recordOptions) checkStop() error {
	if o.set.Changed("stop-at") && o.run != "" {
		return errors.New("--stop-at and --run-time both end the run; give one of them")
	}
	if o.run == "" && (o.set.Changed("warm-up") || o.set.Changed("cool-down")) {
		return errors.New("--warm-up and --cool-down are added to --run-time, which is not given")
	}
	return nil
}

// stopTime returns when --run-time ends the run, in picoseconds from the start of the
// ranks; 0 means never.
func (o *recordOptions) stopTime() int64 {
	t, err := o.times()
	if err != nil || t.run == 0 {
		return 0
	}
	return t.warmUp + t.run + t.coolDown
}

// recorder returns what the simulation reports to, or nil.
func (p *prepared) recorder(ctx context.Context, o *runOptions) (replay.Recorder, error) {
	f := &o.records
	if f.dir == "" {
		return nil, nil
	}
	t, err := f.times()
	if err != nil {
		return nil, err
	}
	stop, err := o.stopTime()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	opt := records.Options{
		Dir: f.dir, Name: p.workload.name, Only: f.only,
		Interval: t.interval, DeviceInterval: t.devices, LinkInterval: t.links, ProfileInterval: t.profiles,
		ScaleUpStats: f.scaleUp, EarliestStart: f.collectiveStart == "earliest",
		StartTime: t.start, StopAt: stop, Ideal: p.recordIdeal,
		Cancelled: func() bool { return ctx.Err() != nil },
		Wall:      func() time.Duration { return time.Since(began) },
	}
	if f.format == "parquet" {
		opt.Format = records.Parquet
	}
	r, err := records.New(p.workload.graph, p.recordPlatform(), opt)
	if err != nil {
		return nil, diag.Diagnostic{Severity: diag.Error, Code: "E920", Pos: diag.Pos{File: "--records " + f.dir}, Message: err.Error()}
	}
	return r, nil
}

// recordIdeal is the ideal time of a collective over the links of the ranks' NICs.
func (p *prepared) recordIdeal(t graph.CollType, algorithm string, n int, bytes int64) (int64, bool) {
	return p.idealTime(&replay.CollectiveTimes{Type: t, Algorithm: algorithm, GroupSize: n, Bytes: bytes})
}

// recordPlatform describes the machine for records.
func (p *prepared) recordPlatform() *records.Platform {
	topo, place := p.topology, p.platform.placement
	out := &records.Platform{Hosts: topo.Hosts(), HostOf: place.Node, Nodes: recordNodes(topo)}
	for _, l := range topo.Links() {
		out.Links = append(out.Links, records.Link{From: l.From, To: l.To, PerByte: l.PerByte, Delay: l.Delay})
	}
	if s := place.ScaleUp; s != nil {
		out.ScaleUp, out.Subgroup = s.Group, s.Subgroup
		for _, g := range s.Groups {
			out.Groups = append(out.Groups, records.ScaleUpGroup{ID: g.ID, PerByte: g.PerByte, Hop: g.Hop, Cable: g.Cable})
		}
	}
	return out
}

// recordNodes names the nodes of a topology and gives each its tier: switches with hosts
// are in racks, the ones furthest from hosts are spines, those between are the fabric.
func recordNodes(topo networks.Topology) []records.Node {
	tiers := networks.Tiers(topo)
	out := make([]records.Node, len(tiers))
	var used [networks.TierServer + 1]int32
	for i, t := range tiers {
		out[i] = records.Node{Name: fmt.Sprintf("%s-%d", t, used[t]), Tier: int32(t), Subtier: used[t]}
		used[t]++
	}
	return out
}
