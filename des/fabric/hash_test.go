package fabric

import (
	"hash/crc32"
	"hash/fnv"
	"testing"

	"hybrid/des/sim"
)

// The key of the first flow is 00000000 00000001 00000000 0000, with switch 16 behind it
// 00000010; the values come from zlib's crc32 and from FNV's and MurmurHash3's definitions.
func TestHashVectors(t *testing.T) {
	const n = 1 << 20
	for _, c := range []struct {
		from, to int32
		qp, e    uint32
		node     int32
		seed     uint64
		want     map[string]uint32 // before the modulo
	}{
		{0, 1, 0, 0, 16, 0, map[string]uint32{"murmur3": 675666, "crc32": 2009887347, "crc32-salted": 233, "hash": 14901570, "hash-salted": 1264622130, "dpr": 1, "dpr-fallback": 1}},
		{5, 1000, 7, 256, 2000, 1, map[string]uint32{"murmur3": 886493, "crc32": 41426386, "crc32-salted": 18668, "hash": 3603263273, "hash-salted": 3532572598, "dpr": 488, "dpr-fallback": 18668}},
		{513, 512, 3, 383, 70000, 42, map[string]uint32{"murmur3": 413047, "crc32": 1707924560, "crc32-salted": 10596, "hash": 1585077099, "hash-salted": 3757521945, "dpr": 0, "dpr-fallback": 10596}},
	} {
		for _, h := range Hashes() {
			x := &Routing{Kind: Spray, Hash: &h, Entropies: 128}
			r := &sim.Record{Src: sim.Pack(c.from, 3), Dst: sim.Pack(c.to, 0), QP: c.qp, PSN: c.e - FirstEntropy}
			if c.e == 0 {
				x.Kind = ECMP
			}
			if got, want := x.Member(r, c.node, Salt(c.seed, c.node), n), int32(c.want[h.Name]%n); got != want {
				t.Errorf("%s of flow %d to %d, queue pair %d, entropy %d, switch %d: %d, want %d", h.Name, c.from, c.to, c.qp, c.e, c.node, got, want)
			}
		}
	}
}

func TestChecksums(t *testing.T) {
	text := []byte("123456789")
	f := fnv.New32a()
	f.Write(text)
	if crc(text) != 0xcbf43926 || crc(text) != crc32.ChecksumIEEE(text) || fnv1a(text) != f.Sum32() {
		t.Errorf("crc32 %#x, FNV-1a %#x", crc(text), fnv1a(text))
	}
}

// Without entropy, murmur3 by the table is what switches do by default.
func TestDefaultHash(t *testing.T) {
	x := &Routing{Hash: &Hashes()[0]}
	for i := range uint32(1000) {
		r := &sim.Record{Src: i, Dst: sim.Pack(int32(i*7), 1), QP: i / 3, PSN: i}
		if got, want := x.Member(r, 9, Salt(4, 9), 5), Choose(FlowHash(r)^Salt(4, 9), 5); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}

// Sprayed packets use all links alike: of 65,536 packets with random entropy among 65,280
// values each of four links has a quarter within five standard deviations: of the number of
// values that lead there, and of the packets that draw one of these, 5*sqrt(2 * 65536 * 3/16)
// = 784. Acknowledgements keep to one link.
func TestSprayUsesAllLinks(t *testing.T) {
	for _, h := range Hashes()[:5] {
		x := &Routing{Kind: Spray, PerPacket: true, Hash: &h, Entropies: 65280, Random: true, Seed: 3}
		var data, acks [4]int
		for psn := range uint32(1 << 16) {
			data[x.Member(&sim.Record{Src: 1, Dst: 2, PSN: psn}, 20, Salt(3, 20), 4)]++
			acks[x.Member(&sim.Record{Src: 1, Dst: sim.Pack(2, 1), PSN: psn}, 20, Salt(3, 20), 4)]++
		}
		for i, n := range data {
			if n < 1<<14-784 || n > 1<<14+784 {
				t.Errorf("%s: link %d has %d of 65536 packets", h.Name, i, n)
			}
		}
		if acks[0]+acks[1]+acks[2]+acks[3] != max(acks[0], acks[1], acks[2], acks[3]) {
			t.Errorf("%s: acknowledgements on several links: %v", h.Name, acks)
		}
	}
}

// In turn, every value comes as often as any other.
func TestEntropyInTurn(t *testing.T) {
	x := &Routing{Kind: Spray, Entropies: 128}
	for psn := range uint32(1000) {
		if got, want := x.entropy(&sim.Record{PSN: psn}), 256+psn%128; got != want {
			t.Fatalf("packet %d has entropy %d, want %d", psn, got, want)
		}
	}
}

func TestHashesAllocateNothing(t *testing.T) {
	r := &sim.Record{Src: 1, Dst: 2, QP: 3}
	for _, h := range Hashes() {
		x := &Routing{Kind: Spray, Hash: &h, Entropies: 128}
		if n := testing.AllocsPerRun(100, func() { r.PSN++; r.Msg = uint32(x.Member(r, 9, 8, 7)) }); n != 0 {
			t.Errorf("%s allocates %v times", h.Name, n)
		}
	}
}
