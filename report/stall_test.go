package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hybrid/graph/replay"
)

// stalled is a run that ended with a circle of ports and queue pairs that wait.
func stalled(ports, pairs int, more int64) *replay.Result {
	r := deadlocked(3)
	s := &replay.Stall{More: more}
	for i := range ports {
		s.Circle = append(s.Circle, replay.PausedPort{Link: int32(i), From: fmt.Sprintf("rack-%d", i), To: fmt.Sprintf("rack-%d", (i+1)%ports), Class: 1,
			Bytes: 40_000, Since: 2_000_000, Head: replay.Frame{Host: "server-0", QP: 3, PSN: 17}})
	}
	for i := range pairs {
		s.Pairs = append(s.Pairs, replay.StalledPair{Src: int32(i), Dst: 9, Frame: replay.Frame{Host: "server-0", QP: int32(i), Ack: true}, Wait: "missing", Text: "it is gone", Link: -1, Since: -1})
	}
	r.Verdict.Stall = s
	return r
}

// The text report names the first ports and queue pairs and counts the others.
func TestStallInText(t *testing.T) {
	s := text(t, New(inputs(), ringGraph(t), []*replay.Result{stalled(14, 6, 100)}, nil, nil))
	s = strings.Join(strings.Fields(s), " ")
	for _, want := range []string{
		"rack-0 to rack-1: class 1 paused since 2.000 us, 40,000B wait, packet 17 of queue pair 3 of server-0 first",
		"and 2 ports more", "queue pair 3 of server-0, rank 3 to 9: it is gone", "and 102 queue pairs more with messages that are not acknowledged",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("the report lacks %q:\n%s", want, s)
		}
	}
	for _, not := range []string{"rack-12 to rack-13", "queue pair 4 of"} {
		if strings.Contains(s, not) {
			t.Errorf("the report has %q", not)
		}
	}
}

// The JSON report has everything, and null for what is not known.
func TestStallInJSON(t *testing.T) {
	var b strings.Builder
	if err := New(inputs(), ringGraph(t), []*replay.Result{stalled(3, 6, 100), deadlocked(2)}, nil, nil).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	type frame struct {
		Host            string
		QueuePair       int `json:"queue_pair"`
		PSN             int
		Acknowledgement bool
	}
	var doc struct {
		Runs []struct {
			Verdict struct {
				Network *struct {
					Circle []struct {
						From, To    string
						Class, Link int
						Bytes       int64
						Since       int64 `json:"since_ps"`
						Head        frame
					}
					Pairs []struct {
						Wait  string `json:"waits_for"`
						Link  *int
						Since *int64 `json:"since_ps"`
						Frame frame
					} `json:"queue_pairs"`
					More int64 `json:"more_queue_pairs"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	n := doc.Runs[0].Verdict.Network
	if n == nil || doc.Runs[1].Verdict.Network != nil || len(n.Circle) != 3 || len(n.Pairs) != 6 || n.More != 100 {
		t.Fatalf("network %+v", n)
	}
	if p := n.Circle[2]; p.From != "rack-2" || p.To != "rack-0" || p.Class != 1 || p.Link != 2 || p.Bytes != 40_000 || p.Since != 2_000_000 || p.Head != (frame{"server-0", 3, 17, false}) {
		t.Errorf("port %+v", p)
	}
	if p := n.Pairs[5]; p.Wait != "missing" || p.Link != nil || p.Since != nil || p.Frame != (frame{"server-0", 5, 0, true}) {
		t.Errorf("queue pair %+v", p)
	}
}
