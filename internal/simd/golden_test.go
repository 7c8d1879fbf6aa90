package simd

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
)

// The bits are the same on every architecture: these are hashes of results for inputs
// that are multiples of 2^-20, recorded with plain Go on amd64. A compiler that fuses a
// product and a sum where the contracts forbid it changes them.
func TestSameBitsEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	single := func(n int) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = float32(int32(r.Uint32())>>11) * 0x1p-20
		}
		return s
	}
	wide := func(n int) []float64 {
		s := make([]float64, n)
		for i, v := range single(n) {
			s[i] = float64(v) / 3
		}
		return s
	}
	const n, k, cols = 40, 19, 50
	ptr, ind := make([]uint64, n+1), make([]uint32, 0, n*n)
	for i := range n {
		for range i {
			ind = append(ind, uint32(r.IntN(cols)))
		}
		ptr[i+1] = uint64(len(ind))
	}
	val, x := single(len(ind)), single(cols*k)
	finish := StepFinish{Mean: wide(k), Pull: 0.7, Weight: wide(3), Extra: wide(3), Target: wide(3 * k)}
	degrees, slots := wide(n), make([]uint32, n)
	distances := wide(n * k)
	for i := range distances {
		distances[i] *= distances[i]
	}
	for i := range slots {
		slots[i] = uint32(i % 3)
	}
	bytes, columns := make([]int8, 16*64), make([]uint32, 5*64)
	for i := range bytes {
		bytes[i] = int8(r.Uint32())
	}
	for i := range columns {
		columns[i] = r.Uint32() >> 8 << 8
	}
	for _, s := range All() {
		h := fnv.New64a()
		put := func(v any) {
			if err := binary.Write(h, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		sums, sums32, product := make([]float64, n), make([]float32, n*k), make([]float32, n*k)
		s.SumSparse(sums, ptr, val)
		s.MulSparse(RowsOf(product, k), k, ptr, ind, val, RowsOf(x, k))
		put(sums)
		put(product)
		s.expNeg(sums32, x[:n*k])
		put(sums32)
		s.Weights(sums32, distances, 0.3)
		put(sums32)
		found, d2, counts := make([]uint32, 3*cols), make([]float64, 3*cols), make([]uint32, 2)
		c := NewCandidates(3, cols)
		s.Collect(c, RowsOf(x, cols), []uint32{1, cols})
		m := s.FindNear(found, d2, counts, c, RowsOf(x, cols), 7, 0.9)
		put(counts)
		put(found[:m])
		put(d2[:m])
		for _, columns := range []int{k, 2, 1} { // rows in separate vectors, and packed
			f := finish
			f.Mean, f.Class = f.Mean[:columns], make([]float64, 3*k)
			s.FinishStep(&f, RowsOf(sums32, columns), RowsOf(x, columns), product, degrees, slots)
			put(sums32)
			put(f.Class)
			put(f.Sums)
		}
		nodes, back := make([]float64, 9), make([]float64, 16)
		basis := make([]float64, 3*16)
		s.LagrangeBasis(basis, distances[:16], degrees[:3], degrees[3:6])
		s.PointsToNodes(nodes, basis, basis, degrees[:16])
		s.NodesToPoints(back, basis, basis, nodes, 16)
		s.AddRows(back, degrees[:7], RowsOf(distances, 20))
		dots, squares := make([]float64, 8*8), make([]float64, 8)
		s.Dots64(RowsOf(dots, 8), RowsOf(distances, k), RowsOf(distances[8*k:], k), 8, 8, k)
		put(dots)
		for i := range 8 {
			s.DotsToSqDists64(dots[i*8:][:8], 2, distances[:8])
		}
		put(dots)
		s.Weights64(dots, dots, 0.3, 1e-30, 700)
		put(dots)
		s.WeightedSums64(RowsOf(squares, 8), RowsOf(dots, 8), RowsOf(degrees, 8), 1, 8, 8)
		s.WeightedSumsTrans64(RowsOf(squares, 8), RowsOf(dots, 8), RowsOf(degrees, 8), 1, 8, 8)
		put(squares)
		put(basis)
		put(nodes)
		put(back)
		var packed Words
		words := make([]uint32, 5*16)
		s.PackWords(&packed, columns, 64, 3)
		s.MulWords(words, 16, bytes, 16, &packed)
		put(words)
		s.WordDots(words, columns, columns[:64], 64)
		put(words)
		if got := fmt.Sprintf("%016x", h.Sum64()); got != golden {
			t.Errorf("%v: hash %s, want %s", s, got, golden)
		}
	}
}

const golden = "ee7c72d0c469d3a3"
