package kernel

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Sentinels, for errors.Is. The errors that functions return add the numbers.
var (
	// ErrEmpty reports input without rows or columns.
	ErrEmpty = errors.New("no points")
	// ErrShape reports sizes that do not fit together.
	ErrShape = points.ErrShape
	// ErrNonFinite reports a NaN or an infinity; see privatemail.NonFiniteError.
	ErrNonFinite = points.ErrNonFinite
	// ErrBandwidth reports a bandwidth that is not a positive number, or one so
	// extreme that the exponents of weights overflow.
	ErrBandwidth = errors.New("bandwidth out of range")
	// ErrLabels reports labels that are missing, negative or too many.
	ErrLabels = errors.New("bad labels")
	// ErrTable reports a label table that is not symmetric and finite, or one that the
	// form of the step cannot use.
	ErrTable = errors.New("bad label table")
	// ErrMemory reports that the work does not fit the memory budget. It is returned
	// before the memory is taken; see MemoryError.
	ErrMemory = errors.New("memory budget exceeded")
	// ErrIsolated reports rows without neighbours under the policy Fail.
	ErrIsolated = errors.New("isolated rows")
	// ErrTolerance reports that no operator reaches the tolerance; see
	// ToleranceError.
	ErrTolerance = errors.New("tolerance out of reach")
	// ErrOperator reports an operator that does not exist, or one that cannot do what is
	// asked for.
	ErrOperator = errors.New("operator not available")
	// ErrOption reports an option outside its range.
	ErrOption = errors.New("setting out of range")
	// ErrUnitNorm reports a row whose norm is not 1; see UnitNormError.
	ErrUnitNorm = errors.New("row is not of unit norm")
	// ErrBackground reports a radius or a constant weight outside its range.
	ErrBackground = errors.New("background out of range")
)

// A MemoryError says how much memory was needed and how much the budget is. Its message
// also says what could be done instead. It matches ErrMemory.
type MemoryError struct {
	What         string // what would have been allocated
	Need, Budget int64  // bytes
	instead      string // the next best way; "" when there is none
	denied       bool   // Options.Reserve has refused it
}

func (e *MemoryError) Error() string {
	s := fmt.Sprintf("kernel: %s: %v: needs %s, budget %s", e.What, ErrMemory, byteCount(e.Need), byteCount(e.Budget))
	switch {
	case e.denied:
		s += ", of which others hold too much now"
	case e.Need > e.Budget:
		s += fmt.Sprintf(", %s missing", byteCount(e.Need-e.Budget))
	}
	if e.instead != "" {
		s += "; " + e.instead
	}
	return s
}

func (e *MemoryError) Unwrap() error { return ErrMemory }

// advise says in an error of memory what to do instead. Other errors, such as that of a lost
// rank, stay as they are.
func advise(err error, instead string) {
	if e := (*MemoryError)(nil); errors.As(err, &e) {
		e.instead = instead
	}
}

// denied tells whether Options.Reserve has refused memory that is within the budget.
func denied(err error) bool {
	e, ok := errors.AsType[*MemoryError](err)
	return ok && e.denied
}

// A ToleranceError says that no operator meets the tolerance, and which one comes closest.
// Its message also says what that one would cost. It matches ErrTolerance.
type ToleranceError struct {
	Tolerance float64 // the tolerance asked for
	Eta       float64 // the eta that 99 in 100 rows of Operator do not exceed, or all rows under the policy Fail
	Operator  string  // the operator that comes closest
	seconds   float64 // of building it and of the steps; 0 when no other was looked at
	bytes     int64
}

func (e *ToleranceError) Error() string {
	s := fmt.Sprintf("kernel: %v: asked for eta %.2g; the operator %s reaches %.2g", ErrTolerance, e.Tolerance, e.Operator, e.Eta)
	if e.seconds > 0 {
		s += fmt.Sprintf(" in about %.2g s and %s", e.seconds, byteCount(e.bytes))
	}
	return s
}

func (e *ToleranceError) Unwrap() error { return ErrTolerance }

// A UnitNormError names the first row that is not of unit norm. It has no norm, because
// rows may be private. It matches ErrUnitNorm.
type UnitNormError struct {
	Row int // counted from 0
}

func (e *UnitNormError) Error() string {
	return fmt.Sprintf("%v: row %d", ErrUnitNorm, e.Row+1)
}

func (e *UnitNormError) Unwrap() error { return ErrUnitNorm }

// buildError adds the name of the operator to an error of building it; nil stays nil. A
// MemoryError says itself what the memory was for, and a ToleranceError names the operator.
func buildError(name string, err error) error {
	var memory *MemoryError
	var tolerance *ToleranceError
	if err == nil || errors.As(err, &memory) || errors.As(err, &tolerance) {
		return err
	}
	return fmt.Errorf("kernel: build %s: %w", name, err)
}

// productError adds the name of the operator to an error of its product; nil stays nil.
func productError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("kernel: %s: %w", name, err)
}

// byteCount formats a number of bytes for a person.
func byteCount(b int64) string {
	const unit = 1024
	if b < unit {
		return fmt.Sprintf("%d B", b)
	}
	v, i := float64(b), -1
	for ; v >= unit && i < 4; i++ {
		v /= unit
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTP"[i])
}
