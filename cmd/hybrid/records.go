package main

import (
	"github.com/spf13/pflag"

	"hybrid/graph/replay"
)

// recordOptions are the flags of record files.
type recordOptions struct{}

// flags declares the flags.
func (o *recordOptions) flags(*pflag.FlagSet) {}

// check finds wrong usage.
func (o *recordOptions) check() error { return nil }

// recorder returns what the simulation reports to, or nil.
func (p *prepared) recorder(*runOptions) (replay.Recorder, error) { return nil, nil }
