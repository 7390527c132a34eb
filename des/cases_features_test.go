package des

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"hybrid/internal/diag"
	"hybrid/networks"
)

// featureLabels are those of forwarding, rates and faults; see [covered].
func featureLabels() []string {
	return []string{"cut-through", "rates of classes", "rates of queue pairs", "faults", "sent on before it was whole:", "lost: down:", "lost: cut:", "lost: loss:", "lost: bits:", "lost: no way:", "lost: pause:",
		"rates of links", "random links", "one of parallel links", "links come back", "out of order", "in order", "random entropies", "a path for each packet", "all queues compared",
		"hash: crc32", "hash: crc32-salted", "hash: hash", "hash: hash-salted", "hash: dpr", "hash: dpr-fallback"}
}

// drawForwarding lets switches send frames on before they are whole.
func drawForwarding(c *smallCase, r *rand.Rand) {
	if r.IntN(3) > 0 {
		return
	}
	c.switches = append(c.switches, "forwarding: cut-through")
	if r.IntN(3) > 0 {
		c.switches = append(c.switches, "cut_after: "+pick(r, "1B", "84B", "256B", "1500B"))
	}
	c.label("cut-through")
}

// drawRates bounds the rates of classes and of queue pairs.
func drawRates(c *smallCase, r *rand.Rand) {
	for i, keys := range c.switches {
		if strings.HasPrefix(keys, "classes:") && r.IntN(4) == 0 {
			c.switches[i] = withRates(r, keys)
			c.label("rates of classes")
		}
	}
	if c.nic[0] == "transport: roce" && r.IntN(4) == 0 {
		c.nic = append(c.nic, fmt.Sprintf("rate: %s", pick(r, "100Gbps", "25Gbps", "400Gbps", "10GB/s", "106.25Gbps")))
		c.label("rates of queue pairs")
	}
}

// routingLabels are the labels of how packets find their ways.
func routingLabels() []string {
	return []string{"ecmp", "spray", "flowlet", "adaptive", "valiant", "source"}
}

func drawRouting(c *smallCase, r *rand.Rand) {
	if r.IntN(5) == 0 {
		return
	}
	keys := randomRouting(r, c.job().Topology)
	for _, kind := range routingLabels() {
		if strings.Contains(keys, "kind: "+kind) {
			c.label("%s", kind)
		}
	}
	for of, label := range map[string]string{"order: random": "random entropies", "per: packet": "a path for each packet", "sample: all": "all queues compared"} {
		if strings.Contains(keys, of) {
			c.label("%s", label)
		}
	}
	if _, hash, ok := strings.Cut(keys, "hash: "); ok {
		c.label("hash: %s", strings.Trim(hash, "}"))
	}
	c.fabric = append(c.fabric, "routing: "+keys)
}

// drawOrder lets receivers put packets in order: where routing brings them out of order they
// have to.
func drawOrder(c *smallCase, r *rand.Rand) {
	if c.nic[0] != "transport: roce" {
		return
	}
	keys := c.more()
	reorders := strings.Contains(keys, "per: packet")
	for _, kind := range []string{"spray", "flowlet", "adaptive"} {
		reorders = reorders || strings.Contains(keys, "kind: "+kind)
	}
	if reorders || r.IntN(3) == 0 {
		c.nic = append(c.nic, "out_of_order: accept")
		c.label("out of order")
	} else {
		c.label("in order")
	}
}

// drawFaults lets links fail in the time that the case takes without.
func drawFaults(c *smallCase, r *rand.Rand) {
	pauses := strings.Contains(c.more(), "pfc:")
	if r.IntN(6) > 1 && !(pauses && r.IntN(3) == 0) {
		return
	}
	j := c.job()
	res, err := Run(context.Background(), j)
	if err != nil {
		return // the next draw will do
	}
	horizon := min(max(res.Clock.PS(res.Makespan), 1_000_000), 1_000_000_000)
	entries := []string{strings.Trim(randomFaults(r, j.Topology, horizon), "[]")}
	entries = append(entries, moreFaults(r, j.Topology, horizon)...)
	if pauses && r.IntN(4) > 0 {
		entries = append(entries, pauseLosses(r, j.Topology)...)
	}
	entries = slices.DeleteFunc(entries, func(e string) bool { return e == "" })
	if len(entries) == 0 {
		return
	}
	text := strings.Join(entries, ", ")
	for ; !possibleFaults(j, text); text = strings.Join(entries, ", ") { // what contradicts others is left out
		entries = entries[:len(entries)-1]
	}
	for of, label := range map[string]string{"rate: ": "rates of links", "random_links": "random links", "index": "one of parallel links", "until": "links come back"} {
		if strings.Contains(strings.ReplaceAll(text, "bit_error_rate: ", ""), of) {
			c.label("%s", label)
		}
	}
	c.label("faults")
	c.fabric = append(c.fabric, "reroute: "+pick(r, "0ns", "0ns", "100ns", "1us", "100us"))
	c.sections = append(c.sections, "faults: ["+text+"]")
}

// possibleFaults says whether faults fit the topology and each other.
func possibleFaults(j Job, text string) bool {
	var list diag.List
	n := networks.Parse("test.yml", []byte(j.Network.Source+"faults: ["+text+"]\n"), nil, &list)
	return n != nil && n.Topology(j.Placement.Nodes, &list) != nil && !list.HasErrors()
}

// moreFaults are those that [randomFaults] does not make: of links drawn by the network
// file's own seed, and of one of several parallel ones.
func moreFaults(r *rand.Rand, topo networks.Topology, horizon int64) (out []string) {
	links := topo.Links()
	between, parallel := 0, map[[2]int32]int{}
	for _, l := range links {
		parallel[[2]int32{l.From, l.To}]++
		if int(min(l.From, l.To)) >= topo.Hosts() {
			between++
		}
	}
	if between > 0 && r.IntN(4) == 0 {
		wrong := fmt.Sprintf("at: %dps", r.Int64N(horizon)/1000*1000)
		if r.IntN(2) == 0 {
			wrong = pick(r, "loss: 0.05", "bit_error_rate: 3e-6", "rate: 40Gbps")
		}
		out = append(out, fmt.Sprintf("{random_links: %d, seed: %d, %s}", 1+r.IntN(min(3, between/2)), r.IntN(5), wrong))
	}
	for _, l := range links {
		if n := parallel[[2]int32{l.From, l.To}]; n > 1 && r.IntN(4) == 0 {
			return append(out, fmt.Sprintf("{link: [%d, %d], index: %d, direction: %s, %s}", l.From, l.To, r.IntN(n), pick(r, "both", "forward"),
				pick(r, "at: 0ns", fmt.Sprintf("at: %dps, until: %dps", horizon/3, horizon/2), "rate: 100Gbps", "loss: 0.1")))
		}
	}
	return out
}

// pauseLosses let links lose so many frames that pauses are among them.
func pauseLosses(r *rand.Rand, topo networks.Topology) (out []string) {
	taken := map[[2]int32]bool{}
	for _, l := range topo.Links() {
		pair := [2]int32{min(l.From, l.To), max(l.From, l.To)}
		if !taken[pair] && r.IntN(2) == 0 {
			out = append(out, fmt.Sprintf("{link: [%d, %d], direction: forward, loss: %s}", l.From, l.To, pick(r, "0.02", "0.2", "0.9")))
		}
		taken[pair] = true
	}
	return out
}

// crossed are features of which each two that go together must meet in some cases.
func crossed() [][]string {
	return [][]string{{"cut-through"}, {"rates of classes"}, {"rates of queue pairs"}, {"faults"}, {"links of several rates"}, {"several links at a host"},
		{"pauses by priority"}, {"marking"}, {"trim"}, {"several classes"}, {"bounded memory"}, {"out of order"}, routingLabels()}
}

// pairLabels are those of two features that meet.
func pairLabels() (out []string) {
	all := crossed()
	for i, a := range all {
		for _, b := range all[i+1:] {
			for _, x := range a {
				for _, y := range b {
					if !(x == "pauses by priority" && y == "trim") { // the generator takes the one or the other
						out = append(out, x+" x "+y)
					}
				}
			}
		}
	}
	return out
}

// labelPairs labels the pairs of features that meet in a case of packets.
func (c *smallCase) labelPairs() {
	if slices.Contains(c.labels, "ideal") {
		return
	}
	has := map[string]bool{}
	for _, l := range c.labels {
		has[l] = true
	}
	has["pauses by priority"] = has["static xoff"] || has["dynamic xoff"]
	has["marking"] = has["step"] || has["RED"]
	for _, pair := range pairLabels() {
		if x, y, _ := strings.Cut(pair, " x "); has[x] && has[y] {
			c.label("%s", pair)
		}
	}
}
