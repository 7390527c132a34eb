package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"hybrid/graph"
	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Times between two lines of progress: on a terminal, where one line is written over and
// over, and elsewhere.
const (
	progressRewrite = 200 * time.Millisecond
	progressPlain   = 10 * time.Second
)

// fallbackWidth is the width of a terminal that does not tell its own.
const fallbackWidth = 80

func progressWords() []string { return []string{"auto", "plain", "none"} }

// progress says on standard error how far runs have come.
type progress struct {
	w       io.Writer
	now     func() time.Time
	rewrite bool
	width   int
	total   int64 // operations of a run, 0 where that is not known

	model   string
	began   time.Time // of the model's run
	shown   time.Time // of the line before
	written bool
}

// newProgress returns nil where nothing is to be said.
func (a *app) newProgress(o *runOptions, g *graph.Graph) *progress {
	rewrite, width := false, 0
	switch {
	case a.global.quiet || o.progress == "none":
		return nil
	case o.progress == "auto":
		if rewrite, width = a.rewritable(); !rewrite {
			return nil
		}
	}
	p := &progress{w: a.stderr, now: a.now, rewrite: rewrite, width: width}
	p.total, _ = replay.CountOperations(g)
	return p
}

// rewritable says whether standard error is a terminal on which a line can be written
// over, and how wide it is.
func (a *app) rewritable() (ok bool, width int) {
	f, isFile := a.stderr.(*os.File)
	if !isFile || os.Getenv("NO_TTY") != "" || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return false, 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 1 {
		width = fallbackWidth
	}
	return true, width - 1 // a terminal would not take back a line that it has wrapped
}

// watch is what engines ask; nil asks for nothing.
func (p *progress) watch() replay.Watch {
	if p == nil {
		return nil
	}
	return p.look
}

// begin starts the clock of a run.
func (p *progress) begin(model string) {
	if p != nil {
		p.model, p.began = model, p.now()
		p.shown = p.began
	}
}

// look writes a line when it is time for one.
func (p *progress) look(state func() replay.Progress) {
	now := p.now()
	every := progressPlain
	if p.rewrite {
		every = progressRewrite
	}
	if now.Sub(p.shown) < every {
		return
	}
	p.shown, p.written = now, true
	s := state()
	text := p.model + ": " + p.line(&s, now.Sub(p.began))
	if !p.rewrite {
		fmt.Fprintf(p.w, "hybrid: %s\n", text)
		return
	}
	fmt.Fprintf(p.w, "\r%s\x1b[K", text[:min(len(text), p.width)])
}

// line is the text of a line, in ASCII.
func (p *progress) line(s *replay.Progress, wall time.Duration) string {
	operations, left := units.FormatCount(s.Operations)+" operations", ""
	if done := s.Operations; p.total > 0 && done <= p.total {
		operations = fmt.Sprintf("%.1f %% of %s operations", float64(done)*100/float64(p.total), units.FormatCount(p.total))
		if done > 0 && done < p.total {
			left = ", " + time.Duration(float64(wall)*float64(p.total-done)/float64(done)).Round(time.Second).String() + " left"
		}
	}
	count, what := s.Events, "events"
	if s.PacketHops > 0 {
		count, what = s.PacketHops, "packet-hops"
	}
	return fmt.Sprintf("%s, %s, %.1f M %s/s%s", units.FormatPS(s.Now), operations, float64(count)/wall.Seconds()/1e6, what, left)
}

// end erases the line.
func (p *progress) end() {
	if p != nil && p.rewrite && p.written {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.written = false
	}
}
