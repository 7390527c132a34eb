package networks

import (
	"cmp"
	"math"
	"slices"

	"hybrid/internal/diag"
	"hybrid/internal/units"
	"hybrid/internal/yamldoc"
)

// view is one written level with the places of its parts. hockney and loggp are nil
// where the file does not have that model.
type view struct {
	id                   LevelID
	level                *Level
	node, hockney, loggp *yamldoc.Node
	net                  *Network
	list                 *diag.List
}

// sanityChecks look for figures that are well-formed but cannot be meant: slips of
// units, quantities counted twice, two views of one network that disagree. They only
// warn, except for tables that no reading makes right. Floats are compared here; none
// of them is a simulated time.
func sanityChecks() []func(v *view) {
	return []func(v *view){
		checkMagnitude, checkBitsAndBytes, checkSlow, checkModelsAgree, checkTotals, checkGrowingOverhead,
		checkGapAndO, checkEagerLimit, checkBoundaries, checkPathLatency,
	}
}

// checkSanity runs the checks on every written level, then those between levels.
func (n *Network) checkSanity(root *yamldoc.Node, list *diag.List) {
	if list.HasErrors() {
		return
	}
	var views []*view
	for id, l := range n.Levels {
		node := root.At("levels", LevelID(id).String())
		if l == nil || node == nil {
			continue
		}
		v := &view{LevelID(id), l, node, node.Get("hockney"), node.Get("loggp"), n, list}
		views = append(views, v)
		for _, check := range sanityChecks() {
			check(v)
		}
	}
	checkHierarchy(views)
	checkCopies(views)
}

// at is the place of a key of a model's piece i.
func at(model *yamldoc.Node, i int, key string) diag.Pos {
	n := model
	if p := model.Get("pieces"); p != nil && i < len(p.Items) {
		n = p.Items[i]
	}
	if k := n.Get(key); k != nil {
		return k.Pos
	}
	return n.Pos
}

func (v *view) warn(code string, pos diag.Pos, format string, args ...any) *diag.Diagnostic {
	return v.list.Warnf(code, pos, v.id.String()+": "+format, args...)
}

// eachTime calls f for every span of the level, eachRate for every time per byte.
func (v *view) eachTime(f func(pos diag.Pos, key string, ps int64)) {
	for i, h := range v.level.Hockney {
		if v.hockney != nil {
			f(at(v.hockney, i, "latency"), "latency", h.Latency)
		}
	}
	for i, g := range v.level.LogGP {
		if v.loggp != nil {
			f(at(v.loggp, i, "L"), "L", g.L)
			f(at(v.loggp, i, "o"), "o", g.Overhead)
			f(at(v.loggp, i, "g"), "g", g.Gap)
		}
	}
}

func (v *view) eachRate(f func(pos diag.Pos, key string, perByte units.Rat)) {
	for i, h := range v.level.Hockney {
		if v.hockney != nil {
			f(at(v.hockney, i, "bandwidth"), "bandwidth", h.PerByte)
		}
	}
	for i, g := range v.level.LogGP {
		if v.loggp != nil {
			f(at(v.loggp, i, "G"), "G", g.G)
		}
	}
}

// checkMagnitude warns about spans and rates that no network of today has: usually a
// slip of a unit by a factor of a thousand.
func checkMagnitude(v *view) {
	most := map[string]int64{"latency": 10_000_000_000, "L": 10_000_000_000, "o": 50_000_000, "g": 100_000_000}
	v.eachTime(func(pos diag.Pos, key string, ps int64) {
		if ps > most[key] {
			v.warn("W840", pos, "%s is %s; a slip of the unit?", key, units.FormatPS(ps))
		}
		if ps > 0 && ps < 1000 {
			v.warn("W840", pos, "%s is %d ps; a slip of the unit?", key, ps)
		}
	})
	v.eachRate(func(pos diag.Pos, key string, perByte units.Rat) {
		if b := perByte.Float(); b > 100_000 || b > 0 && b < 0.05 {
			v.warn("W840", pos, "%s stands for %s; a slip of the unit?", key, units.FormatRate(perByte))
		}
	})
}

// checkBitsAndBytes compares with the fabric's link: eight times off is a mix-up.
func checkBitsAndBytes(v *view) {
	link := v.net.Fabric.Link.PerByte.Float()
	if v.id != InterNode || link == 0 {
		return
	}
	v.eachRate(func(pos diag.Pos, key string, perByte units.Rat) {
		for _, factor := range []float64{8, 1.0 / 8} {
			if near(perByte.Float(), link*factor, 0.02) {
				v.warn("W841", pos, "%s stands for %s, but the link has %s: bits taken for bytes?", key, units.FormatRate(perByte), units.FormatRate(v.net.Fabric.Link.PerByte))
			}
		}
	})
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

// checkSlow warns where long messages are more than five times slower than the link.
func checkSlow(v *view) {
	link := v.net.Fabric.Link.PerByte.Float()
	if v.id != InterNode || link == 0 || v.hockney == nil && v.loggp == nil {
		return
	}
	model, key := v.hockney, "bandwidth"
	last := v.level.Hockney[len(v.level.Hockney)-1].PerByte
	if model == nil {
		model, key = v.loggp, "G"
	}
	if last.Float() > 5*link && !near(last.Float(), 8*link, 0.02) {
		v.warn("W842", at(model, len(v.level.Hockney)-1, key), "long messages reach %s on links of %s: the slope of short messages?",
			units.FormatRate(last), units.FormatRate(v.net.Fabric.Link.PerByte))
	}
}

// checkModelsAgree holds Hockney and LogGP against each other, by alpha = L + 2o and
// beta = max(G, O), at the smallest and the largest sizes.
func checkModelsAgree(v *view) {
	if v.hockney == nil || v.loggp == nil {
		return
	}
	h, g := v.level.Hockney[0], v.level.LogGP[0]
	alpha, sum := float64(h.Latency), float64(g.L)+2*float64(g.Overhead)
	pos := at(v.loggp, 0, "L")
	switch {
	case g.Overhead > 0 && math.Abs(alpha-float64(g.L)) < 0.5*float64(g.Overhead):
		v.warn("W844", pos, "L is the whole latency of hockney while o is %s: the overhead is counted twice", units.FormatPS(g.Overhead))
	case math.Abs(alpha-sum) > max(0.1*alpha, 100_000):
		v.warn("W843", pos, "L + 2o is %s, but hockney's latency is %s", units.FormatPS(int64(sum)), units.FormatPS(h.Latency))
	}
	i := len(v.level.LogGP) - 1
	beta, last := v.level.Hockney[len(v.level.Hockney)-1].PerByte, v.level.LogGP[i]
	if slope := slower(last.G, last.O); !near(slope.Float(), beta.Float(), 0.05) {
		v.warn("W843", at(v.loggp, i, "G"), "long messages take %s ps a byte, but %s by hockney", slope, beta)
	}
}

// checkTotals refuses tables of total times: where latency is size times the time per
// byte on most rows, T(s) = latency + s*beta counts everything twice.
func checkTotals(v *view) {
	refuse := func(model *yamldoc.Node, key string, n int, row func(i int) (from, latency int64, perByte units.Rat)) {
		same, rows := 0, 0
		for i := range n {
			from, latency, perByte := row(i)
			if from < 2 {
				continue
			}
			rows++
			if near(float64(latency), float64(from)*perByte.Float(), 0.01) {
				same++
			}
		}
		if rows >= 3 && 2*same > rows {
			v.list.Errorf("E818", at(model, n-1, key), "%s: %s is the time of the whole message (size times the time per byte) on %d of %d rows", v.id, key, same, rows)
		}
	}
	if v.hockney != nil {
		refuse(v.hockney, "latency", len(v.level.Hockney), func(i int) (int64, int64, units.Rat) {
			p := v.level.Hockney[i]
			return p.From, p.Latency, p.PerByte
		})
	}
	if v.loggp != nil {
		refuse(v.loggp, "L", len(v.level.LogGP), func(i int) (int64, int64, units.Rat) {
			p := v.level.LogGP[i]
			return p.From, p.L, p.G
		})
	}
}

// checkGrowingOverhead warns where o grows with the size although O is given, too.
func checkGrowingOverhead(v *view) {
	if v.loggp == nil || len(v.level.LogGP) < 3 {
		return
	}
	first, last := v.level.LogGP[0], v.level.LogGP[len(v.level.LogGP)-1]
	rising := slices.IsSortedFunc(v.level.LogGP, func(a, b LogGPPiece) int { return cmp.Compare(a.Overhead, b.Overhead) })
	if rising && first.Overhead > 0 && last.Overhead > 2*first.Overhead && !last.O.IsZero() {
		v.warn("W845", at(v.loggp, len(v.level.LogGP)-1, "o"), "o grows from %s to %s with the size while O is given: the cost of a byte is counted twice",
			units.FormatPS(first.Overhead), units.FormatPS(last.Overhead))
	}
}

// checkGapAndO warns about a gap longer than a message's way and about bytes that cost
// the processor more than the network.
func checkGapAndO(v *view) {
	for i, p := range v.level.LogGP {
		if v.loggp == nil {
			return
		}
		if p.Gap > addTimes(p.L, p.Overhead, p.Overhead) {
			v.warn("W846", at(v.loggp, i, "g"), "g is %s, more than L + 2o: a message would block the next for longer than it travels", units.FormatPS(p.Gap))
		}
		if p.O.Cmp(p.G) > 0 {
			v.warn("W847", at(v.loggp, i, "O"), "O is above G: copying on the processor, not the network, limits long messages")
		}
	}
}

// checkEagerLimit warns about limits that no library has: they are powers of two, or
// fall short of one by 1 to 256 B of header.
func checkEagerLimit(v *view) {
	e, n := v.level.EagerLimit, v.node.Get("eager_limit")
	if n == nil || v.net.NIC.Transport == "ideal" { // an ideal network may well send everything eagerly
		return
	}
	power := int64(1)
	for power < e {
		power *= 2
	}
	switch {
	case e > 64<<20:
		v.warn("W848", n.Pos, "eager_limit is %s; messages of that size are not sent eagerly", units.FormatBytes(e))
	case e > 0 && power-e > 256:
		v.warn("W848", n.Pos, "eager_limit is %d B, which is neither a power of two nor just below one", e)
	}
}

// checkBoundaries warns where a piece begins with a shorter time than the one before it
// ends with, by 5 % or more, or with more than three times that time.
func checkBoundaries(v *view) {
	compare := func(model *yamldoc.Node, i int, from int64, before, after float64) {
		switch {
		case model == nil || before <= 0:
		case after < 0.95*before:
			v.warn("W849", at(model, i, "from"), "a message of %s takes %.0f %% less time than one a byte shorter", units.FormatBytes(from), 100*(1-after/before))
		case after > 3*before:
			v.warn("W849", at(model, i, "from"), "a message of %s takes %.1f times as long as one a byte shorter", units.FormatBytes(from), after/before)
		}
	}
	for i := 1; i < len(v.level.Hockney); i++ {
		p, q := v.level.Hockney[i-1], v.level.Hockney[i]
		s := float64(q.From)
		compare(v.hockney, i, q.From, float64(p.Latency)+(s-1)*p.PerByte.Float(), float64(q.Latency)+s*q.PerByte.Float())
	}
	for i := 1; i < len(v.level.LogGP); i++ {
		p, q := v.level.LogGP[i-1], v.level.LogGP[i]
		s := float64(q.From)
		compare(v.loggp, i, q.From, float64(p.L)+2*float64(p.Overhead)+(s-1)*slower(p.G, p.O).Float(),
			float64(q.L)+2*float64(q.Overhead)+s*slower(q.G, q.O).Float())
	}
}

// checkPathLatency holds L against the way of an empty message through the fabric: h
// links and h-1 switches, for the shortest and the longest path of the topology.
func checkPathLatency(v *view) {
	if v.id != InterNode || v.loggp == nil || v.net.Doc.At("fabric", "link") == nil {
		return
	}
	short, long := v.net.topology.hops()
	if long == 0 {
		return
	}
	least, most := v.net.emptyMessage(short), v.net.emptyMessage(long)
	l := float64(v.level.LogGP[0].L)
	if l < 0.8*least || l > 1.2*most {
		v.warn("W851", at(v.loggp, 0, "L"), "L is %s, but an empty message takes %s to %s through the fabric", units.FormatPS(int64(l)), units.FormatPS(int64(least)), units.FormatPS(int64(most))).
			Note("the packet simulation and the closed forms describe two different networks")
	}
}

// emptyMessage is the time of an empty message over h links, in picoseconds.
func (n *Network) emptyMessage(h int) float64 {
	f := n.Fabric
	header := float64(f.Wire.Only) * f.Link.PerByte.Float()
	if n.NIC.Transport == "ideal" {
		return float64(h) * float64(f.Link.Delay)
	}
	return float64(h)*(float64(f.Link.Delay)+header) + float64(h-1)*float64(f.Switch.Latency)
}

// checkHierarchy warns where a near level has more than twice the latency of a wider one.
func checkHierarchy(views []*view) {
	for i := 1; i < len(views); i++ {
		a, b := views[i-1], views[i]
		if near, far := a.level.Hockney[0].Latency, b.level.Hockney[0].Latency; near > 2*far {
			a.warn("W850", a.node.Pos, "an empty message takes %s, but %s at %s", units.FormatPS(near), units.FormatPS(far), b.id)
		}
	}
}

// checkCopies warns where two levels have the same figures to the last digit.
func checkCopies(views []*view) {
	for i, a := range views {
		for _, b := range views[i+1:] {
			if slices.Equal(a.level.Hockney, b.level.Hockney) && slices.Equal(a.level.LogGP, b.level.LogGP) {
				b.warn("W852", b.node.Pos, "the same figures as %s: leave a level out and it falls back by itself", a.id)
			}
		}
	}
}
