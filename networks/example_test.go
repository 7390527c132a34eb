package networks

import (
	"fmt"

	"hybrid/internal/diag"
	"hybrid/internal/units"
)

func ExampleLoad() {
	var findings diag.List
	n := Load("roce-leaf-spine-400g", []string{"fabric.link.rate=200Gbps", "topology.hosts_per_leaf=8"}, &findings)
	if n == nil {
		fmt.Println(findings.Err())
		return
	}
	fmt.Println(units.FormatRate(n.Fabric.Link.PerByte), n.Fabric.Wire.Name)
	fmt.Println(n.Topology(16, &findings).Describe())
	for _, f := range findings.All() {
		fmt.Println(f.Error())
	}
	// Output:
	// 200Gbps rocev2
	// leaf-spine leaves=2 spines=8 hosts_per_leaf=8: 16 hosts, 10 switches, bisection 1.6Tbps, diameter 4 links
	// roce-leaf-spine-400g.yml:44:55: warning: bandwidth is faster than the wire: 20.400390625 ps a byte, while the link needs 40.80078125 with its headers [W821]
	// roce-leaf-spine-400g.yml:48:59: warning: G is faster than the wire: 20.400390625 ps a byte, while the link needs 40.80078125 with its headers [W821]
}
