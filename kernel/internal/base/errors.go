package base

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Errors of package kernel, which says when they are returned.
var (
	ErrEmpty     = errors.New("no points")
	ErrShape     = points.ErrShape
	ErrNonFinite = points.ErrNonFinite
	ErrBandwidth = errors.New("bandwidth out of range")
	ErrLabels    = errors.New("bad labels")
	ErrMemory    = errors.New("memory limit exceeded")
	ErrIsolated  = errors.New("isolated rows")
	ErrTolerance = errors.New("tolerance out of reach")
	ErrOperator  = errors.New("operator not available")
	ErrOption    = errors.New("setting out of range")
	ErrUnitNorm  = errors.New("row is not of unit norm")
)

// Kinds of ErrOption.
var (
	ErrTable      = errkind.Of(ErrOption, "bad label table")
	ErrBackground = errkind.Of(ErrOption, "background out of range")
)

// A MemoryError says how much memory was needed and how much the limit is. Its message
// also says what could be done instead. It matches ErrMemory.
type MemoryError struct {
	What        string // what would have been allocated
	Need, Limit int64  // bytes
	instead     string // the next best way; "" when there is none
	denied      bool   // Options.Reserve has refused it
}

func (e *MemoryError) Error() string {
	s := fmt.Sprintf("kernel: %s: %v: needs %s, limit %s", e.What, ErrMemory, ByteCount(e.Need), ByteCount(e.Limit))
	switch {
	case e.denied:
		s += ", of which others hold too much now"
	case e.Need > e.Limit:
		s += fmt.Sprintf(", %s missing", ByteCount(e.Need-e.Limit))
	}
	if e.instead != "" {
		s += "; " + e.instead
	}
	return s
}

func (e *MemoryError) Unwrap() error { return ErrMemory }

// Advise says in an error of memory what to do instead. Other errors, such as that of a lost
// rank, stay as they are.
func Advise(err error, instead string) {
	if e := (*MemoryError)(nil); errors.As(err, &e) {
		e.instead = instead
	}
}

// Refused returns the error of memory that does not fit in the memory limit or, where denied is set,
// that Options.Reserve has refused.
func Refused(what string, need, limit int64, denied bool) *MemoryError {
	return &MemoryError{What: what, Need: need, Limit: limit, denied: denied}
}

// Denied reports whether Options.Reserve has refused memory that is within the memory limit.
func Denied(err error) bool {
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

// Priced returns the error with what the operator that comes closest would cost: the seconds of
// building it and of the steps, and the bytes.
func Priced(e ToleranceError, seconds float64, bytes int64) *ToleranceError {
	e.seconds, e.bytes = seconds, bytes
	return &e
}

func (e *ToleranceError) Error() string {
	s := fmt.Sprintf("kernel: %v: asked for eta %.2g; the operator %s reaches %.2g", ErrTolerance, e.Tolerance, e.Operator, e.Eta)
	if e.seconds > 0 {
		s += fmt.Sprintf(" in about %.2g s and %s", e.seconds, ByteCount(e.bytes))
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

// BuildError adds the name of the operator to an error of building it; nil stays nil. A
// MemoryError says itself what the memory was for, and a ToleranceError names the operator.
func BuildError(name string, err error) error {
	var memory *MemoryError
	var tolerance *ToleranceError
	if err == nil || errors.As(err, &memory) || errors.As(err, &tolerance) {
		return err
	}
	return fmt.Errorf("kernel: build %s: %w", name, err)
}

// ProductError adds the name of the operator to an error of its product; nil stays nil.
func ProductError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("kernel: %s: %w", name, err)
}

// ByteCount formats a number of bytes for a person.
func ByteCount(b int64) string {
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
