package graph

import (
	"bufio"
	"encoding/json"
	"io"
)

// JSONSchema names the form that [WriteJSON] writes.
const JSONSchema = "hybrid/graph/v1"

// WriteJSON writes the graph as one JSON object: what all ranks share, and the programs
// with the ranks that run each, one operation a line. Where traces is not nil it writes
// the nodes of the ranks, a list, in place of the programs. Times are in picoseconds,
// sizes in bytes. Equal graphs give equal bytes.
func WriteJSON(w io.Writer, g *Graph, traces func(w *bufio.Writer) error) error {
	j := jsoner{g: g, w: bufio.NewWriter(w)}
	j.header(traces != nil)
	if traces != nil {
		j.put(",\n\"traces\":[")
		if err := traces(j.w); err != nil {
			return err
		}
	} else {
		j.put(",\n\"programs\":[")
		for i, p := range g.Programs {
			j.separate(i)
			j.program(p)
		}
	}
	j.put("\n]}\n")
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
}

type jsoner struct {
	g   *Graph
	w   *bufio.Writer
	err error
}

// put writes through the buffer, which keeps the first error for Flush.
func (j *jsoner) put(text string) { _, _ = j.w.WriteString(text) }

func (j *jsoner) separate(i int) {
	if i > 0 {
		j.put(",")
	}
	j.put("\n")
}

func (j *jsoner) value(v any) {
	b, err := json.Marshal(v)
	if err != nil && j.err == nil {
		j.err = err
	}
	_, _ = j.w.Write(b)
}

// jsonHeader is what stands before programs or traces.
type jsonHeader struct {
	Schema       string      `json:"schema"`
	Name         string      `json:"name"`
	Origin       string      `json:"origin"`
	Ranks        int         `json:"ranks"`
	Machine      string      `json:"machine"`
	Network      string      `json:"network"`
	Parameters   []jsonParam `json:"parameters"`
	Scale        string      `json:"scale"`
	IssueOrder   bool        `json:"issue_order_recorded"`
	Expanded     bool        `json:"expanded"`
	Serialized   bool        `json:"serialized"`
	Synchronized bool        `json:"synchronized"`
	Annotated    bool        `json:"annotated"`
}

type jsonParam struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type jsonGroup struct {
	ID      int32   `json:"id"`
	Name    string  `json:"name"`
	Members []int32 `json:"members"`
}

type jsonSite struct {
	Kind   string `json:"kind"`
	Where  string `json:"where"`
	Name   string `json:"name"`
	Region string `json:"region"`
	Text   string `json:"text"`
}

func (j *jsoner) header(expanded bool) {
	g := j.g
	h := jsonHeader{JSONSchema, g.Name, g.Origin.String(), g.Ranks, g.Machine, g.Network, []jsonParam{}, "1",
		g.IssueOrder, expanded, g.Serialize, g.Synchronize, g.Annotated}
	for _, p := range g.Params {
		h.Parameters = append(h.Parameters, jsonParam(p))
	}
	if g.Scaled() {
		h.Scale = g.Scale.String()
	}
	b, err := json.Marshal(&h)
	if err != nil {
		j.err = err
		return
	}
	_, _ = j.w.Write(b[:len(b)-1]) // the object goes on
	j.put(",\n\"groups\":[")
	for i, q := range g.Groups {
		j.separate(i)
		j.value(jsonGroup{q.ID, q.Name, q.Members})
	}
	j.put("\n],\n\"sites\":[")
	for i := range g.Sites {
		s := &g.Sites[i]
		j.separate(i)
		j.value(jsonSite{s.Kind.String(), s.Where(), s.Name, s.Region, s.Text})
	}
	j.put("\n]")
}

func (j *jsoner) program(p *Program) {
	form := "thread"
	if p.Flat {
		form = "flat"
	}
	j.put(`{"form":"` + form + `","ranks":`)
	j.value(append([]int32{}, p.Ranks...))
	j.put(`,"issue_orders":`)
	j.value(append([][]int32{}, p.Chains...))
	j.put(`,"operations":[`)
	for i := range p.Ops {
		j.separate(i)
		j.value(j.op(p, int32(i)))
	}
	j.put("\n]}")
}

// WriteHeader writes what [WriteText] writes before the programs.
func WriteHeader(w io.Writer, g *Graph) error {
	t := texter{g: g, w: bufio.NewWriter(w)}
	t.header()
	return t.w.Flush()
}
