package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// A Start is the public start Q of a first step, measured once for several calls. Its
// methods are those of Query with the same names, which measure Q in every call. A Start
// keeps the measurements and not Q, which may change afterwards. It does not change and is
// safe for concurrent use. The zero value is refused.
type Start struct {
	g       *geometry
	largest float64 // of |q_j|
	widest  float64 // largest less smallest entry of a column
}

// NewStart measures Q. Errors are those of Tight that concern Q.
func NewStart(q blas64.General) (Start, error) {
	s, err := newStart(q)
	return s, named("start", err)
}

func newStart(q blas64.General) (Start, error) {
	g, err := newGeometry(q)
	if err != nil {
		return Start{}, err
	}
	return Start{g: g, largest: largestNorm(q), widest: widestColumn(q)}, nil
}

// A measurement gives the start of a bound once everything else has been checked.
type measurement struct {
	rows  int
	start func() (Start, error)
}

// of is the measurement of a Q that has not been measured.
func of(q blas64.General) measurement {
	return measurement{q.Rows, func() (Start, error) { return newStart(q) }}
}

// again is the measurement of a Q that has been measured.
func (s Start) again() measurement {
	if s.g == nil {
		return measurement{2, func() (Start, error) { return s, refuse(ErrShape, "no start was measured") }}
	}
	return measurement{s.g.rows, func() (Start, error) { return s, nil }}
}

// largestNorm returns the largest |q_j|.
func largestNorm(q blas64.General) (largest float64) {
	for i := range q.Rows {
		largest = max(largest, blas64.Nrm2(blas64.Vector{N: q.Cols, Inc: 1, Data: q.Data[i*q.Stride:]}))
	}
	return largest
}

// widestColumn returns the largest difference of two entries of a column.
func widestColumn(q blas64.General) (widest float64) {
	for j := range q.Cols {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range q.Rows {
			v := q.Data[i*q.Stride+j]
			lo, hi = min(lo, v), max(hi, v)
		}
		widest = max(widest, hi-lo)
	}
	return widest
}

// Tight is Query.Tight for this start.
func (s Start) Tight(relation Relation, query Query, rows Rows) (Bound, error) {
	b, err := tight(relation, query, s.again(), rows, 0)
	return b, named("tight", err)
}

// EntryError is Query.EntryError for this start.
func (s Start) EntryError(query Query, entry float64) (Eta, error) {
	e, err := entryError(query, s.again(), entry)
	return e, named("entry error", err)
}

// RoundingError is Query.RoundingError for this start.
func (s Start) RoundingError(query Query, a Arithmetic) (Eta, error) {
	e, err := roundingError(query, s.again(), a)
	return e, named("rounding error", err)
}

// Displacement is Query.Displacement for this start.
func (s Start) Displacement(query Query) (float64, error) {
	m := s.again()
	if _, err := m.start(); err != nil {
		return 0, named("displacement", err)
	}
	d, err := displacement(query, m.rows, func() (float64, error) { return s.widest, nil })
	return d, named("displacement", err)
}
