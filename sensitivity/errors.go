package sensitivity

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// Sentinels, matched with errors.Is. Every error of this package matches one of them, except the
// error of a context that has ended. Its message says which function refused its arguments and why.
var (
	// ErrRelation reports a neighbouring relation that is missing, unknown, or
	// not the one a bound is proved for.
	ErrRelation = errors.New("neighbouring relation not usable")
	// ErrNoBound reports an operator, a label table or a combination for which
	// no bound is proved. No looser bound takes its place. It is also a bound of one
	// record that does not carry over to a group, a bound that float64 cannot hold
	// (weights that underflow, 2/sigma^2 > 700, or a result that overflows or
	// underflows), and a query that does not depend on the data, for example because
	// all rows of Q are equal: then there is nothing to calibrate.
	ErrNoBound = errors.New("no bound is proved")
	// ErrQuery reports a query that is missing a part or has a part out of its range: the
	// operator, the bandwidth, alpha, the label table, rows that may be private, public rows
	// that are not of unit norm within 1e-6, or norms that no matrix can have. For Paper it is
	// also a query whose constant has a denominator that is not positive. Of an operator
	// error it reports an entry error that is negative or not below the smallest weight, an
	// arithmetic that cannot carry the sums, and an error of another query than that of the
	// bound.
	ErrQuery = errors.New("invalid query")
	// ErrShape reports sizes that do not fit together, or too few rows.
	ErrShape = errors.New("shapes do not match")
	// ErrNonFinite reports a NaN or an infinity in an input.
	ErrNonFinite = errors.New("value is not finite")
	// ErrLabels reports labels that are missing or outside 0 .. classes-1.
	ErrLabels = errors.New("bad labels")
)

// Kinds of ErrQuery and ErrNoBound: which part of a query is wrong, or why there is no bound.
var (
	errOperator    = errkind.Of(ErrQuery, "operator missing")
	errBandwidth   = errkind.Of(ErrQuery, "bandwidth out of range")
	errCoefficient = errkind.Of(ErrQuery, "coefficient out of range")
	errTable       = errkind.Of(ErrQuery, "bad label table")
	errNorms       = errkind.Of(ErrQuery, "norms contradict each other")
	errRow         = errkind.Of(ErrQuery, "wrong row number") // also one that is repeated, or an empty list
	errUnitRow     = errkind.Of(ErrQuery, "row is not of unit norm")
	errFloor       = errkind.Of(ErrQuery, "degree floor out of range")
	// errBackground: a radius that is not in (0, 2], or a weight outside
	// [exp(-2/sigma^2), exp(-r^2/(2 sigma^2))].
	errBackground = errkind.Of(ErrQuery, "background out of range")
	// errPaperUndefined: Corrected and Tight are defined nevertheless.
	errPaperUndefined = errkind.Of(ErrQuery, "paper constant is undefined")
	errEntryError     = errkind.Of(ErrQuery, "operator error out of range")
	errMismatch       = errkind.Of(ErrQuery, "bound and error belong to different queries")

	errGroup           = errkind.Of(ErrNoBound, "group bound not available") // also a group size below one
	errUnrepresentable = errkind.Of(ErrNoBound, "bound is not representable")
	errDegenerate      = errkind.Of(ErrNoBound, "query does not depend on the data")
)

// A refusal says which function refused its arguments, what was wrong with them and,
// where it helps, the number. It never contains a value of a data row.
type refusal struct {
	Op     string // the function, such as "tight" or "known"
	Detail string // what was wrong, in words
	Err    error  // which kind of error it is; it matches one of the sentinels
}

func (e *refusal) Error() string {
	return fmt.Sprintf("sensitivity: %s: %v: %s", e.Op, e.Err, e.Detail)
}

func (e *refusal) Unwrap() error { return e.Err }

// refuse returns a *refusal without the name of the function; named adds it.
func refuse(err error, format string, args ...any) error {
	return &refusal{Err: err, Detail: fmt.Sprintf(format, args...)}
}

// named puts the name of the function into an error made by refuse, and before
// the error of a context.
func named(op string, err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*refusal](err)
	if !ok {
		return fmt.Errorf("sensitivity: %s: %w", op, err)
	}
	if e.Op == "" {
		e.Op = op
	}
	return err
}
