package records

import (
	"path/filepath"
	"slices"
	"strconv"

	"hybrid/graph"
	"hybrid/graph/replay"
)

// profile lists at regular times what runs on each rank.
type profile struct {
	quiet
	ticker
	numbering numbering
	ranks     []runningRank
}

type runningRank struct {
	file  *spool
	nodes map[uint64]runningNode // by Seq
}

type runningNode struct {
	kind     graph.Kind
	sync     bool
	op, step int32
	peer     int32
	bytes    int64
}

func newProfile(r *Recorder) listener {
	return &profile{ticker: ticker{r: r, flag: "--profile-interval", every: r.opt.ProfileInterval}, numbering: newNumbering(r)}
}

func (p *profile) next() int64 { return p.ticker.next() }

func (p *profile) begin() error {
	p.ranks, p.rows = make([]runningRank, p.r.g.Ranks), int64(p.r.g.Ranks)
	for i := range p.ranks {
		path := filepath.Join(p.r.opt.Dir, p.r.name+"-"+profileRecord+"-"+strconv.Itoa(i)+"-0.txt")
		q := &p.ranks[i]
		q.file, q.nodes = newSpool(path, p.r.g.Ranks), map[uint64]runningNode{}
		q.file.buf = append(q.file.buf, "CHAKRA PROFILING\n"...)
		if err := q.file.create(); err != nil {
			return err
		}
	}
	return nil
}

// events keeps what runs: a send until it is acknowledged, everything else until it
// ends.
func (p *profile) events(events []replay.Event) error {
	for i := range events {
		e := &events[i]
		nodes := p.ranks[e.Rank].nodes
		switch {
		case e.Kind == replay.OpStarted:
			nodes[e.Seq] = runningNode{e.OpKind, e.Sync, e.Op, e.Step, e.Peer, e.Bytes}
		case e.Kind == replay.Acked, e.Kind == replay.OpEnded && e.OpKind != graph.Send:
			delete(nodes, e.Seq)
		}
	}
	return nil
}

func (p *profile) mark(_, _ []replay.PortCount) error {
	at := p.r.opt.StartTime + p.now()
	for rank := range p.ranks {
		f := p.ranks[rank].file
		f.buf = append(f.buf, "================================================================\nsim_time_sec: "...)
		f.buf = append(appendDecimal(f.buf, at, 12), '\n')
		f.buf = p.list(f.buf, int32(rank))
		if err := f.tidy(); err != nil {
			return err
		}
	}
	return nil
}

// list prints the running nodes of a rank, in issue order.
func (p *profile) list(b []byte, rank int32) []byte {
	nodes := p.ranks[rank].nodes
	order := make([]uint64, 0, len(nodes))
	for seq := range nodes {
		order = append(order, seq)
	}
	slices.Sort(order)
	for _, section := range []struct {
		title, letter string
		holds         func(graph.Kind) bool
	}{
		{"send_nodes:\n", "S", func(k graph.Kind) bool { return k == graph.Send }},
		{"receive_nodes:\n", "R", func(k graph.Kind) bool { return k == graph.Recv }},
		{"computation_nodes:\n", "C", func(k graph.Kind) bool { return k != graph.Send && k != graph.Recv }},
	} {
		b = append(b, section.title...)
		for _, seq := range order {
			if q := nodes[seq]; section.holds(q.kind) {
				b = p.appendNode(append(append(b, "  "...), section.letter...), rank, &q)
			}
		}
	}
	return b
}

// appendNode prints (id,partner,bytes,[dependencies],[]). The graph keeps one list of
// dependencies, which stands in the place of the data dependencies.
func (p *profile) appendNode(b []byte, rank int32, q *runningNode) []byte {
	n := p.numbering.find(rank, q.op, q.step, q.sync)
	b = strconv.AppendUint(append(b, '('), n.ID, 10)
	if q.kind == graph.Send || q.kind == graph.Recv {
		b = strconv.AppendInt(append(b, ','), int64(q.peer), 10)
		b = strconv.AppendInt(append(b, ','), q.bytes, 10)
	}
	return append(appendIDs(append(b, ','), n.Deps), ",[])\n"...)
}

func (p *profile) close(how closing) error {
	var all []*spool
	for i := range p.ranks {
		if f := p.ranks[i].file; f != nil {
			all = append(all, f)
		}
	}
	return closeAll(all, how != dropped)
}
