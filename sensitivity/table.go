package sensitivity

import (
	"fmt"
	"math"
)

// A Table describes the label weights u_ij = T[y_i][y_j] as far as a bound
// needs them. The tables of this package are Gaussian, Equal, Different,
// Values, Range and ClassSize; DataDependent stands for all others and is
// always refused.
//
// Bounds for any row use only the range [lo, hi] of the entries; Known uses the
// entries themselves.
type Table interface {
	fmt.Stringer
	// span returns the range of the entries.
	span() (span, error)
	// entries returns the entries and the number of classes.
	entries() (weight func(a, b int32) float64, classes int, err error)
}

// span is the range of a table. spread is hi-lo, kept separately because the
// subtraction would lose the digits of a nearly constant table. classSize marks
// the table of Theorem 1s.
type span struct {
	lo, hi, spread float64
	classSize      bool
}

// largest returns U, the largest absolute value of an entry.
func (s span) largest() float64 { return max(math.Abs(s.lo), math.Abs(s.hi)) }

// Gaussian is the paper's table, exp(-(a-b)^2/(2 Sigma^2)) of integer labels
// 0 .. Classes-1 (c = Classes-1 in the formulas). Its range is [nu, 1] with
// nu = exp(-c^2/(2 Sigma^2)). The paper uses the bandwidth of the features.
type Gaussian struct {
	Classes int
	Sigma   float64
}

func (t Gaussian) String() string { return fmt.Sprintf("gaussian(%d,%v)", t.Classes, t.Sigma) }

func (t Gaussian) span() (span, error) {
	if err := checkClasses(t.Classes); err != nil {
		return span{}, err
	}
	x, err := halfInverseSquare(t.Sigma)
	if err != nil {
		return span{}, err
	}
	if t.Classes == 1 {
		return span{lo: 1, hi: 1}, nil
	}
	c := float64(t.Classes - 1)
	return span{lo: math.Exp(-c * c * x), hi: 1, spread: -math.Expm1(-c * c * x)}, nil
}

func (t Gaussian) entries() (func(a, b int32) float64, int, error) {
	if err := checkClasses(t.Classes); err != nil {
		return nil, 0, err
	}
	x, err := halfInverseSquare(t.Sigma)
	if err != nil {
		return nil, 0, err
	}
	return func(a, b int32) float64 {
		if a == b {
			return 1 // also where x is infinite
		}
		d := float64(a) - float64(b)
		return math.Exp(-d * d * x)
	}, t.Classes, nil
}

// Equal has 1 between equal labels and 0 between others: range [0, 1], or the
// constant 1 when there is only one class.
type Equal struct{ Classes int }

func (t Equal) String() string { return fmt.Sprintf("equal(%d)", t.Classes) }

func (t Equal) span() (span, error) { return indicatorSpan(t.Classes, 1) }

func (t Equal) entries() (func(a, b int32) float64, int, error) {
	return indicator(1), t.Classes, checkClasses(t.Classes)
}

// Different has 1 between different labels and 0 between equal ones: range
// [0, 1], or the constant 0 when there is only one class.
type Different struct{ Classes int }

func (t Different) String() string { return fmt.Sprintf("different(%d)", t.Classes) }

func (t Different) span() (span, error) { return indicatorSpan(t.Classes, 0) }

func (t Different) entries() (func(a, b int32) float64, int, error) {
	return indicator(0), t.Classes, checkClasses(t.Classes)
}

func indicator(equal float64) func(a, b int32) float64 {
	return func(a, b int32) float64 {
		if a == b {
			return equal
		}
		return 1 - equal
	}
}

func indicatorSpan(classes int, equal float64) (span, error) {
	if err := checkClasses(classes); err != nil {
		return span{}, err
	}
	if classes == 1 {
		return span{lo: equal, hi: equal}, nil
	}
	return span{lo: 0, hi: 1, spread: 1}, nil
}

// Values is any fixed public symmetric table given by its entries, of either
// sign. Weight must be defined for all labels 0 .. Classes-1; every pair is
// checked once. Weight must return the same number for the same labels as long
// as a bound of the table is in use: a bound does not hold for entries that
// change afterwards. Name distinguishes tables in bounds and errors.
type Values struct {
	Name    string
	Classes int
	Weight  func(a, b int32) float64
}

// maxValues is the largest number of classes of a Values table.
const maxValues = 1 << 14

func (t Values) String() string { return fmt.Sprintf("values(%s,%d)", t.Name, t.Classes) }

func (t Values) span() (span, error) {
	if err := checkClasses(t.Classes); err != nil {
		return span{}, err
	}
	if t.Weight == nil {
		return span{}, refuse(errTable, "table %s has no entries", t.Name)
	}
	if t.Classes > maxValues {
		return span{}, refuse(errTable, "table %s has %d classes, too many to check every pair: use Range", t.Name, t.Classes)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for a := range int32(t.Classes) {
		for b := range a + 1 {
			w := t.Weight(a, b)
			if math.IsNaN(w) || math.IsInf(w, 0) {
				return span{}, refuse(errTable, "entry (%d, %d) of table %s is not finite", a, b, t.Name)
			}
			if w != t.Weight(b, a) {
				return span{}, refuse(errTable, "entries (%d, %d) and (%d, %d) of table %s differ", a, b, b, a, t.Name)
			}
			lo, hi = min(lo, w), max(hi, w)
		}
	}
	return span{lo: lo, hi: hi, spread: hi - lo}, nil
}

func (t Values) entries() (func(a, b int32) float64, int, error) {
	_, err := t.span()
	return t.Weight, t.Classes, err
}

// Range is any fixed public symmetric table whose entries are known by their
// range only. Negative entries are allowed. A constant may not be subtracted
// from a table first: its Laplacian is divided by the private degrees.
type Range struct{ Low, High float64 }

func (t Range) String() string { return fmt.Sprintf("range(%v,%v)", t.Low, t.High) }

func (t Range) span() (span, error) {
	if !finite(t.Low) || !finite(t.High) || t.Low > t.High {
		return span{}, refuse(errTable, "range [%g, %g], want two finite numbers in order", t.Low, t.High)
	}
	return span{lo: t.Low, hi: t.High, spread: t.High - t.Low}, nil
}

func (t Range) entries() (func(a, b int32) float64, int, error) {
	return nil, 0, refuse(errTable, "the entries are needed, and %v gives only their range", t)
}

// ClassSize has 1/m(y) between two rows of the same class and 0 between
// classes, where the size m(y) counts all rows of the class, including the
// private one. It depends on the data, so no fixed range covers it; Theorem 1s
// does, for the full kernel and the constant background.
//
// Sizes counted on public rows only make a fixed table: use Values or Range{0,
// 1/min m}. A table with 1/(m(y)-1) is different and has no bound: it is
// DataDependent.
type ClassSize struct{}

func (t ClassSize) String() string { return "class-size" }

func (t ClassSize) span() (span, error) {
	return span{lo: 0, hi: 0.5, spread: 0.5, classSize: true}, nil
}

func (t ClassSize) entries() (func(a, b int32) float64, int, error) {
	return nil, 0, refuse(ErrNoBound, "a table scaled by class sizes that count the private row")
}

// DataDependent stands for a table that depends on the labels of the data: the
// double-centred distances of the authors' program, or weights over class
// sizes less one. Every bound refuses it with ErrNoBound.
type DataDependent struct{ Name string }

func (t DataDependent) String() string { return fmt.Sprintf("data-dependent(%s)", t.Name) }

func (t DataDependent) span() (span, error) {
	return span{}, refuse(ErrNoBound, "table %s depends on the data", t.Name)
}

func (t DataDependent) entries() (func(a, b int32) float64, int, error) {
	_, err := t.span()
	return nil, 0, err
}

func checkClasses(classes int) error {
	if classes < 1 || classes > math.MaxInt32 {
		return refuse(errTable, "%d classes, want at least 1", classes)
	}
	return nil
}

// spanOf returns the range of a table that may be missing.
func spanOf(t Table) (span, error) {
	switch t.(type) {
	case Gaussian, Equal, Different, Values, Range, ClassSize, DataDependent:
		return t.span()
	case nil:
		return span{}, refuse(errTable, "no table; want one of this package")
	}
	return span{}, refuse(errTable, "%T, want a table of this package by value", t)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
