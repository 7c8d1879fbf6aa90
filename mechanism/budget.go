package mechanism

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A Unit names whose privacy a release costs: one record, or one client with
// all its records. A ledger keeps a keyed hash of the name, never the name.
//
// A release protects each of its rows equally, so each row pays the full price.
// Rows that are released together therefore share one unit, the set they belong
// to, in every release that contains one of them. A single row is a unit only
// where it alone is private.
type Unit struct {
	Kind string // release.UnitRecord or release.UnitClient
	Name string // not empty
	// New says that the unit may be unknown to the ledger. Every name has its own
	// budget, so a mistyped name would be a second budget for the same rows:
	// without New a ledger refuses a name it does not know.
	New bool
	// OtherRelation says that the spend may protect other pairs of data sets than the
	// earlier spends of the unit do together. The total of the unit then holds for the
	// pairs that all of them protect, which may be none: without OtherRelation a ledger
	// refuses such a spend.
	OtherRelation bool
}

// kind returns the number of the kind in a file, 0 for none.
func (u Unit) kind() byte { return byte(slices.Index(unitKinds[:], u.Kind) + 1) }

func (u Unit) check() error {
	if u.kind() == 0 {
		return fmt.Errorf("mechanism: unit kind %q, want %q or %q: %w", u.Kind, release.UnitRecord, release.UnitClient, ErrParam)
	}
	if u.Name == "" {
		return fmt.Errorf("mechanism: the unit has no name: %w", ErrParam)
	}
	return nil
}

// A Spend is the cost of one release. Its parts add up: a Gaussian part, stated
// as the (Epsilon, Delta) it was calibrated to or as Rho, and a pure part, such
// as the cost of randomised labels.
type Spend struct {
	Epsilon, Delta float64 // both or neither
	Rho            float64 // instead of Epsilon and Delta
	PureEpsilon    float64
	// Protects says which pairs of data sets are protected at this price. It has no
	// default.
	Protects Protection
}

// check refuses a spend that does not say what it protects.
func (s Spend) check() error {
	if !s.Protects.known() {
		return fmt.Errorf("mechanism: the spend does not say which data sets it protects: %w", ErrParam)
	}
	return nil
}

// A Receipt states that a spend was written down.
type Receipt struct {
	sequence uint64
	id       [16]byte
}

// NewReceipt is for implementations of Budget; see Budget.Reserve for the two
// numbers.
func NewReceipt(sequence uint64, releaseID [16]byte) Receipt {
	return Receipt{sequence: sequence, id: releaseID}
}

// Sequence is the number that the budget gave the spend: for a ledger the number of its
// record, and 0 only for NoLedger.
func (r Receipt) Sequence() uint64 { return r.sequence }

// ReleaseID is the number of the release that the spend is for.
func (r Receipt) ReleaseID() [16]byte { return r.id }

// A Budget pays for releases; every release needs one. A *Ledger is a budget in a file
// that one process at a time holds, and NoLedger counts nothing. Programs can write
// others, such as one that several machines share. All releases of a unit together are as
// private as their total says, for the pairs of data sets that all of them protect, only
// if the budget keeps each promise below; package mechanism/budgettest tests them.
// Mechanisms check what can be checked from outside: receipts and the number of the
// ledger.
//
// Callers may share the budget with other goroutines, processes and machines, and every
// promise holds for all of them together. A budget sees the names of units, and hashes that
// can confirm a guess of what was released: it keeps them as private as its file or its
// database, and puts no name into an error. No call has a context. A budget that waits for
// others limits the wait, and then returns an error.
//
// A budget may also have the method Covers of Ledger. The Engine then asks it before long
// work.
type Budget interface {
	// Reserve takes a spend from what a unit may still spend, or refuses it.
	//
	// It decides and writes in one step: where there is room for one spend, only one of
	// two simultaneous callers is granted it. It returns without an error only when the
	// spend is durable: no crash of a process and no power cut on any machine can undo
	// it. From then on the spend counts for ever. Nothing is given back, whether or not
	// a release follows. After an error that leaves open whether the spend was written
	// down, the spend counts as well.
	//
	// A release id can be paid for once. From the second time on it is refused with
	// ErrLedger, for every unit and every spend. Each unit, by its kind and name, has the
	// whole total to itself. A spend that does not fit the rest of the total is refused
	// with ErrBudgetExceeded; Total.Charge decides. A unit that has not spent before is
	// refused with ErrUnknownUnit unless it is New.
	//
	// A spend protects pairs of data sets, and the total of a unit holds for the pairs
	// that all its spends protect. A spend with a different Protection is refused with
	// ErrOtherRelation unless the unit says OtherRelation; Total.Charge decides. Invalid
	// units and spends are refused with ErrParam, including spends that do not say what
	// they protect. A refusal writes nothing down.
	//
	// The receipt has the release id and a number from 1 on that no other spend of this
	// budget has. The number is part of the public release.
	Reserve(unit Unit, releaseID [16]byte, spend Spend) (Receipt, error)
	// Commit notes the SHA-256 of the release that a spend was for. A spend counts
	// without the note, too. A second note for a spend, and a note for a receipt that
	// the budget has not given, are refused with ErrLedger.
	Commit(receipt Receipt, sum [sha256.Size]byte) error
	// Paid reports whether a spend for a release was written down in this budget: true
	// for those that Reserve has granted, and for no other.
	Paid(releaseID [16]byte) (bool, error)
	// LedgerID returns a number that identifies the budget of a unit, the same at all
	// times and for all who share it. It is drawn at random when the budget is made and is
	// not zero: two budgets with the same number would take each other's releases for
	// paid. A budget may consist of parts with different numbers, as long as a unit stays
	// in its part. LedgerID is called often, so the number should be cached.
	LedgerID(unit Unit) ([16]byte, error)
}

// Paid reports whether a spend for a release has been written down in the budget. It is
// for programs that keep releases to send them again: a ledger that was restored from
// an old copy, or copied, has the same Unit.Payer and may not know a release that was paid
// for in the other ledger. NoLedger knows all releases, since it counts none. The error
// is ErrLedger.
func Paid(budget Budget, releaseID [16]byte) (bool, error) {
	if err := checkBudget(budget); err != nil {
		return false, err
	}
	paid, err := budget.Paid(releaseID)
	if err != nil {
		return false, ledgerFailure(err)
	}
	return paid, nil
}

// Payer returns a number that identifies the unit in one budget. Units of
// different kinds or names have different numbers, and so does one unit in two ledgers,
// or in a ledger and in none; a copy of a ledger's file counts as the same ledger.
// Programs that keep releases store them under this number, so that nobody gets a release
// that another has paid for. It is not a secret hash: anyone who knows the ledger can
// test whether it belongs to a guessed name. Errors are those of Check.
func (u Unit) Payer(budget Budget) (id [sha256.Size]byte, err error) {
	ledger, err := payingLedger(budget, u)
	if err != nil {
		return id, err
	}
	return payerID(ledger, u), nil
}

// Check checks before any work that a release has a budget, and a valid unit to
// pay for it. Errors are ErrLedger and ErrParam.
func (u Unit) Check(budget Budget) error {
	_, err := payingLedger(budget, u)
	return err
}

// payingLedger returns the number of the ledger that pays for a unit. It is zero for
// NoLedger. Zero from any other budget is refused: that budget would be served releases
// that nobody has paid for.
func payingLedger(budget Budget, unit Unit) (id [16]byte, err error) {
	if err := checkBudget(budget); err != nil {
		return id, err
	}
	if err := unit.check(); err != nil {
		return id, err
	}
	if id, err = budget.LedgerID(unit); err != nil {
		return id, ledgerFailure(err)
	}
	if id == ([16]byte{}) && counts(budget) {
		return id, ledgerError("the budget has no number")
	}
	return id, nil
}

// counts is false only for NoLedger.
func counts(budget Budget) bool {
	_, none := budget.(noLedger)
	return !none
}

// checkBudget refuses a budget that is nil, and a ledger that was never opened.
func checkBudget(budget Budget) error {
	if ledger, ok := budget.(*Ledger); budget == nil || ok && (ledger == nil || ledger.state == nil) {
		return fmt.Errorf("mechanism: no budget: want an opened ledger or NoLedger: %w", ErrLedger)
	}
	return nil
}

// checkReceipt refuses a receipt for another release, and one with the number 0, which
// in a release says that nothing was counted. The spend may have been written down
// nevertheless.
func checkReceipt(budget Budget, receipt Receipt, id [16]byte) error {
	if receipt.id != id || counts(budget) == (receipt.sequence == 0) {
		return fmt.Errorf("mechanism: %w: the receipt of the budget is not for this release, or has no number: %w", ErrLedger, ErrSpent)
	}
	return nil
}

// payerID returns the SHA-256 of a fixed text for this purpose, the number drawn when
// the ledger was created, the kind of the unit and its name.
func payerID(ledger [16]byte, unit Unit) [sha256.Size]byte {
	b := append([]byte("privatemail payer 1"), ledger[:]...)
	b = append(b, unit.kind())
	return sha256.Sum256(append(b, unit.Name...))
}

// NoLedger counts nothing. A release made with it says so; the caller then has
// to add up what was spent.
var NoLedger Budget = noLedger{}

type noLedger struct{}

func (noLedger) Reserve(_ Unit, id [16]byte, _ Spend) (Receipt, error) { return Receipt{id: id}, nil }
func (noLedger) Commit(Receipt, [sha256.Size]byte) error               { return nil }
func (noLedger) Paid([16]byte) (bool, error)                           { return true, nil }
func (noLedger) LedgerID(Unit) (id [16]byte, err error)                { return id, nil }
