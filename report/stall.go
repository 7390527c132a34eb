package report

import (
	"fmt"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// toldPairs and toldPorts bound what the text report says of queue pairs, and of the ports
// of a circle.
const (
	toldPairs = 4
	toldPorts = 12
)

// stallLines tell people what stood still in the network.
func stallLines(r *replay.Result) (lines []string) {
	s := r.Verdict.Stall
	if s == nil {
		return nil
	}
	for i := range s.Circle {
		p := &s.Circle[i]
		if i == toldPorts {
			lines = append(lines, fmt.Sprintf("and %s more", plural(int64(len(s.Circle)-i), "port")))
			break
		}
		lines = append(lines, fmt.Sprintf("%s to %s: class %d paused since %s, %s wait, %s first", p.From, p.To, p.Class,
			units.FormatPS(r.Clock.PS(p.Since)), units.ReadableBytes(p.Bytes), p.Head))
	}
	for i := range s.Pairs {
		if i == toldPairs {
			break
		}
		lines = append(lines, s.Pairs[i].String())
	}
	if n := max(0, int64(len(s.Pairs)-toldPairs)) + s.More; n > 0 {
		lines = append(lines, fmt.Sprintf("and %s more with messages that are not acknowledged", plural(n, "queue pair")))
	}
	return lines
}

// stallObject is the same for programs, null where nothing stood still.
func stallObject(r *replay.Result) any {
	s := r.Verdict.Stall
	if s == nil {
		return nil
	}
	return object{
		{"circle", each(s.Circle, func(p *replay.PausedPort) object {
			return object{{"link", p.Link}, {"from", p.From}, {"to", p.To}, {"class", p.Class}, {"bytes", p.Bytes},
				{"since_ps", timeOrNull(r, p.Since)}, {"head", frameObject(&p.Head)}}
		})},
		{"queue_pairs", each(s.Pairs, func(p *replay.StalledPair) object {
			return object{{"src", p.Src}, {"dst", p.Dst}, {"frame", frameObject(&p.Frame)}, {"waits_for", p.Wait}, {"text", p.Text},
				{"link", linkOrNull(p.Link)}, {"from", p.From}, {"to", p.To}, {"class", p.Class}, {"since_ps", timeOrNull(r, p.Since)}}
		})},
		{"more_queue_pairs", s.More},
	}
}

func frameObject(f *replay.Frame) object {
	return object{{"host", f.Host}, {"queue_pair", f.QP}, {"psn", f.PSN}, {"acknowledgement", f.Ack}}
}

func timeOrNull(r *replay.Result, t units.Time) any {
	if t < 0 {
		return nil
	}
	return r.Clock.PS(t)
}

func linkOrNull(id int32) any {
	if id < 0 {
		return nil
	}
	return id
}
