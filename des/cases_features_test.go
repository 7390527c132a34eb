package des

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
)

// featureLabels are those of forwarding, rates and faults; see [covered].
func featureLabels() []string {
	return []string{"cut-through", "rates of classes", "rates of queue pairs", "faults", "sent on before it was whole:", "lost: down:", "lost: cut:", "lost: loss:", "lost: bits:", "lost: no way:"}
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
	if r.IntN(3) == 0 {
		return
	}
	keys := randomRouting(r, c.job().Topology)
	for _, kind := range routingLabels() {
		if strings.Contains(keys, "kind: "+kind) {
			c.label("%s", kind)
		}
	}
	c.fabric = append(c.fabric, "routing: "+keys)
	if c.nic[0] == "transport: roce" {
		c.nic = append(c.nic, "out_of_order: accept")
	}
}

// drawFaults lets links fail in the time that the case takes without.
func drawFaults(c *smallCase, r *rand.Rand) {
	if r.IntN(3) > 0 {
		return
	}
	j := c.job()
	res, err := Run(context.Background(), j)
	if err != nil {
		return // the next draw will do
	}
	faults := randomFaults(r, j.Topology, min(max(res.Clock.PS(res.Makespan), 1_000_000), 1_000_000_000))
	if faults == "[]" {
		return
	}
	c.label("faults")
	c.fabric = append(c.fabric, "reroute: "+pick(r, "0ns", "0ns", "100ns", "1us"))
	c.sections = append(c.sections, "faults: "+faults)
}
