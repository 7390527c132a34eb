package networks

import (
	"cmp"
	"fmt"
	"math"
)

// NodeNames names the nodes of a topology: as its file does, else hosts server-0 and so
// on, switches with hosts below them rack-0, those furthest from hosts spine-0, and others
// fabric-0, each kind counted by itself.
func NodeNames(t Topology) []string {
	hosts, nodes := t.Hosts(), t.Hosts()+t.Switches()
	tier := make([]int, nodes)
	for i := hosts; i < nodes; i++ {
		tier[i] = math.MaxInt
	}
	top := 0
	for more := true; more; {
		more = false
		for _, l := range t.Links() {
			if tier[l.From] == top && tier[l.To] == math.MaxInt {
				tier[l.To], more = top+1, true
			}
		}
		if more {
			top++
		}
	}
	names, used := make([]string, nodes), map[string]int{}
	for i, d := range tier {
		kind := "fabric"
		switch d {
		case 0:
			kind = "server"
		case 1:
			kind = "rack"
		case top:
			kind = "spine"
		}
		names[i] = fmt.Sprintf("%s-%d", kind, used[kind])
		used[kind]++
		if named, ok := t.(Named); ok {
			names[i] = cmp.Or(named.Name(int32(i)), names[i])
		}
	}
	return names
}
