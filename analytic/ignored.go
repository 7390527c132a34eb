package analytic

import (
	"strings"

	"hybrid/networks"
)

// ignoredNotes name what the network's file says of the fabric that closed forms, which know
// neither links nor switches, leave out of account and that changes what a run on the fabric
// gives.
func ignoredNotes(n *networks.Network) []string {
	var ignored []string
	if n.HasFaults() {
		ignored = append(ignored, "faults")
	}
	if n.Fabric.Routing != nil {
		ignored = append(ignored, "fabric.routing")
	}
	if n.Fabric.Switch.Forwarding == "cut-through" {
		ignored = append(ignored, "cut-through")
	}
	if len(ignored) == 0 {
		return nil
	}
	return []string{"closed forms have no links and no switches: of the network's file they leave out " + strings.Join(ignored, ", ")}
}
