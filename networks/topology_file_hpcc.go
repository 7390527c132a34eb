package networks

import "strconv"

// HPCC's ns-3 simulator and those that come from it describe a network by a line with
// the numbers of nodes, switches and links, the switches' IDs, and a line for each link:
// source, target, rate, delay, error rate (Y. Li et al., "HPCC: High Precision
// Congestion Control", SIGCOMM 2019; topology.txt of its simulator).
//
// SimAI has six words in the first line: nodes, GPUs of a server, NVSwitches, other
// switches, links, kind of GPU; the NVSwitches' IDs come first (X. Wang et al., "SimAI",
// NSDI 2025).

func isHPCC(first []string) bool { return len(first) == 3 && plainNumbers(first) }

func isSimAI(first []string) bool { return len(first) == 6 && plainNumbers(first[:5]) }

func parseHPCC(s *wiringSource) *wiring {
	head := s.lines[0].words
	nodes, ok1 := s.number(head[0], "the number of nodes", 1, maxNodes)
	switches, ok2 := s.number(head[1], "the number of switches", 0, maxNodes)
	links, ok3 := s.number(head[2], "the number of links", 0, maxEdges)
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return s.numbered(nodes, switches, links)
}

func parseSimAI(s *wiringSource) *wiring {
	head := s.lines[0].words
	nodes, ok1 := s.number(head[0], "the number of nodes", 1, maxNodes)
	_, ok2 := s.number(head[1], "the number of GPUs of a server", 1, maxNodes)
	inner, ok3 := s.number(head[2], "the number of NVSwitches", 0, maxNodes)
	outer, ok4 := s.number(head[3], "the number of switches", 0, maxNodes)
	links, ok5 := s.number(head[4], "the number of links", 0, maxEdges)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return nil
	}
	return s.numbered(nodes, inner+outer, links)
}

// numbered reads the switches' IDs and the links. Hosts are the other nodes, in the
// order of their IDs; so are the switches.
func (s *wiringSource) numbered(nodes, switches, links int) *wiring {
	head := s.lines[0].words
	if switches >= nodes {
		s.errorf(head[0], "%d nodes are not more than their %d switches: there are no hosts", nodes, switches)
		return nil
	}
	isSwitch := make([]bool, nodes)
	rest := s.switchIDs(s.lines[1:], switches, isSwitch)
	if s.errors > 0 {
		return nil
	}
	node := make([]int32, nodes) // by ID
	w := &wiring{hosts: nodes - switches, switches: switches}
	host, other := int32(0), int32(w.hosts)
	for id := range node {
		next := &host
		if isSwitch[id] {
			next = &other
		}
		node[id] = *next
		*next++
	}
	w.names = make([]string, nodes)
	for id, n := range node {
		w.names[n] = strconv.Itoa(id)
	}
	if len(rest) != links {
		s.errorf(head[len(head)-1], "%s announced, but the file has %d", announced(links, "link"), len(rest))
	}
	var lossy []word
	for _, line := range rest {
		if s.full() {
			break
		}
		s.numberedLink(line, node, w, &lossy)
	}
	if len(lossy) > 0 {
		s.unused(lossy[0], "links lose nothing: the error rates of %s are not used", plural(len(lossy), "link"))
	}
	return w
}

// switchIDs reads as many IDs as there are switches and returns the lines after them.
func (s *wiringSource) switchIDs(lines []wiringLine, switches int, isSwitch []bool) []wiringLine {
	found := 0
	for found < switches {
		if len(lines) == 0 {
			s.errorf(s.lines[0].words[1], "%s announced, but the file names %d", announced(switches, "switch"), found)
			return nil
		}
		for _, w := range lines[0].words {
			id, ok := s.number(w, "the ID of a switch", 0, len(isSwitch)-1)
			if ok && isSwitch[id] {
				s.errorf(w, "switch %d is named twice", id)
			}
			if ok {
				isSwitch[id] = true
			}
			if found++; found > switches {
				s.errorf(w, "%s announced, but the file names more", announced(switches, "switch"))
			}
			if s.full() {
				return nil
			}
		}
		lines = lines[1:]
	}
	return lines
}

func (s *wiringSource) numberedLink(line wiringLine, node []int32, w *wiring, lossy *[]word) {
	if len(line.words) != 5 {
		s.errorf(line.words[0], "a link has 5 words, not %d: source, target, rate, delay and error rate", len(line.words))
		return
	}
	a, ok1 := s.number(line.words[0], "the source", 0, len(node)-1)
	b, ok2 := s.number(line.words[1], "the target", 0, len(node)-1)
	rate, ok3 := s.rate(line.words[2])
	delay, ok4 := s.delay(line.words[3])
	if ok1 && ok2 && a == b {
		s.errorf(line.words[1], "the link joins node %d to itself", a)
	}
	if e := line.words[4]; !zero(e.text) {
		*lossy = append(*lossy, e)
	}
	if ok1 && ok2 && ok3 && ok4 {
		w.edges = append(w.edges, edge{node[a], node[b], rate, delay, delay})
	}
}

// zero reports whether a decimal number is nothing, such as 0.000000.
func zero(text string) bool {
	for _, r := range text {
		if r != '0' && r != '.' {
			return false
		}
	}
	return true
}

func announced(n int, what string) string {
	if n == 1 {
		return plural(n, what) + " is"
	}
	return plural(n, what) + " are"
}
