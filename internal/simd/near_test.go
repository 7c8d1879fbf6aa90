package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// nearReference is the definition, for each point from first on. FindNear omits
// distances of zero, FindInBlocks does not.
func nearReference(d int, coords []float32, stride int, spans []uint32, first, m int, zero bool, r2 float64) (ind []uint32, d2 []float64, counts []uint32) {
	counts = make([]uint32, m)
	for i := range m {
		for p := 0; p+2 <= len(spans); p += 2 {
			for j := spans[p]; j < spans[p+1]; j++ {
				sum := 0.0
				for a := range d {
					e := float64(coords[a*stride+first+i]) - float64(coords[a*stride+int(j)])
					sum += float64(e * e)
				}
				if sum <= r2 && (zero || sum != 0) {
					ind, d2 = append(ind, j), append(d2, sum)
					counts[i]++
				}
			}
		}
	}
	return ind, d2, counts
}

// checkNearAt compares FindNear and CountNear of a level with the definition.
func checkNearAt(t *testing.T, level Level, d int, coords []float32, stride int, spans []uint32, first, m int, r2 float64) {
	t.Helper()
	s := At(level)
	n, _ := checkSpans(d, RowsOf(coords, stride), spans)
	c := guardedCandidates(t, d, n)
	s.Collect(c, RowsOf(coords, stride), spans)
	if c.Len() != n {
		t.Fatalf("%d candidates, want %d", c.Len(), n)
	}
	wantInd, wantD2, wantCounts := nearReference(d, coords, stride, spans, first, m, false, r2)
	room := m*n + candidatePad
	ind, d2, counts := guarded[uint32](t, room), guarded[float64](t, room), guarded[uint32](t, m)
	if got := s.FindNear(ind, d2, counts, c, RowsOf(coords, stride), first, r2); got != len(wantInd) {
		t.Fatalf("found %d, want %d", got, len(wantInd))
	}
	if !slices.Equal(counts, wantCounts) || !slices.Equal(ind[:len(wantInd)], wantInd) || !slices.Equal(d2[:len(wantInd)], wantD2) {
		t.Fatalf("found %v %v %v, want %v %v %v", counts, ind[:len(wantInd)], d2[:len(wantInd)], wantCounts, wantInd, wantD2)
	}
	for i := range counts {
		counts[i] = 77
	}
	if got := s.CountNear(counts, c, RowsOf(coords, stride), first, r2); got != len(wantInd) || !slices.Equal(counts, wantCounts) {
		t.Fatalf("counted %d %v, want %d %v", got, counts, len(wantInd), wantCounts)
	}
}

// guardedCandidates returns candidates whose memory ends exactly at their capacity.
func guardedCandidates(t *testing.T, d, room int) *Candidates {
	c := NewCandidates(d, room)
	c.at, c.ind = guarded[float64](t, len(c.at)), guarded[uint32](t, len(c.ind))
	return c
}

func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, level := range Levels() {
		for d := 1; d <= 9; d++ {
			t.Run(fmt.Sprintf("level=%v/d=%d", level, d), func(t *testing.T) {
				for n := 1; n < 68; n++ {
					coords := guarded[float32](t, d*n+CoordinatePad)
					for i := range coords {
						coords[i] = float32(r.NormFloat64())
					}
					for i := range CoordinatePad { // the values do not matter
						coords[d*n+i] = float32(math.NaN())
					}
					if n > 10 {
						coords[7], coords[8], coords[9] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
					}
					if n > 3 {
						for a := range d { // two points in one place
							coords[a*n+2] = coords[a*n+1]
						}
					}
					checkNearAt(t, level, d, coords, n, []uint32{0, uint32(n)}, n/2, min(3, n-n/2), float64(d))
					checkNearAt(t, level, d, coords, n, nil, 0, 1, float64(d))
					a, b := uint32(n/3), uint32(n/2)
					checkNearAt(t, level, d, coords, n, []uint32{a, b, b, a, b, uint32(n), 0, a}, 0, n, float64(d))
				}
			})
		}
	}
}

// Points exactly at the radius are near, and those one unit beyond are not, also far
// from the origin.
func TestNearAtTheRadius(t *testing.T) {
	const n, at = 41, 1 << 20
	coords := make([]float32, 2*n+CoordinatePad)
	for i := range n {
		coords[i], coords[n+i] = at+3, at+4
		if i%3 == 1 {
			coords[i] = math.Nextafter32(at+3, at+4)
		}
	}
	coords[n-1], coords[2*n-1] = at, at
	for _, level := range Levels() {
		ind, d2, counts := make([]uint32, n+CoordinatePad), make([]float64, n+CoordinatePad), make([]uint32, 1)
		c := NewCandidates(2, n)
		At(level).Collect(c, RowsOf(coords, n), []uint32{0, n})
		got := At(level).FindNear(ind, d2, counts, c, RowsOf(coords, n), n-1, 25)
		for _, j := range ind[:got] {
			if j%3 == 1 {
				t.Errorf("%v: point %d is beyond the radius", level, j)
			}
		}
		if want := n - 1 - (n-1)/3; got != want {
			t.Errorf("%v: %d points, want %d", level, got, want)
		}
	}
}

func TestNearPanics(t *testing.T) {
	s, coords := At(Best()), make([]float32, 20+CoordinatePad)
	ind, d2, counts := make([]uint32, 36), make([]float64, 36), make([]uint32, 2)
	odd := make([]uint32, 1)
	full := NewCandidates(2, 10)
	s.Collect(full, RowsOf(coords, 10), []uint32{0, 10})
	for name, f := range map[string]func(){
		"span":   func() { s.Collect(NewCandidates(2, 10), RowsOf(coords, 10), []uint32{5, 11}) },
		"coords": func() { s.Collect(NewCandidates(2, 10), RowsOf(coords[:35], 10), []uint32{5, 10}) },
		"odd":    func() { s.Collect(NewCandidates(2, 10), RowsOf(coords, 10), odd) },
		"stride": func() { s.Collect(NewCandidates(2, 10), RowsOf(coords, 0), []uint32{0, 1}) },
		"room":   func() { s.Collect(NewCandidates(2, 9), RowsOf(coords, 10), []uint32{0, 10}) },
		"ind":    func() { s.FindNear(ind[:35], d2, counts, full, RowsOf(coords, 10), 0, 1) },
		"d2":     func() { s.FindNear(ind, d2[:35], counts, full, RowsOf(coords, 10), 0, 1) },
		"points": func() { s.FindNear(ind, d2, counts, full, RowsOf(coords, 10), 9, 1) },
		"count":  func() { s.CountNear(counts, full, RowsOf(coords, 10), 9, 1) },
		"first":  func() { s.CountNear(counts, full, RowsOf(coords, 10), -1, 1) },
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
	if got := s.FindNear(ind, d2, counts, full, RowsOf(coords, 10), 0, 1); got != 0 {
		t.Errorf("%d neighbours among points in one place", got)
	}
}

// A NaN is not near to itself, at any level.
func TestNearNonFinite(t *testing.T) {
	const n = 20
	for _, level := range Levels() {
		for d := 1; d <= 4; d++ {
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				coords := make([]float32, d*n+CoordinatePad)
				for i := range coords {
					coords[i] = float32(i % n)
				}
				coords[(d-1)*n+7] = float32(v)
				spans, counts := []uint32{0, n}, make([]uint32, n)
				_, _, want := nearReference(d, coords, n, spans, 0, n, false, 10.5)
				s, c := At(level), NewCandidates(d, n)
				s.Collect(c, RowsOf(coords, n), spans)
				if s.CountNear(counts, c, RowsOf(coords, n), 0, 10.5); !slices.Equal(counts, want) {
					t.Errorf("%v, d=%d, %v: %v, want %v", level, d, v, counts, want)
				}
			}
		}
	}
}

// Near is decided in float64. Radii are distances of the set that float32 could not
// distinguish, the numbers next to them, and numbers over the whole range.
func TestCountsAcrossTheRange(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, level := range Levels() {
		s := At(level)
		for d := 1; d <= 5; d++ {
			t.Run(fmt.Sprintf("level=%v/d=%d", level, d), func(t *testing.T) {
				for n := 1; n < 90; n += 1 + r.IntN(4) {
					scale := math.Exp2([]float64{0, 0, -30, -70, 30, 55, 64, 100}[r.IntN(8)])
					coords := guarded[float32](t, d*n+CoordinatePad)
					for i := range coords {
						coords[i] = float32((10 + r.NormFloat64()) * scale)
					}
					a, b := r.IntN(n), r.IntN(n)
					r2 := 0.0
					for axis := range d {
						e := float64(coords[axis*n+a]) - float64(coords[axis*n+b])
						r2 += float64(e * e)
					}
					half := uint32(n / 2)
					spans := []uint32{0, half, half, uint32(n)}
					for _, radius2 := range []float64{r2, math.Nextafter(r2, 0), math.Nextafter(r2, math.Inf(1)), r2 * (1 - 0x1p-22), r2 * (1 + 0x1p-22), 1.5 * r2} {
						first := r.IntN(n)
						m := 1 + r.IntN(n-first)
						_, _, want := nearReference(d, coords, n, spans, first, m, false, radius2)
						counts, c := guarded[uint32](t, m), guardedCandidates(t, d, n)
						total := 0
						for _, count := range want {
							total += int(count)
						}
						s.Collect(c, RowsOf(coords, n), spans)
						if got := s.CountNear(counts, c, RowsOf(coords, n), first, radius2); got != total || !slices.Equal(counts, want) {
							t.Fatalf("n=%d, r2=%g: %d %v, want %d %v", n, radius2, got, counts, total, want)
						}
					}
				}
			})
		}
	}
}
