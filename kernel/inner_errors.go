package kernel

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/points"
)

// Errors of package kernel, which says when they are returned.
var (
	innerErrEmpty      = errors.New("no points")
	innerErrShape      = points.ErrShape
	innerErrNonFinite  = points.ErrNonFinite
	innerErrBandwidth  = errors.New("bandwidth out of range")
	innerErrLabels     = errors.New("bad labels")
	innerErrTable      = errors.New("bad label table")
	innerErrMemory     = errors.New("memory budget exceeded")
	innerErrIsolated   = errors.New("isolated rows")
	innerErrTolerance  = errors.New("tolerance out of reach")
	innerErrOperator   = errors.New("operator not available")
	innerErrOption     = errors.New("setting out of range")
	innerErrUnitNorm   = errors.New("row is not of unit norm")
	innerErrBackground = errors.New("background out of range")
)

// An innerMemoryError says how much memory was needed and how much the budget is. Its message
// also says what could be done instead. It matches innerErrMemory.
type innerMemoryError struct {
	What         string // what would have been allocated
	Need, Budget int64  // bytes
	instead      string // the next best way; "" when there is none
	denied       bool   // Options.Reserve has refused it
}

func (e *innerMemoryError) Error() string {
	s := fmt.Sprintf("kernel: %s: %v: needs %s, budget %s", e.What, innerErrMemory, byteCount(e.Need), byteCount(e.Budget))
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

func (e *innerMemoryError) Unwrap() error { return innerErrMemory }

// advise says in an error of memory what to do instead. Other errors, such as that of a lost
// rank, stay as they are.
func advise(err error, instead string) {
	if e := (*innerMemoryError)(nil); errors.As(err, &e) {
		e.instead = instead
	}
}

// denied tells whether Options.Reserve has refused memory that is within the budget.
func denied(err error) bool {
	e, ok := errors.AsType[*innerMemoryError](err)
	return ok && e.denied
}

// An innerToleranceError says that no operator meets the tolerance, and which one comes closest.
// Its message also says what that one would cost. It matches innerErrTolerance.
type innerToleranceError struct {
	Tolerance float64 // the tolerance asked for
	Eta       float64 // the eta that 99 in 100 rows of Operator do not exceed, or all rows under the policy Fail
	Operator  string  // the operator that comes closest
	seconds   float64 // of building it and of the steps; 0 when no other was looked at
	bytes     int64
}

func (e *innerToleranceError) Error() string {
	s := fmt.Sprintf("kernel: %v: asked for eta %.2g; the operator %s reaches %.2g", innerErrTolerance, e.Tolerance, e.Operator, e.Eta)
	if e.seconds > 0 {
		s += fmt.Sprintf(" in about %.2g s and %s", e.seconds, byteCount(e.bytes))
	}
	return s
}

func (e *innerToleranceError) Unwrap() error { return innerErrTolerance }

// An innerUnitNormError names the first row that is not of unit norm. It has no norm, because
// rows may be private. It matches innerErrUnitNorm.
type innerUnitNormError struct {
	Row int // counted from 0
}

func (e *innerUnitNormError) Error() string {
	return fmt.Sprintf("%v: row %d", innerErrUnitNorm, e.Row+1)
}

func (e *innerUnitNormError) Unwrap() error { return innerErrUnitNorm }

// buildError adds the name of the operator to an error of building it; nil stays nil. A
// An innerMemoryError says itself what the memory was for, and a innerToleranceError names the operator.
func buildError(name string, err error) error {
	var memory *innerMemoryError
	var tolerance *innerToleranceError
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
