package records

import (
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// devices writes what each port has carried in each interval.
type devices struct {
	quiet
	ticker
	t        *table
	ports    []port
	last     []replay.PortCount // by link
	scaleUps []replay.PortCount // by rank
	row      []cell
}

func newDevices(r *Recorder) listener {
	return &devices{ticker: ticker{r: r, flag: "--nd-interval", every: r.opt.DeviceInterval}}
}

func (d *devices) next() units.Time { return d.ticker.next() }

func (d *devices) begin() (err error) {
	p := d.r.platform
	d.ports, d.last = p.ports(), make([]replay.PortCount, len(p.Links))
	if d.r.opt.ScaleUpStats && p.ScaleUp != nil {
		d.scaleUps = make([]replay.PortCount, len(p.ScaleUp))
	}
	d.rows = int64(len(d.ports) + len(d.scaleUps))
	d.t, err = d.r.open("nd-stats", deviceColumns())
	return err
}

func (d *devices) mark(links, scaleUp []replay.PortCount) error {
	at := d.r.opt.StartTime + d.now()
	for i := range d.ports {
		if err := d.port(at, &d.ports[i], links); err != nil {
			return err
		}
	}
	copy(d.last, links)
	for rank := range d.scaleUps {
		if err := d.scaleUp(at, int32(rank), scaleUp); err != nil {
			return err
		}
	}
	copy(d.scaleUps, scaleUp)
	return nil
}

// of returns counter i, nothing where the engine keeps none.
func of(c []replay.PortCount, i int32) (n replay.PortCount) {
	if i >= 0 && int(i) < len(c) {
		n = c[i]
	}
	return n
}

func (d *devices) port(at int64, q *port, links []replay.PortCount) error {
	p := d.r.platform
	l := &p.Links[q.out]
	n := &p.Nodes[l.From]
	direction := "DL"
	if p.Nodes[l.To].Tier < n.Tier {
		direction = "UL"
	}
	out, in, lastOut, lastIn := of(links, q.out), of(links, q.in), of(d.last, q.out), of(d.last, q.in)
	now := replay.PortCount{TxPackets: out.TxPackets, TxBytes: out.TxBytes, RxPackets: in.RxPackets, RxBytes: in.RxBytes, TxDrops: out.TxDrops}
	before := replay.PortCount{TxBytes: lastOut.TxBytes, RxBytes: lastIn.RxBytes}
	d.row = append(d.row[:0], text(d.r.dates.text(at)), seconds(at), text(n.Name), text(deviceName(p, l.From, q.device)), text(p.nodeType(l.From)),
		integer(q.device), text(direction), integer(l.From), integer(n.Tier), integer(n.Subtier))
	back := l.PerByte
	if q.in >= 0 {
		back = p.Links[q.in].PerByte
	}
	return d.traffic(now, before, l.PerByte, back)
}

func (d *devices) scaleUp(at int64, rank int32, counters []replay.PortCount) error {
	p := d.r.platform
	g := p.ScaleUp[rank]
	if g < 0 {
		return nil
	}
	host := p.HostOf[rank]
	n := &p.Nodes[host]
	d.row = append(d.row[:0], text(d.r.dates.text(at)), seconds(at), text(n.Name), text(scaleUpDevice), text(scaleUpNIC),
		integer(0), text("UL"), integer(host), integer(n.Tier), integer(n.Subtier))
	perByte := p.Groups[g].PerByte
	return d.traffic(of(counters, rank), of(d.scaleUps, rank), perByte, perByte)
}

// traffic appends totals, the interval's share, rates and utilization, and writes the
// row.
func (d *devices) traffic(now, before replay.PortCount, txPerByte, rxPerByte units.Rat) error {
	tx, rx := now.TxBytes-before.TxBytes, now.RxBytes-before.RxBytes
	d.row = append(d.row, integer(now.TxPackets), integer(now.RxPackets), decimal(now.TxBytes, 9), decimal(now.RxBytes, 9),
		decimal(tx, 6), decimal(rx, 6), d.rate(tx), d.rate(rx), utilization(tx, txPerByte, d.every), utilization(rx, rxPerByte, d.every), integer(now.TxDrops), integer(0))
	return d.t.row(d.row...)
}

// rate is bytes an interval in Gbit/s: 8000 b/ps is one Gbit/s. Six decimals.
func (d *devices) rate(bytes int64) cell {
	return decimal(units.MulDiv(bytes, 8000*1e6, d.every), 6)
}

// utilization is the part of an interval in which a port was busy, in percent with six
// decimals.
func utilization(bytes int64, perByte units.Rat, every int64) cell {
	if perByte.Num <= 0 {
		return decimal(0, 0)
	}
	// Femtoseconds, so that short intervals keep their digits.
	busy := units.MulDiv(bytes, perByte.Num*1000, perByte.Den)
	return decimal(units.MulDiv(busy, 100*1e6, every*1000), 6)
}
