package yamldoc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

// sample has a field of every kind that tags can describe.
type sample struct {
	Name    string           `yaml:"name,required" doc:"A name."`
	Mode    string           `yaml:"mode" default:"fast" oneof:"fast|slow" doc:"A mode."`
	On      bool             `yaml:"on" default:"true" doc:"A switch."`
	Count   int              `yaml:"count" default:"3" range:"1..10" doc:"A count."`
	Small   uint8            `yaml:"small" doc:"A small count."`
	Delay   int64            `yaml:"delay" unit:"time" default:"500ns" range:"0ns..1s" doc:"A time."`
	Size    *int64           `yaml:"size" unit:"size" doc:"A size."`
	Rate    units.Rat        `yaml:"rate" unit:"rate" default:"400Gbps" range:"1Mbps..10Tbps" doc:"A rate."`
	G       units.Rat        `yaml:"G" unit:"perbyte" doc:"A time per byte."`
	Work    units.Rat        `yaml:"work" unit:"cy/CL" doc:"Cycles."`
	Chance  float64          `yaml:"chance" default:"0.5" range:"0..1" doc:"A probability."`
	Wire    wire             `yaml:"wire" doc:"A section."`
	Steps   []wire           `yaml:"steps" doc:"A list."`
	Times   []int64          `yaml:"times" unit:"time" doc:"Times."`
	Weights map[string]int64 `yaml:"weights" doc:"Free names."`
	Own     *Node            `yaml:"own" doc:"Somebody else's."`
	shared
}

type wire struct {
	Preset string `yaml:"preset,short" default:"none" doc:"A preset."`
	Ack    int64  `yaml:"ack" unit:"size" default:"64B" doc:"A size."`
}

type shared struct {
	Depth int `yaml:"depth" default:"7" doc:"An inlined parameter."`
}

func decode(t *testing.T, src string) (sample, string) {
	t.Helper()
	var l diag.List
	n := Parse("f", []byte(src), &l)
	var s sample
	Decode(n, &s, &l)
	return s, messages(&l)
}

func TestDecode(t *testing.T) {
	got, found := decode(t, `
name: "8"
mode: slow
on: false
count: 4
delay: 1.5us
size: 4KiB
rate: 12.5GB/s
G: 0.08ns/B
work: 4.1cy/CL
chance: 0.25
wire: rocev2
steps: [none, {preset: a, ack: 1B}]
times: [1ns, 2ns]
weights: {x: 1}
own: {any: thing}
depth: 9
`)
	if found != "" {
		t.Fatal(found)
	}
	size := int64(4096)
	want := sample{Name: "8", Mode: "slow", Count: 4, Delay: 1_500_000, Size: &size,
		Rate: units.Int(80), G: units.Int(80), Work: units.NewRat(41, 10), Chance: 0.25,
		Wire: wire{"rocev2", 64}, Steps: []wire{{"none", 64}, {"a", 1}}, Times: []int64{1000, 2000},
		Weights: map[string]int64{"x": 1}, shared: shared{9}}
	if got.Own.At("any").Text != "thing" {
		t.Errorf("own section is %+v", got.Own)
	}
	got.Own = nil
	if d := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDecodeDefaults(t *testing.T) {
	got, found := decode(t, "name: x")
	want := sample{Name: "x", Mode: "fast", On: true, Count: 3, Delay: 500_000, Rate: units.Int(20), Chance: 0.5,
		Wire: wire{"none", 64}, shared: shared{7}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); d != "" || found != "" {
		t.Errorf("(-want +got):\n%s%s", d, found)
	}
}

// One document with every kind of mistake: each is reported, at its own place.
func TestDecodeFindings(t *testing.T) {
	got, found := decode(t, `mode: fats
on: yes
count: 11
small: 300
delay: 500
size: 5us
rate: 0Gbps
G: 5
work: 4cy
chance: 2
wire: {presett: x, ack: [1]}
steps: 5
times: [1ns, 2]
weights: [1]
colour: red
`)
	want := `f:1:1: error: "name" is missing in the document [E805]
  A name.
f:1:7: error: mode: "fats" is not one of fast, slow; did you mean "fast"? [E809]
f:2:5: error: on: "yes" is not true or false [E806]
f:3:8: error: count: 11 is out of range; it must be from 1 to 10 [E808]
f:4:8: error: small: 300 is too large [E808]
f:5:8: error: delay: 500 has no unit; a time such as 1.5us is expected [E807]
f:6:7: error: size: 5us is a time; a size such as 64KiB is expected [E807]
f:7:7: error: rate: 0Gbps is not a rate: it must be positive; a rate such as 400Gbps is expected [E807]
f:8:4: error: G: 5 has no unit; a time per byte such as 0.08ns/B is expected [E807]
f:9:7: error: work: 4cy is not in cycles per cache line; a number of cycles per cache line such as 4.1cy/CL is expected [E807]
f:10:9: error: chance: 2 is out of range; it must be from 0 to 1 [E808]
f:11:8: error: unknown key "presett" in wire; did you mean "preset"? [E804]
f:11:20: error: wire.ack is a list; a size such as 64KiB is expected [E806]
f:12:8: error: steps is a value; a list is expected [E806]
f:13:14: error: times[1]: 2 has no unit; a time such as 1.5us is expected [E807]
f:14:1: error: weights is a list; a mapping is expected [E806]
f:15:1: error: unknown key "colour" in the document [E804]
  its keys are name, mode, on, count, small, delay, size, rate, G, work, chance, wire, steps, times, weights, own, depth
`
	if d := cmp.Diff(want, found); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got.Delay != 500_000 || got.Count != 3 {
		t.Errorf("wrong values replace defaults: delay %d, count %d", got.Delay, got.Count)
	}
}

// A rate's range is turned round: 10 Tbit/s is the shorter time of a byte.
func TestDecodeRateRange(t *testing.T) {
	for src, want := range map[string]string{
		"rate: 1Mbps": "", "rate: 10Tbps": "", "rate: 0.08ns/B": "",
		"rate: 11Tbps":  "f:2:7: error: rate: 11Tbps is out of range; it must be from 1Mbps to 10Tbps [E808]\n",
		"rate: 999kbps": "f:2:7: error: rate: 999kbps is out of range; it must be from 1Mbps to 10Tbps [E808]\n",
	} {
		if _, found := decode(t, "name: x\n"+src); found != want {
			t.Errorf("%s: %q, want %q", src, found, want)
		}
	}
}

func TestDecodeRest(t *testing.T) {
	var into struct {
		Kind string `yaml:"kind"`
		Own  *Node  `yaml:",rest"`
	}
	var l diag.List
	n := Parse("f", []byte("k: 8\nkind: a\ntiers: 3\n"), &l)
	Decode(n, &into, &l)
	if got := strings.Join(into.Own.Keys(), " "); got != "k tiers" || l.Len() != 0 {
		t.Errorf("rest has %q, findings %s", got, messages(&l))
	}
}

func TestSet(t *testing.T) {
	tests := []struct{ set, path, want, found string }{
		{"wire.ack=1B", "wire.ack", "1B", ""},
		{"a.b.c=2", "a.b.c", "2", ""},
		{"steps.1.ack=9B", "steps", "", ""},
		{"name=", "name", "", ""},
		{"name={x: y}", "name.x", "y", ""},
		{"name.x=1", "name", "n", "--set name.x=1: error: name is a value, so it has no keys below it [E815]\n"},
		{"steps.7.ack=1B", "name", "n", "--set steps.7.ack=1B: error: 7 is not an element of a list of 2: write a number from 0 [E815]\n"},
		{"a..b=1", "name", "n", "--set a..b=1: error: \"a..b\" is not a path: write keys joined by dots, such as fabric.link.rate=200Gbps [E815]\n"},
		{"novalue", "name", "n", "--set novalue: error: \"novalue\" is not an override: write path=value, such as fabric.link.rate=200Gbps [E815]\n"},
	}
	for _, tt := range tests {
		var l diag.List
		n := Parse("f", []byte("name: n\nwire: {preset: x}\nsteps: [{ack: 1B}, {ack: 2B}]\n"), &l)
		SetAll(n, []string{tt.set}, &l)
		got := n.At(strings.Split(tt.path, ".")...)
		if got == nil || got.Text != tt.want || messages(&l) != tt.found {
			t.Errorf("--set %s: %s is %+v; findings %q", tt.set, tt.path, got, messages(&l))
		}
		if tt.path == "steps" && got.Items[1].Get("ack").Text != "9B" {
			t.Errorf("--set %s leaves %+v", tt.set, got.Items[1])
		}
	}
}

// A finding about an overridden value names the override.
func TestSetPosition(t *testing.T) {
	var l diag.List
	n := Parse("f", []byte("name: n"), &l)
	SetAll(n, []string{"delay=5"}, &l)
	var s sample
	Decode(n, &s, &l)
	want := "--set delay=5: error: delay: 5 has no unit; a time such as 1.5us is expected [E807]\n"
	if got := messages(&l); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFields(t *testing.T) {
	var got []string
	for _, f := range Fields(sample{}) {
		got = append(got, strings.TrimRight(strings.Join([]string{f.Path, f.Type, f.Unit, f.Default, f.Range}, "|"), "|"))
	}
	want := []string{"name|string", "mode|string||fast", "on|bool||true", "count|integer||3|1..10", "small|integer",
		"delay|quantity|time|500ns|0ns..1s", "size|quantity|size", "rate|quantity|rate|400Gbps|1Mbps..10Tbps",
		"G|quantity|perbyte", "work|quantity|cy/CL", "chance|number||0.5|0..1", "wire|mapping", "wire.preset|string||none",
		"wire.ack|quantity|size|64B", "steps|list", "steps[].preset|string||none", "steps[].ack|quantity|size|64B",
		"times|list|time", "weights|mapping", "own|section", "depth|integer||7"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSchema(t *testing.T) {
	doc := SchemaDocument("sample", Schema(sample{}))
	var s struct {
		Schema     string `json:"$schema"`
		Required   []string
		Properties map[string]struct {
			Type    string
			Default any
			Minimum *float64
			Enum    []string
			AnyOf   []map[string]any
		}
		AdditionalProperties bool
	}
	if err := json.Unmarshal(doc, &s); err != nil {
		t.Fatal(err)
	}
	p := s.Properties
	if s.Schema != "https://json-schema.org/draft/2020-12/schema" || cmp.Diff(s.Required, []string{"name"}) != "" || s.AdditionalProperties {
		t.Errorf("head of the schema: %+v", s)
	}
	if p["count"].Type != "integer" || p["count"].Default != 3.0 || *p["count"].Minimum != 1 || len(p["mode"].Enum) != 2 || len(p["wire"].AnyOf) != 2 {
		t.Errorf("properties: %+v", p)
	}
	if string(doc) != string(SchemaDocument("sample", Schema(sample{}))) {
		t.Error("two runs give different bytes")
	}
}
