package main

import "github.com/spf13/pflag"

// warningOptions are the flags about findings of the preparation.
type warningOptions struct{}

// flags declares the flags.
func (o *warningOptions) flags(*pflag.FlagSet) {}

// check finds wrong usage.
func (o *warningOptions) check() error { return nil }
