package mechanism

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// Sentinels, matched with errors.Is.
var (
	// ErrParam reports a parameter that is missing or out of its range; where
	// the parameter is a number the error is a *ParamError. It is also a
	// sensitivity bound that noise cannot be calibrated to: it is missing, has no
	// stated operator error, or belongs to another matrix; and numbers that no
	// Ceiling has.
	ErrParam = errors.New("parameter out of range")
	// ErrNonFinite reports a matrix with a NaN or an infinity.
	ErrNonFinite = errors.New("value is not finite")
	// ErrLabels reports labels that are missing or out of range, or a label
	// mode that is unknown or does not fit the neighbouring relation.
	ErrLabels = errors.New("labels not usable")
	// ErrEntropy reports that the system gave no random bytes. Nothing was
	// released.
	ErrEntropy = errors.New("no entropy")
	// ErrBudgetExceeded reports a spend that does not fit; the error is a
	// *BudgetError.
	ErrBudgetExceeded = errors.New("privacy budget exceeded")
	// ErrUnknownUnit reports a unit that the ledger does not know and that is not
	// New.
	ErrUnknownUnit = errors.New("unknown unit")
	// ErrOtherRelation reports a spend that protects other pairs of data sets than the
	// earlier spends of its unit, without Unit.OtherRelation; the error is a
	// *RelationError.
	ErrOtherRelation = errors.New("another relation")
	// ErrLedger reports a ledger that is missing, damaged, of another kind or
	// cannot be written.
	ErrLedger = errors.New("ledger not usable")
	// ErrSpent reports a failure after the spend was written down: the spend
	// counts, and a retry costs again.
	ErrSpent = errors.New("the budget is spent nevertheless")
	// ErrLocked reports a ledger that another process holds.
	ErrLocked = errors.New("ledger is in use by another process")
)

// errSensitivity is the ErrParam of a bound.
var errSensitivity = errkind.Of(ErrParam, "sensitivity bound not usable")

// errUnknown says what a caller can do, without the name.
func errUnknown(kind string) error {
	return fmt.Errorf("mechanism: %w: the ledger knows no %s of this name: check the name, or say that the unit is new", ErrUnknownUnit, kind)
}

// A ParamError names a parameter, its value and what is allowed. None of its
// fields ever holds a value of the data. It matches ErrParam.
type ParamError struct {
	Field   string  // the name of the parameter
	Value   float64 // what was given
	Allowed string  // what is allowed, in words
}

func (e *ParamError) Error() string {
	return fmt.Sprintf("mechanism: %s = %g: want %s", e.Field, e.Value, e.Allowed)
}

func (e *ParamError) Unwrap() error { return ErrParam }

// A BudgetError says how much was asked for and how much remains. It matches
// ErrBudgetExceeded.
type BudgetError struct {
	UnitKind         string // of the unit, which is not named
	Asked, Remaining Pots
	Total            Total // of the ledger
}

func (e *BudgetError) Error() string {
	t := e.Total
	return fmt.Sprintf("mechanism: privacy budget of the %s exceeded: asked %s, remaining %s of %s",
		e.UnitKind, t.describe(e.Asked), t.describe(e.Remaining), t)
}

func (e *BudgetError) Unwrap() error { return ErrBudgetExceeded }

// A RelationError says which pairs of data sets all earlier spends of a unit protect, and
// which the new spend protects. It matches ErrOtherRelation.
type RelationError struct {
	UnitKind string     // of the unit, which is not named
	Before   Protection // zero where no pair is known
	Asked    Protection
}

func (e *RelationError) Error() string {
	before, total := "together protect no known pair of data sets", "no known pair of data sets"
	if e.Before.known() {
		before = fmt.Sprintf("protect %q", e.Before)
	}
	if both := e.Before.Both(e.Asked); both.known() {
		total = fmt.Sprintf("%q only", both)
	}
	return fmt.Sprintf("mechanism: %v: the earlier spends of this %s %s, and this one protects %q; the total of all would hold for %s: say so if this is meant",
		ErrOtherRelation, e.UnitKind, before, e.Asked, total)
}

func (e *RelationError) Unwrap() error { return ErrOtherRelation }

// ledgerError says what is wrong with a ledger.
func ledgerError(problem string) error { return fmt.Errorf("mechanism: %w: %s", ErrLedger, problem) }

// ledgerFailure says that the system failed.
func ledgerFailure(err error) error { return fmt.Errorf("mechanism: %w: %w", ErrLedger, err) }
