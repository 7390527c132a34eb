package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"hybrid/chakra"
	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/networks"
)

func TestMappingIsRecognised(t *testing.T) {
	for text, want := range map[string]content{
		"0 0\n":                        mappingContent,
		"# c\n@ c\n, 0,0\n":            mappingContent,
		"0\t0\n":                       mappingContent, // with a mistake, which the parser explains
		"0 0 1\n":                      mappingContent,
		"0\r\n":                        mappingContent,
		"0 0x1 inf\n":                  mappingContent,
		"num_ranks 2\n":                goalContent,
		"name: x\nlevels: {}\n":        networkContent,
		"blueprint \"x\" version 1\n":  blueprintContent,
		"\xff\xfe0\x00 \x000\x00":      wideContent,
		"\xfe\xff\x00r\x00a":           wideContent,
		"# only comments\n@ of both\n": blueprintContent,
	} {
		if got := sniff([]byte(text)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// A mapping file may be larger than any other text that is read.
func TestLargeMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.map")
	text := append([]byte("0 0\n"), bytes.Repeat([]byte("# "+string(bytes.Repeat([]byte("x"), 1021))+"\n"), maxBlueprint/1024+1)...)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var list diag.List
	if c := (&app{sources: newSources()}).validateOne(path, &list); c != mappingContent || list.Len() != 0 {
		t.Errorf("%s, %v", c, list.All())
	}
}

// The flag wins over the workload, and flags about placement over the workload too.
func TestMappingFile(t *testing.T) {
	for _, c := range []struct {
		args     []string
		workload workload
		want     string
	}{
		{nil, workload{dir: "."}, ""},
		{nil, workload{dir: "jobs", mapping: "a.map"}, filepath.Join("jobs", "a.map")},
		{nil, workload{dir: "jobs", mapping: "/a.map"}, "/a.map"},
		{[]string{"--mapping", "b.map"}, workload{dir: "jobs", mapping: "a.map"}, "b.map"},
		{[]string{"--placement", "block"}, workload{dir: "jobs", mapping: "a.map"}, ""},
		{[]string{"--ranks-per-node", "1"}, workload{dir: "jobs", mapping: "a.map"}, ""},
	} {
		o, cmd := &runOptions{}, &cobra.Command{}
		o.prepareFlags(cmd)
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		if got := o.mappingFile(&c.workload); got != c.want {
			t.Errorf("%v, %q in %s: %q, want %q", c.args, c.workload.mapping, c.workload.dir, got, c.want)
		}
	}
}

func TestScaleUpOfMapping(t *testing.T) {
	m := &chakra.Mapping{Server: []uint32{0, 1}, Group: []int32{-1, -1}, Subgroup: []uint32{0, 0},
		Groups: []chakra.MappingGroup{{ID: 7, Gbps: "800", PerByte: units.Int(10), Hop: 1, Cable: 2}}}
	if got := scaleUp(m); got != nil {
		t.Errorf("a fabric without ranks: %+v", got)
	}
	m.Group[1] = 0
	want := &networks.ScaleUpPlacement{Group: []int32{-1, 0}, Subgroup: []uint32{0, 0},
		Groups: []networks.ScaleUpGroup{{ID: 7, PerByte: units.Int(10), Hop: 1, Cable: 2}}}
	if d := cmp.Diff(want, scaleUp(m)); d != "" {
		t.Error(d)
	}
}
