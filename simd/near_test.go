package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkNearAt compares Near and CountNear of every level with the reference.
func checkNearAt(t *testing.T, level Level, q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) {
	t.Helper()
	room := checkNear(len(q), len(coords), stride, spans)
	wantInd, wantD2 := make([]uint32, room), make([]float64, room)
	want := nearGo(wantInd, wantD2, q, coords, stride, spans, self, r2)
	ind, d2 := guarded[uint32](t, room), guarded[float64](t, room)
	s := At(level)
	if got := s.Near(ind, d2, q, coords, stride, spans, self, r2); got != want {
		t.Fatalf("found %d, want %d", got, want)
	}
	if !slices.Equal(ind[:want], wantInd[:want]) || !slices.Equal(d2[:want], wantD2[:want]) {
		t.Fatalf("found %v %v, want %v %v", ind[:want], d2[:want], wantInd[:want], wantD2[:want])
	}
	if got := s.CountNear(q, coords, stride, spans, self, r2); got != want {
		t.Fatalf("counted %d, want %d", got, want)
	}
}

func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, level := range Levels() {
		for d := 1; d <= 9; d++ {
			t.Run(fmt.Sprintf("level=%v/d=%d", level, d), func(t *testing.T) {
				for n := range 68 {
					coords := guarded[float32](t, d*n)
					for i := range coords {
						coords[i] = float32(r.NormFloat64())
					}
					if n > 10 {
						coords[7], coords[8], coords[9] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
					}
					q := make([]float64, d)
					if n > 0 {
						for a := range q {
							q[a] = float64(coords[a*n+n/2]) // of one of the points
						}
					}
					checkNearAt(t, level, q, coords, n, []uint32{0, uint32(n)}, uint32(n/2), float64(d))
					checkNearAt(t, level, q, coords, n, []uint32{0, uint32(n)}, math.MaxUint32, float64(d))
					a, b := uint32(n/3), uint32(n/2)
					checkNearAt(t, level, q, coords, n, []uint32{a, b, b, a, b, uint32(n), 0, a}, a, float64(d))
				}
			})
		}
	}
}

// Points exactly at the radius are near, those one unit beyond are not, far
// from the origin too.
func TestNearAtTheRadius(t *testing.T) {
	const n, at = 40, 1 << 20
	coords := make([]float32, 2*n)
	for i := range n {
		coords[i], coords[n+i] = at+3, at+4
		if i%3 == 1 {
			coords[i] = math.Nextafter32(at+3, at+4)
		}
	}
	for _, level := range Levels() {
		ind, d2 := make([]uint32, n), make([]float64, n)
		got := At(level).Near(ind, d2, []float64{at, at}, coords, n, []uint32{0, n}, math.MaxUint32, 25)
		for _, j := range ind[:got] {
			if j%3 == 1 {
				t.Errorf("%v: point %d is beyond the radius", level, j)
			}
		}
		if got != n-n/3 {
			t.Errorf("%v: %d points, want %d", level, got, n-n/3)
		}
	}
}

func TestNearPanics(t *testing.T) {
	ind, d2, q, coords := make([]uint32, 9), make([]float64, 9), make([]float64, 2), make([]float32, 20)
	odd := make([]uint32, 1)
	for name, f := range map[string]func(){
		"span":   func() { At(Best()).Near(ind, d2, q, coords, 10, []uint32{5, 11}, 0, 1) },
		"coords": func() { At(Best()).CountNear(q, coords[:19], 10, []uint32{5, 10}, 0, 1) },
		"room":   func() { At(Best()).Near(ind, d2, q, coords, 10, []uint32{0, 10}, 0, 1) },
		"odd":    func() { At(Best()).CountNear(q, coords, 10, odd, 0, 1) },
		"stride": func() { At(Best()).CountNear(q, coords, 0, []uint32{0, 1}, 0, 1) },
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
}
