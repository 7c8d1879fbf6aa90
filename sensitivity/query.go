package sensitivity

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// A Query holds the public numbers of the first step
//
//	f = Q + 1/2 Diag(D)^{-1} (Alpha L_Y - L_X) Q,
//
// except Q itself. They must have been chosen without looking at a private
// record.
type Query struct {
	// Operator says how the feature weights are made. Required.
	Operator Operator
	// Sigma is the bandwidth in the convention of the paper's appendix,
	// exp(-d^2/(2 sigma^2)), the only one the constants belong to. For
	// exp(-d^2/s^2) (the authors' program) use s/sqrt(2), for exp(-d^2/s) (the
	// main text) use sqrt(s/2). Floor does not read it, but it is checked.
	Sigma float64
	// Alpha is the weight of the label term, of either sign. Paper and
	// Corrected are proved for Alpha >= 0 only.
	Alpha float64
	// Table is the label table. Required.
	Table Table
}

// String returns the query in one line. Equal lines mean equal queries, except
// for the entries of a Values table, of which it shows only the name.
func (query Query) String() string {
	return fmt.Sprintf("%v, sigma %v, alpha %v, table %v", query.Operator, query.Sigma, query.Alpha, query.Table)
}

// check checks everything except the operator's own range and returns the range
// of the table.
func (query Query) check() (span, error) {
	switch query.Operator.(type) {
	case Full, Floor, Background, Truncated:
	case nil:
		return span{}, refuse(errOperator, "name one: Full, Floor or Background")
	default:
		return span{}, refuse(errOperator, "%T, want a Full, Floor or Background by value", query.Operator)
	}
	if _, err := halfInverseSquare(query.Sigma); err != nil {
		return span{}, err
	}
	if !finite(query.Alpha) {
		return span{}, refuse(errCoefficient, "alpha = %g", query.Alpha)
	}
	t, err := spanOf(query.Table)
	if err != nil {
		return span{}, err
	}
	if a, u := math.Abs(query.Alpha), t.largest(); a != 0 && a < smallestFactor || u != 0 && u < smallestFactor {
		return span{}, refuse(errUnrepresentable, "alpha = %g and a table of entries up to %g; their products may underflow", query.Alpha, u)
	}
	return t, nil
}

// smallestFactor is the smallest alpha, and the smallest largest entry of a
// table, other than zero: with smaller ones products lose their digits.
const smallestFactor = 0x1p-300

// Rows says which rows of Q a bound is for. The zero value is the safe choice:
// any row may be the private one, and all rows are released.
type Rows struct {
	// Private lists the rows that may be the private one, each once. Nil: all.
	// A list is only admissible when it is public; where the position is
	// secret, list every position it may have.
	Private []int
	// Released lists the rows that are published, each once. Nil: all.
	Released []int
}

func (r Rows) check(n int) error {
	if err := checkRows("private", r.Private, n); err != nil {
		return err
	}
	return checkRows("released", r.Released, n)
}

func checkRows(what string, rows []int, n int) error {
	if rows == nil {
		return nil
	}
	if len(rows) == 0 {
		return refuse(errRow, "the list of %s rows is empty; nil means all", what)
	}
	seen := make(map[int]bool, len(rows))
	for _, i := range rows {
		if i < 0 || i >= n {
			return refuse(errRow, "%s row %d, want one of 1 .. %d", what, i+1, n)
		}
		if seen[i] {
			return refuse(errRow, "%s row %d is listed twice", what, i+1)
		}
		seen[i] = true
	}
	return nil
}

func (r Rows) clone() Rows {
	return Rows{Private: slices.Clone(r.Private), Released: slices.Clone(r.Released)}
}

// Norms are the numbers of Q that the scalar form of the bound needs; the rows
// are centred at their mean qbar.
type Norms struct {
	// Rows is N, the number of rows including the private one (n+1 in the
	// formulas).
	Rows int
	// Frobenius is F, the Frobenius norm of the centred Q.
	Frobenius float64
	// Spectral is S, the largest singular value of the centred Q.
	Spectral float64
	// Radius is the largest |q_j - qbar|.
	Radius float64
	// Distance is |q_s - qbar| of the private row s, the largest of them when
	// several rows may be private: Radius when any row may be.
	Distance float64
}

func (m Norms) check() error {
	if m.Rows < 2 {
		return refuse(ErrShape, "%d rows, want the private row and at least one more", m.Rows)
	}
	for _, v := range []float64{m.Frobenius, m.Spectral, m.Radius, m.Distance} {
		if !finite(v) {
			return refuse(ErrNonFinite, "norms of Q")
		}
		if v < 0 {
			return refuse(errNorms, "a norm is negative")
		}
	}
	if m.Frobenius == 0 {
		return refuse(errDegenerate, "all rows of Q are equal")
	}
	if m.Frobenius < 0x1p-1000 {
		return refuse(errUnrepresentable, "norms of Q are too small")
	}
	// Each is at most the next for every matrix; rounding may change the last
	// digits.
	const slack = 1 + 1e-12
	if m.Distance > m.Radius*slack || m.Radius > m.Spectral*slack || m.Spectral > m.Frobenius*slack {
		return refuse(errNorms, "want Distance <= Radius <= Spectral <= Frobenius")
	}
	return nil
}

// checkMatrix returns ErrShape or ErrNonFinite unless q is a finite matrix of
// at least minRows rows and one column.
func checkMatrix(what string, q blas64.General, minRows int) error {
	if q.Rows < minRows || q.Cols < 1 {
		return refuse(ErrShape, "%s is %d x %d, want at least %d x 1", what, q.Rows, q.Cols, minRows)
	}
	if q.Stride < q.Cols || len(q.Data) < q.Cols || q.Rows-1 > (len(q.Data)-q.Cols)/q.Stride {
		return refuse(ErrShape, "%s of %d x %d has stride %d and %d values", what, q.Rows, q.Cols, q.Stride, len(q.Data))
	}
	for i := range q.Rows {
		for j, v := range q.Data[i*q.Stride:][:q.Cols] {
			if !finite(v) {
				return refuse(ErrNonFinite, "%s at row %d, column %d", what, i+1, j+1)
			}
		}
	}
	return nil
}

// Measure returns the norms of Q that Scalar takes, with Distance equal to Radius, for any
// private row. Spectral is within a relative 1e-12; where both rows and columns are more
// than 256 it is the Frobenius norm, an upper bound.
func Measure(q blas64.General) (Norms, error) {
	g, err := newGeometry(q)
	if err != nil {
		return Norms{}, named("measure", err)
	}
	up := func(v float64) float64 { return math.Ldexp(v, g.exponent) }
	return Norms{Rows: g.rows, Frobenius: up(g.frobenius), Spectral: up(g.spectral), Radius: up(g.radius), Distance: up(g.radius)}, nil
}
