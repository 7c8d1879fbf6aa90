package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// blocksOf returns the boxes of blocks of points, one row per side. Boxes of blocks without
// a point are NaN.
func blocksOf(t *testing.T, d int, coords Rows[float32]) Rows[float32] {
	n := coords.Stride / BlockPoints
	boxes := RowsOf(guarded[float32](t, 2*d*n+CoordinatePad), n)
	for i := range boxes.Data {
		boxes.Data[i] = float32(math.NaN())
	}
	for a := range d {
		for j := range n * BlockPoints {
			v := coords.Data[a*coords.Stride+j]
			low, high := &boxes.Data[a*n+j/BlockPoints], &boxes.Data[(d+a)*n+j/BlockPoints]
			if *low != *low || v < *low {
				*low = v
			}
			if *high != *high || v > *high {
				*high = v
			}
		}
	}
	return boxes
}

// FindInBlocks finds the same points as a search of all points of the blocks, at all levels:
// with points inside and outside of boxes, blocks that are full, partly filled or empty, and
// bounds that some points meet exactly.
func TestFindInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 10))
	for _, level := range Levels() {
		for d := 1; d <= 6; d++ {
			t.Run(fmt.Sprintf("level=%v/d=%d", level, d), func(t *testing.T) {
				for n := range 40 {
					coords := RowsOf(guarded[float32](t, d*(n+1)*BlockPoints), (n+1)*BlockPoints)
					for j := range coords.Stride {
						empty := j > 0 && (j/BlockPoints%5 == 3 || j%BlockPoints >= 3+j/BlockPoints%7)
						for a := range d {
							v := float32(math.Round(r.NormFloat64()*8) + 100*float64(j/BlockPoints%3))
							if empty {
								v = float32(math.NaN())
							}
							coords.Data[a*coords.Stride+j] = v
						}
					}
					checkBlocksAt(t, level, d, coords, []uint32{0, uint32(n + 1)}, r)
					checkBlocksAt(t, level, d, coords, []uint32{uint32(n / 2), uint32(n), 0, uint32(n / 3)}, r)
				}
			})
		}
	}
}

func checkBlocksAt(t *testing.T, level Level, d int, coords Rows[float32], spans []uint32, r *rand.Rand) {
	t.Helper()
	boxes, points := blocksOf(t, d, coords), []uint32(nil)
	for p := 0; p < len(spans); p += 2 {
		points = append(points, spans[p]*BlockPoints, spans[p+1]*BlockPoints)
	}
	n, _ := checkSpans(0, coords, spans)
	c := guardedCandidates(t, 2*d, n)
	c.near = guarded[uint32](t, len(c.ind))
	s := At(level)
	s.Collect(c, boxes, spans)
	room := n*BlockPoints + CoordinatePad
	ind, d2 := guarded[uint32](t, room), guarded[float64](t, room)
	for _, point := range []int{0, 1, r.IntN(coords.Stride)} {
		for _, r2 := range []float64{0, 25, 400, math.Inf(1)} {
			wantInd, wantD2, _ := nearReference(d, coords.Data, coords.Stride, points, point, 1, true, r2)
			got := s.FindInBlocks(ind, d2, c, coords, point, r2)
			if !slices.Equal(ind[:got], wantInd) || !slices.Equal(d2[:got], wantD2) {
				t.Fatalf("%d blocks: found %v %v, want %v %v", n, ind[:got], d2[:got], wantInd, wantD2)
			}
		}
	}
}

// A block whose box is farther away is skipped, even if its points are not in its box.
func TestFindInBlocksLeavesBlocksOut(t *testing.T) {
	coords := RowsOf(make([]float32, 4*BlockPoints), 2*BlockPoints)
	boxes := RowsOf([]float32{5, 3, 0, 0, 6, 6, 1, 1, CoordinatePad + 7: 0}, 2)
	for _, level := range Levels() {
		s, c := At(level), NewCandidates(4, 2)
		s.Collect(c, boxes, []uint32{0, 2})
		ind, d2 := make([]uint32, 2*BlockPoints+CoordinatePad), make([]float64, 2*BlockPoints+CoordinatePad)
		if got := s.FindInBlocks(ind, d2, c, coords, 0, 9); got != BlockPoints || ind[0] != BlockPoints {
			t.Errorf("%v: %d points, the first is %d; want those of the second block", level, got, ind[0])
		}
	}
}

func TestFindInBlocksPanics(t *testing.T) {
	s := At(Best())
	coords, boxes := RowsOf(make([]float32, 32), 16), RowsOf(make([]float32, 8+CoordinatePad), 2)
	ind, d2 := make([]uint32, 32), make([]float64, 32)
	c, odd := NewCandidates(4, 2), NewCandidates(3, 2)
	s.Collect(c, boxes, []uint32{0, 2})
	s.Collect(odd, boxes, []uint32{0, 2})
	for name, f := range map[string]func(){
		"odd":    func() { s.FindInBlocks(ind, d2, odd, coords, 0, 1) },
		"ind":    func() { s.FindInBlocks(ind[:31], d2, c, coords, 0, 1) },
		"d2":     func() { s.FindInBlocks(ind, d2[:31], c, coords, 0, 1) },
		"coords": func() { s.FindInBlocks(ind, d2, c, RowsOf(coords.Data[:31], 16), 0, 1) },
		"stride": func() { s.FindInBlocks(ind, d2, c, RowsOf(coords.Data, 15), 0, 1) },
		"point":  func() { s.FindInBlocks(ind, d2, c, coords, 16, 1) },
		"before": func() { s.FindInBlocks(ind, d2, c, coords, -1, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if got := s.FindInBlocks(ind, d2, c, coords, 15, 0); got != 16 {
		t.Errorf("%d points, want 16", got)
	}
}
