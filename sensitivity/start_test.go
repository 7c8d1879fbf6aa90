package sensitivity

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// A Start gives the same results as the functions, also after Q has changed.
func TestStart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	query := Query{Operator: Full{}, Sigma: 2, Alpha: 0.5, Table: Equal{Classes: 3}}
	arithmetic := Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 9, Relative: 1e-12}
	for _, k := range []int{1, 2, 3, 70} {
		q := blas64.General{Rows: 90, Cols: k, Stride: k + 1, Data: make([]float64, 90*(k+1))}
		for i := range q.Data {
			q.Data[i] = r.NormFloat64()
		}
		start, err := NewStart(q)
		if err != nil {
			t.Fatal(err)
		}
		bound, err1 := query.Tight(ReplaceOne, q, Rows{})
		entry, err2 := query.EntryError(q, 1e-6)
		rounding, err3 := query.RoundingError(q, arithmetic)
		reach, err4 := query.Displacement(q)
		clear(q.Data)
		ofStart, err5 := start.Tight(ReplaceOne, query, Rows{})
		entryOfStart, err6 := start.EntryError(query, 1e-6)
		roundingOfStart, err7 := start.RoundingError(query, arithmetic)
		reachOfStart, err8 := start.Displacement(query)
		if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8); err != nil {
			t.Fatal(err)
		}
		if ofStart.Exact() != bound.Exact() || entryOfStart != entry || roundingOfStart != rounding || reachOfStart != reach {
			t.Errorf("k = %d: a start gives other numbers", k)
		}
		if _, err := bound.Inflate(roundingOfStart); err != nil {
			t.Errorf("k = %d: %v", k, err)
		}
	}
}

func TestStartRefuses(t *testing.T) {
	query := Query{Operator: Full{}, Sigma: 2, Alpha: 0.5, Table: Equal{Classes: 3}}
	var none Start
	_, err1 := none.Tight(ReplaceOne, query, Rows{})
	_, err2 := none.EntryError(query, 1e-6)
	_, err3 := none.RoundingError(query, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 9})
	_, err4 := none.Displacement(query)
	_, err5 := NewStart(blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}})
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := NewStart(blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, math.NaN()}}); !errors.Is(err, ErrNonFinite) {
		t.Error(err)
	}
	if _, err := NewStart(blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 1}}); !errors.Is(err, errDegenerate) {
		t.Error(err)
	}
}

// Vectors are sorted by angle wherever they point, also when many or all of them have the
// same direction.
func TestPlanarSort(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var p planar
	for _, n := range []int{0, 1, 2, 100, 5000} {
		for _, narrow := range []float64{1, 1e-9, 0} {
			p.z = p.z[:0]
			for range n {
				x, y := r.NormFloat64(), narrow*math.Abs(r.NormFloat64())
				p.z = append(p.z, planarVector{angleKey(x, y), x, y})
			}
			p.sort()
			byAngle := func(a, b planarVector) int { return cmp.Compare(a.angle, b.angle) }
			want := slices.Clone(p.z)
			slices.SortStableFunc(want, byAngle)
			if len(p.sorted) != n || !slices.IsSortedFunc(p.sorted, byAngle) {
				t.Fatalf("%d vectors, %g: not sorted", n, narrow)
			}
			all := func(v []planarVector) []planarVector {
				v = slices.Clone(v)
				slices.SortFunc(v, func(a, b planarVector) int {
					return cmp.Or(byAngle(a, b), cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
				})
				return v
			}
			if !slices.Equal(all(p.sorted), all(want)) {
				t.Fatalf("%d vectors, %g: other vectors", n, narrow)
			}
		}
	}
}
