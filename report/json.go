package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"hybrid/graph/replay"
	"hybrid/internal/diag"
)

// Schema names the form of the JSON report; keys never disappear within it.
const Schema = "hybrid/compare/v1"

// WriteJSON writes the report as one JSON object, indented, with a line end.
func (c *Comparison) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(c.document())
}

// object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		v, err := encodeValue(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encodeValue is json.Marshal without the escapes for HTML, which would make -> in a
// text unreadable.
func encodeValue(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// MarshalJSON writes null for an undefined error.
func (e Error) MarshalJSON() ([]byte, error) {
	if !e.Defined {
		return []byte("null"), nil
	}
	return json.Marshal(e.Value)
}

// MarshalJSON writes null for an undefined ratio.
func (r Ratio) MarshalJSON() ([]byte, error) {
	if !r.Defined {
		return []byte("null"), nil
	}
	return json.Marshal(r.Value)
}

func (c *Comparison) document() object {
	o := object{
		{"schema", Schema},
		{"command", c.Inputs.Command},
		{"version", c.Inputs.Version},
		{"inputs", c.inputsObject()},
		{"graph", object{{"ranks", c.Counts.Ranks}, {"operations", c.Counts.Operations}, {"messages", c.Counts.Messages},
			{"message_bytes", c.Counts.MessageBytes}, {"collectives", c.Counts.Collectives}}},
		{"verdict", c.verdictText()},
		{"runs", each(c.Runs, c.runObject)},
		{"metrics", c.metricsObject()},
		{"operations", each(c.Operations, c.operationObject)},
		{"regions", each(c.Regions, c.regionObject)},
		{"collectives", each(c.Collectives, c.collectiveObject)},
		{"findings", FindingObjects(c.Findings)},
	}
	if c.Stats != nil && c.ref >= 0 {
		o = append(o, member{"stats", c.statsObject()})
	}
	return o
}

// each maps a list; the result is [] and never null.
func each[T any](list []T, f func(*T) object) []object {
	out := make([]object, 0, len(list))
	for i := range list {
		out = append(out, f(&list[i]))
	}
	return out
}

func (c *Comparison) inputsObject() object {
	in := &c.Inputs
	return object{
		{"workload", in.Workload}, {"format", in.Format},
		{"network", in.Network}, {"network_from", in.NetworkFrom},
		{"machine", in.Machine}, {"machine_from", in.MachineFrom},
		{"fabric", in.Fabric}, {"topology", in.Topology}, {"placement", in.Placement},
		{"seed", in.Seed},
		{"parameters", parameterObject(in.Parameters)},
		{"settings", parameterObject(in.Settings)},
	}
}

func parameterObject(list []Parameter) object {
	o := object{}
	for _, p := range list {
		o = append(o, member{p.Name, p.Value})
	}
	return o
}

// verdictText is the word for the whole report: that of the first run that did not
// finish, else finished.
func (c *Comparison) verdictText() string {
	if c.Inputs.Interrupted {
		return replay.Interrupted.String()
	}
	for _, r := range c.Runs {
		if !r.Verdict.OK() {
			return r.Verdict.Outcome.String()
		}
	}
	return replay.Finished.String()
}

func (c *Comparison) runObject(run **replay.Result) object {
	r := *run
	ranks := make([]object, 0, len(r.Ranks))
	for i := range r.Ranks {
		t := &r.Ranks[i]
		ranks = append(ranks, object{{"rank", i}, {"finish_ps", r.Clock.PS(t.Finish)}, {"compute_ps", r.Clock.PS(t.Compute)},
			{"communication_ps", r.Clock.PS(t.Communication)}, {"exposed_ps", r.Clock.PS(t.Exposed)}})
	}
	return object{
		{"model", r.Model},
		{"makespan_ps", r.Clock.PS(r.Makespan)},
		{"verdict", c.runVerdict(r)},
		{"operations", r.Operations}, {"messages", r.Messages}, {"message_bytes", r.MessageBytes},
		{"events", r.Events}, {"packets", r.Packets}, {"packet_hops", r.PacketHops}, {"windows", r.Windows},
		{"ticks_per_ps", r.Clock.PerPS}, {"digest", digestText(r)},
		{"wall_ns", r.Wall.Nanoseconds()},
		{"notes", texts(r.Notes)},
		{"ranks", ranks},
	}
}

// digestText is the digest of a simulation, as text since few readers of JSON keep 64 bits
// of a number; null for models.
func digestText(r *replay.Result) any {
	if r.Model != Simulated {
		return nil
	}
	return fmt.Sprintf("%016x", r.Digest)
}

func (c *Comparison) runVerdict(r *replay.Result) object {
	v := &r.Verdict
	cycle := v.Cycle
	if cycle == nil {
		cycle = []int32{}
	}
	var errs []string
	for _, e := range v.Errors {
		errs = append(errs, errorText(e))
	}
	return object{
		{"outcome", v.Outcome.String()},
		{"blocked_ranks", v.Blocked},
		{"cycle", cycle},
		{"pending", c.pendingObjects(v.Pending)},
		{"unreceived", c.pendingObjects(v.Unreceived)},
		{"errors", texts(errs)},
		{"network", stallObject(r)},
	}
}

func (c *Comparison) pendingObjects(list []replay.Pending) []object {
	return each(list, func(p *replay.Pending) object {
		return object{{"where", c.siteWhere(p.Site)}, {"rank", p.Rank}, {"kind", p.Kind.String()}, {"peer", p.Peer}, {"tag", p.Tag},
			{"bytes", p.Bytes}, {"in_collective", p.Collective}, {"started", !p.Never}}
	})
}

func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (c *Comparison) metricsObject() object {
	o := object{}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		o = append(o, member{m.Model, object{
			{"error", m.Error}, {"bias", m.Bias}, {"mape", m.MAPE}, {"wmape", m.WMAPE}, {"p95", m.P95},
			{"max", object{{"value", m.Max}, {"operation", m.Operation}}},
			{"main", object{{"share", m.Share}, {"operation", m.Main}}},
			{"items", m.Items}, {"undefined", m.Undefined},
		}})
	}
	return o
}

// byModel makes an object with one member for each run.
func byModel[T any](c *Comparison, values []T) object {
	o := object{}
	for i, r := range c.Runs {
		o = append(o, member{r.Model, values[i]})
	}
	return o
}

// errorObject has one member for each model that was compared.
func (c *Comparison) errorObject(errors []Error) object {
	o := object{}
	for i := range c.Metrics {
		m := &c.Metrics[i]
		o = append(o, member{m.Model, errors[m.Run]})
	}
	return o
}

func (c *Comparison) operationObject(r *Operation) object {
	return object{
		{"where", r.Where}, {"kind", r.Kind.String()}, {"name", r.Name}, {"text", r.Text}, {"label", r.Label}, {"count", r.Count}, {"ranks", r.Ranks},
		{"total_ps", byModel(c, r.Total)}, {"mean_ps", byModel(c, r.Mean)}, {"error", c.errorObject(r.Errors)},
	}
}

func (c *Comparison) collectiveObject(r *Collective) object {
	o := object{
		{"where", r.Where}, {"type", r.Type}, {"algorithm", r.Algorithm}, {"group_size", r.GroupSize}, {"bytes", r.Bytes},
		{"transfers", r.Transfers}, {"transfer_bytes", r.TransferBytes}, {"count", r.Count},
	}
	for i, run := range c.Runs {
		o = append(o, member{run.Model + "_ps", r.Mean[i]})
	}
	var bound any
	if r.HasBound {
		bound = r.LowerBound
	}
	var ideal any
	if r.HasIdeal {
		ideal = r.Ideal
	}
	ratios := object{}
	for i, run := range c.Runs {
		ratios = append(ratios, member{run.Model, r.ratio(i)})
	}
	return append(o, member{"lower_bound_ps", bound}, member{"error", c.errorObject(r.Errors)},
		member{"ideal_ps", ideal}, member{"ideal_ratio", ratios})
}

// FindingObjects returns findings ready for encoding/json: severity, code, message,
// file, line, column, node, notes and how many equal ones each stands for.
func FindingObjects(findings []diag.Diagnostic) []any {
	out := make([]any, 0, len(findings))
	for _, d := range findings {
		out = append(out, object{
			{"severity", d.Severity.String()}, {"code", d.Code}, {"message", d.Message},
			{"file", d.Pos.File}, {"line", d.Pos.Line}, {"column", d.Pos.Col}, {"node", d.Pos.Node},
			{"notes", texts(d.Notes)}, {"count", d.Count + 1},
		})
	}
	return out
}
