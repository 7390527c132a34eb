package main

import (
	"errors"

	"github.com/spf13/pflag"
)

// mappingFlags declares the flag of mapping files.
func (o *runOptions) mappingFlags(f *pflag.FlagSet) {
	f.StringVar(&o.mapping, "mapping", "", "Chakra mapping `file`")
	_ = f.MarkHidden("mapping")
}

func (o *runOptions) checkMapping() error {
	if o.mapping != "" {
		return errors.New("--mapping: mapping files are not available yet; --placement takes the node of every rank from a file")
	}
	return nil
}
