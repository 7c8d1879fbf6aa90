package sensitivity

import (
	"errors"
	"fmt"
)

// Sentinels, matched with errors.Is. Every error of this package is an *Error
// around one of them, except the error of a context that has ended.
var (
	// ErrRelation reports a neighbouring relation that is missing, unknown, or
	// not the one a bound is proved for.
	ErrRelation = errors.New("neighbouring relation not usable")
	// ErrOperator reports that no operator was named, or one that is not of
	// this package.
	ErrOperator = errors.New("operator missing")
	// ErrNoBound reports an operator, a label table or a combination for which
	// no bound is proved. No looser bound takes its place.
	ErrNoBound = errors.New("no bound is proved")
	// ErrBandwidth reports a bandwidth that is not a positive finite number.
	ErrBandwidth = errors.New("bandwidth out of range")
	// ErrCoefficient reports an alpha that is not finite.
	ErrCoefficient = errors.New("coefficient out of range")
	// ErrTable reports a label table that is missing, without classes, not
	// finite or not symmetric, or one that lacks the entries a bound needs.
	ErrTable = errors.New("bad label table")
	// ErrShape reports sizes that do not fit together, or too few rows.
	ErrShape = errors.New("shapes do not match")
	// ErrNonFinite reports a NaN or an infinity in an input.
	ErrNonFinite = errors.New("value is not finite")
	// ErrNorms reports norms that no matrix can have.
	ErrNorms = errors.New("norms contradict each other")
	// ErrRow reports a row number outside the matrix, a repeated one, or an
	// empty list of rows.
	ErrRow = errors.New("wrong row number")
	// ErrUnitRow reports a public row that is not of unit norm within 1e-6.
	ErrUnitRow = errors.New("row is not of unit norm")
	// ErrLabels reports labels that are missing or outside 0 .. classes-1.
	ErrLabels = errors.New("bad labels")
	// ErrFloor reports a degree floor that is not a positive finite number.
	ErrFloor = errors.New("degree floor out of range")
	// ErrBackground reports a radius that is not in (0, 2] or a background
	// weight outside [exp(-2/sigma^2), exp(-r^2/(2 sigma^2))].
	ErrBackground = errors.New("background out of range")
	// ErrEntryError reports an entry error that is negative or not below the
	// smallest weight, or an arithmetic that cannot carry the sums.
	ErrEntryError = errors.New("operator error out of range")
	// ErrUnrepresentable reports a bound that float64 cannot hold: weights that
	// underflow (2/sigma^2 > 700), or a result that overflows or underflows.
	ErrUnrepresentable = errors.New("bound is not representable")
	// ErrDegenerate reports a query that does not depend on the data, for
	// example because all rows of Q are equal: there is nothing to calibrate.
	ErrDegenerate = errors.New("query does not depend on the data")
	// ErrPaperUndefined reports that the paper's constant has a denominator
	// that is not positive. Corrected and Tight are defined nevertheless.
	ErrPaperUndefined = errors.New("paper constant is undefined")
	// ErrMismatch reports a bound and an operator error of different queries.
	ErrMismatch = errors.New("bound and error belong to different queries")
	// ErrGroup reports a group size below one, or a bound that does not carry
	// over to several records changing together.
	ErrGroup = errors.New("group bound not available")
)

// An Error says which function refused its arguments, what was wrong with them and,
// where it helps, the number. It never contains a value of a data row.
type Error struct {
	Op     string // the function, such as "tight" or "known"
	Detail string // what was wrong, in words
	Err    error  // one of the sentinels
}

func (e *Error) Error() string {
	return fmt.Sprintf("sensitivity: %s: %v: %s", e.Op, e.Err, e.Detail)
}

func (e *Error) Unwrap() error { return e.Err }

// refuse returns an *Error without the name of the function; named adds it.
func refuse(err error, format string, args ...any) error {
	return &Error{Err: err, Detail: fmt.Sprintf(format, args...)}
}

// named puts the name of the function into an error made by refuse, and before
// the error of a context.
func named(op string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return fmt.Errorf("sensitivity: %s: %w", op, err)
	}
	if e.Op == "" {
		e.Op = op
	}
	return err
}
