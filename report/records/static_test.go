package records

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hybrid/graph/replay"
	"hybrid/internal/units"
)

// Two packets of 4000 B and one of 2000 B leave the first host in 20 ps a byte: 80, 80
// and 40 ns, and arrive 500 ns later. In the first interval of 100 ns the port has sent
// one packet and begun a second, in the second the third has begun and three are dropped.
func TestDevices(t *testing.T) {
	count := func(at units.Time) (links, scaleUp []replay.PortCount) {
		var out replay.PortCount
		for _, p := range []struct{ start, bytes int64 }{{0, 4000}, {80_000, 4000}, {160_000, 2000}} {
			if p.start < at {
				out.TxPackets++
				out.TxBytes += p.bytes
			}
			if p.start+p.bytes*20+500_000 < at {
				out.RxPackets++
				out.RxBytes += p.bytes
			}
		}
		if at > 150_000 {
			out.TxDrops = 3
		}
		return []replay.PortCount{out, {}}, []replay.PortCount{{TxPackets: 1, TxBytes: 4120}, {RxPackets: 1, RxBytes: 4120}}
	}
	p := pair()
	p.ScaleUp, p.Subgroup = []int32{0, 0}, []uint32{0, 0}
	p.Groups = []ScaleUpGroup{{ID: 7, PerByte: units.NewRat(10, 1), Hop: 100_000, Cable: 50_000}}
	got := recordWith(t, oneSend(t), p, Options{Interval: 1e6, DeviceInterval: 100_000, ScaleUpStats: true}, 1e6, units.Never, count)
	text := got["test-nd-stats-0.csv"]
	rows := slices.Collect(strings.Lines(body(text)))
	// 8000 B in 100 ns are 640 Gbit/s, 160 % of 400; the second packet is counted with its
	// first bit. In the second interval 2000 B: 160 Gbit/s.
	want := lines(
		"1970-01-01T00:00:00.000000100Z,0.0000001,server-0,nic0,Server,0,DL,0,3,0,2,0,0.000008,0,0.008,0,640,0,160,0,0,0",
		"1970-01-01T00:00:00.000000100Z,0.0000001,server-1,nic0,Server,0,DL,1,3,1,0,0,0,0,0,0,0,0,0,0,0,0",
		// 4120 B in 100 ns are 329.6 Gbit/s, 41.2 % of 800.
		"1970-01-01T00:00:00.000000100Z,0.0000001,server-0,ChakraScaleUpNetDevice,ChakraScaleUpNic,0,UL,0,3,0,1,0,0.00000412,0,0.00412,0,329.6,0,41.2,0,0,0",
		"1970-01-01T00:00:00.000000100Z,0.0000001,server-1,ChakraScaleUpNetDevice,ChakraScaleUpNic,0,UL,1,3,1,0,1,0,0.00000412,0,0.00412,0,329.6,0,41.2,0,0",
		"1970-01-01T00:00:00.000000200Z,0.0000002,server-0,nic0,Server,0,DL,0,3,0,3,0,0.00001,0,0.002,0,160,0,40,0,3,0")
	if d := cmp.Diff(want, strings.Join(rows[:5], "")); d != "" {
		t.Error(d)
	}
	// The last rank ends at 2.008 us, the simulation at 3.008: 30 intervals.
	if len(rows) != 30*4 {
		t.Errorf("%d rows, want 120", len(rows))
	}
	last := "1970-01-01T00:00:00.000003000Z,0.000003,server-1,nic0,Server,0,DL,1,3,1,0,3,0,0.00001,0,0,0,0,0,0,0,0\n"
	if got := rows[len(rows)-3]; got != last {
		t.Errorf("last row of server-1\n%swant\n%s", got, last)
	}
}

// A group of two subgroups: each rank hangs on its subgroup's switch, and those on one
// above them, so that three switches and four cables lie between ranks of different
// subgroups.
func TestTopologyReport(t *testing.T) {
	p := pair()
	p.Groups = []ScaleUpGroup{{ID: 7, PerByte: units.NewRat(10, 1), Hop: 100_000, Cable: 50_000}}
	p.ScaleUp, p.Subgroup = []int32{0, 0}, []uint32{3, 4}
	got := recordWith(t, oneSend(t), p, Options{Interval: 1e6}, 1e6, units.Never, nil)
	const one = "server-0,ChakraScaleUpNic,3,0,0,ChakraScaleUpNetDevice,0"
	const two = "server-1,ChakraScaleUpNic,3,1,1,ChakraScaleUpNetDevice,0"
	sub := func(s, port string) string {
		return "ChakraScaleUpSwitch-7-" + s + ",ChakraScaleUpSwitch,2,0,-1,port" + port + "," + port
	}
	top := func(port string) string {
		return "ChakraScaleUpSwitch-7,ChakraScaleUpSwitch,1,0,-1,port" + port + "," + port
	}
	const rate = ",800,50"
	want := lines(
		"server-0,Server,3,0,0,nic0,0,server-1,Server,3,1,1,nic0,0,400,500",
		"server-1,Server,3,1,1,nic0,0,server-0,Server,3,0,0,nic0,0,400,500",
		one+","+sub("3", "0")+rate, sub("3", "0")+","+one+rate,
		two+","+sub("4", "0")+rate, sub("4", "0")+","+two+rate,
		sub("3", "1")+","+top("0")+rate, top("0")+","+sub("3", "1")+rate,
		sub("4", "1")+","+top("1")+rate, top("1")+","+sub("4", "1")+rate)
	if d := cmp.Diff(want, body(got["test-topology-report-0.csv"])); d != "" {
		t.Error(d)
	}
}

func TestStaticRecords(t *testing.T) {
	p := pair()
	p.HostOf = []int32{1, 0}
	got := recordWith(t, oneSend(t), p, Options{Interval: 1e6}, 1e6, units.Never, nil)
	for name, want := range map[string]string{
		"chakra-capable-hosts": "Host,IsChakraCapable\nserver-0,1\nserver-1,1\n",
		"chakra-apps":          "AppName,Core\nChakraApp-0,0\nChakraApp-1,0\n",
		"chakra-mapping": "ChakraId,Hostname,NicNodeID,ServerNodeID,ServerID,Core,IPAddress\n" +
			"0,server-1,1,1,1,0,10.0.0.2\n1,server-0,0,0,0,0,10.0.0.1\n",
	} {
		if d := cmp.Diff(want, got["test-"+name+"-0.csv"]); d != "" {
			t.Error(name, d)
		}
	}
	p.ScaleUp, p.Subgroup = []int32{0, -1}, []uint32{3, 0}
	p.Groups = []ScaleUpGroup{{ID: 7, PerByte: units.NewRat(10, 1)}}
	got = recordWith(t, oneSend(t), p, Options{Interval: 1e6, Only: []string{"chakra-mapping"}}, 1e6, units.Never, nil)
	want := "ChakraId,Hostname,NicNodeID,ServerNodeID,ServerID,Core,IPAddress,ScaleUpGroupId,ScaleUpSubgroupId\n" +
		"0,server-1,1,1,1,0,10.0.0.2,7,3\n1,server-0,0,0,0,0,10.0.0.1,-1,-1\n"
	if d := cmp.Diff(map[string]string{"test-chakra-mapping-0.csv": want}, got); d != "" {
		t.Error(d)
	}
}

// Host 65535 has the bytes 1, 0, 0.
func TestAddress(t *testing.T) {
	for host, want := range map[int32]string{0: "10.0.0.1", 254: "10.0.0.255", 255: "10.0.1.0", 65535: "10.1.0.0"} {
		if got := address(host); got != want {
			t.Errorf("host %d: %s, want %s", host, got, want)
		}
	}
}

// Cables between the same two nodes belong together in the order of their links, each
// end with the rate of its own direction.
func TestParallelCables(t *testing.T) {
	fast, slow := units.NewRat(20, 1), units.NewRat(40, 1)
	p := &Platform{Hosts: 2, HostOf: []int32{0, 1}, Nodes: []Node{{"server-0", 3, 0}, {"server-1", 3, 1}},
		Links: []Link{{0, 1, fast, 0}, {0, 1, fast, 0}, {1, 0, slow, 0}, {1, 0, slow, 0}}}
	want := []port{{0, 2, 0}, {1, 3, 1}, {2, 0, 0}, {3, 1, 1}}
	if got := p.ports(); !slices.Equal(got, want) {
		t.Errorf("ports %v, want %v", got, want)
	}
	count := func(units.Time) (links, scaleUp []replay.PortCount) {
		return []replay.PortCount{{}, {}, {}, {RxPackets: 1, RxBytes: 1000}}, nil
	}
	got := recordWith(t, oneSend(t), p, Options{Interval: 1e6, DeviceInterval: 100_000, Only: []string{"nd-stats"}}, 1e6, units.Never, count)
	// 1000 B in 100 ns are 80 Gbit/s, and take 40 ns at 40 ps a byte.
	row := "1970-01-01T00:00:00.000000100Z,0.0000001,server-0,nic1,Server,1,DL,0,3,0,0,1,0,0.000001,0,0.001,0,80,0,40,0,0\n"
	if text := body(got["test-nd-stats-0.csv"]); !strings.Contains(text, row) {
		t.Errorf("no row\n%sin\n%s", row, text)
	}
}
