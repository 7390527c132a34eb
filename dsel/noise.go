package dsel

import (
	"math"

	"hybrid/graph"
)

// hash is a counter-based random stream: what it yields is a function of the
// seed, the rank, the operation and the loop counters alone, so that noise does
// not depend on the order in which instances are evaluated.
type hash uint64

// mix combines two words. The steps are those of the finalizer of splitmix64
// (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014), whose avalanche makes neighbouring counters independent.
func mix(h, x uint64) uint64 {
	z := h + 0x9e3779b97f4a7c15 + x*0xd1342543de82ef95
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// newHash starts the stream of one instance of an operation.
func newHash(seed uint64, env *graph.Env) hash {
	h := mix(seed, uint64(uint32(env.Rank)))
	h = mix(h, uint64(uint32(env.Op)))
	for _, c := range env.Loops {
		h = mix(h, uint64(c))
	}
	return hash(h)
}

// uniform returns the k-th number of the stream in [0, 1), with 53 random bits.
func (h hash) uniform(k uint64) float64 {
	return float64(mix(uint64(h), k)>>11) / (1 << 53)
}

// normal returns a standard normal number by the transform of Box and Muller (A
// note on the generation of random normal deviates, 1958).
func (h hash) normal() float64 {
	r := math.Sqrt(-2 * math.Log(1-h.uniform(0)))
	return r * math.Cos(2*math.Pi*h.uniform(1))
}
