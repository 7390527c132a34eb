package records

import (
	"strconv"
	"strings"
	"time"

	"hybrid/graph"
	"hybrid/graph/replay"
)

// chakraName is the name of a type of collective in the Chakra schema.
func chakraName(t graph.CollType) string {
	switch t {
	case graph.AllReduce:
		return "ALL_REDUCE"
	case graph.AllGather:
		return "ALL_GATHER"
	case graph.AllToAll:
		return "ALL_TO_ALL"
	case graph.AllToAllV:
		return "ALL_TO_ALLV"
	case graph.ReduceScatter:
		return "REDUCE_SCATTER"
	case graph.ReduceScatterBlock:
		return "REDUCE_SCATTER_BLOCK"
	}
	return strings.ToUpper(t.String())
}

// dates writes simulated times as dates: that many picoseconds after the beginning of
// 1970, truncated to nanoseconds. It keeps the text of the latest second, which rows in
// the order of time share. The zero value is ready.
type dates struct {
	second int64
	prefix string
}

func (d *dates) text(ps int64) string {
	second, nanos := ps/1e12, ps%1e12/1e3
	if nanos < 0 {
		return time.Unix(second, nanos).UTC().Format("2006-01-02T15:04:05.000000000Z")
	}
	if second != d.second || d.prefix == "" {
		d.second, d.prefix = second, time.Unix(second, 0).UTC().Format("2006-01-02T15:04:05.")
	}
	b := append(make([]byte, 0, 40), d.prefix...)
	at := len(b)
	b = append(b, "000000000Z"...)
	for i := at + 8; nanos > 0; i-- {
		b[i] += byte(nanos % 10)
		nanos /= 10
	}
	return string(b)
}

// mix is a bijection that leaves no pattern of its argument (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// collectiveHash names an instance of a collective in records; it is not negative.
func collectiveHash(group int32, instance int64) int64 {
	return int64(mix(replay.CollectiveContext(group, instance)) >> 1)
}

// commTag is the communication tag of a transfer in records. The transfers of
// collectives have tags of their own, with the top bit set, which no trace has; both
// ends have the same.
func commTag(e *replay.Event) uint64 {
	if !e.Collective {
		return uint64(replay.PlainTag(e.Tag, e.Context))
	}
	src, dst := e.Rank, e.Peer
	if e.OpKind == graph.Recv {
		src, dst = dst, src
	}
	return mix(mix(mix(e.Context)^uint64(uint32(e.Tag)))^uint64(src)<<32^uint64(dst)) | 1<<63
}

// call returns what collective a transfer belongs to and the collective's size as it
// was written. Sizes by pair have no such size; then sized is false.
func (r *Recorder) call(e *replay.Event) (typ graph.CollType, bytes int64, sized bool) {
	p, _ := r.g.Program(int(e.Rank))
	call := &p.Calls[p.Ops[e.Op].Arg]
	return call.Type, e.Written, call.Sizes == nil
}

// perf writes a row for each transfer when it is acknowledged.
type perf struct {
	quiet
	r *Recorder
	t *table
	// paths are metric paths by what stands in them.
	paths map[pathKey]string
}

type pathKey struct {
	typ   graph.CollType
	size  int
	bytes int64
	sized bool
}

// mostPaths bounds the memory of metric paths.
const mostPaths = 1 << 12

func newPerf(r *Recorder) listener { return &perf{r: r, paths: map[pathKey]string{}} }

func (p *perf) begin() (err error) {
	p.t, err = p.r.open("chakra-perf", perfColumns())
	return err
}

func (p *perf) events(events []replay.Event) error {
	for i := range events {
		if e := &events[i]; e.Kind == replay.Acked {
			if err := p.acked(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *perf) acked(e *replay.Event) error {
	at, start := p.r.ps(e.T), p.r.ps(e.Start)
	path, id, size := "", int64(-1), -1
	if e.Collective {
		group, instance, _ := replay.ContextCollective(e.Context)
		size = p.r.g.Groups[group].Size()
		id = collectiveHash(group, instance)
		path = p.collectivePath(e, size)
	} else {
		path = "ChakraFCT.Send.GroupSize0.CommSize" + itoa(e.Bytes) + "Bytes"
	}
	return p.t.row(text(p.r.dates.text(at)), text("ChakraFCT"), seconds(at), micros(p.r.clock.PS(e.T-e.Start)), text(path), integer(id), seconds(start),
		boolean(e.Sync), unsigned(commTag(e)), integer(size), integer(e.Bytes), text(app(e.Rank)), text(app(e.Peer)))
}

// collectivePath is ChakraFCT.ALL_REDUCE.GroupSize8.CommSize1000Bytes. The barrier of
// synchronization counts as a barrier of its own, so that it spoils no average.
func (p *perf) collectivePath(e *replay.Event, size int) string {
	k := pathKey{typ: graph.Barrier, size: size, sized: true}
	if !e.Sync {
		k.typ, k.bytes, k.sized = p.r.call(e)
	}
	s, ok := p.paths[k]
	if !ok {
		amount := "Pair"
		if k.sized {
			amount = strconv.FormatInt(k.bytes, 10)
		}
		s = "ChakraFCT." + chakraName(k.typ) + ".GroupSize" + strconv.Itoa(size) + ".CommSize" + amount + "Bytes"
		if len(p.paths) < mostPaths {
			p.paths[k] = s
		}
	}
	return s
}
