package mechanism

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A Unit is whose privacy a release costs: one record, or one client with all
// its records. A ledger keeps a keyed hash of it, never the name.
//
// A release protects each of its rows alike, so it costs each of them its price.
// Rows that are released together therefore share one unit, the set they belong
// to, in every release one of them takes part in. Only where a single row is
// private is it the unit by itself.
type Unit struct {
	Kind string // UnitRecord or UnitClient
	Name string // not empty
	// New says that the unit may be one the ledger has not seen. Every name has a
	// budget of its own, so a mistyped name would be a second budget for the same
	// rows: without New a ledger refuses a name it does not know.
	New bool
	// OtherRelation says that the spend may protect other pairs of data sets than the
	// earlier spends of the unit do together. The total of the unit is then for the
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

// A Spend is what one release costs. Its parts add up: a Gaussian part, stated
// as the (Epsilon, Delta) it was calibrated to or as Rho, and a pure part, such
// as that of randomised labels.
type Spend struct {
	Epsilon, Delta float64 // both or neither
	Rho            float64 // instead of them
	PureEpsilon    float64
	// Protects says which pairs of data sets this is the price for. It has no default.
	Protects Protection
}

// check refuses a spend that does not say what it protects.
func (s Spend) check() error {
	if !s.Protects.known() {
		return fmt.Errorf("mechanism: the spend does not say which data sets it protects: %w", ErrParam)
	}
	return nil
}

// A Receipt says that a spend was written down.
type Receipt struct {
	sequence uint64
	id       [16]byte
}

// NewReceipt is for those who write a Budget; see Budget.Reserve for the two numbers.
func NewReceipt(sequence uint64, releaseID [16]byte) Receipt {
	return Receipt{sequence: sequence, id: releaseID}
}

// Sequence is the number that the budget gave the spend: for a ledger that of the line the
// spend is in, 0 for NoLedger and for nothing else.
func (r Receipt) Sequence() uint64 { return r.sequence }

// ReleaseID is the number of the release that the spend is for.
func (r Receipt) ReleaseID() [16]byte { return r.id }

// A Budget pays for releases; every release takes one. A *Ledger is a budget that one
// process at a time holds in a file, and NoLedger one that counts nothing. Others can be
// written, such as one that several machines share. That all releases of a unit together
// are as private as their total says, for the pairs of data sets that all of them protect,
// rests on what the budget keeps, so each promise below
// matters; package mechanism/budgettest tries them. Mechanisms check what can be checked
// from outside: receipts and the number of the ledger.
//
// Whoever calls may share the budget with other goroutines, processes and machines, and
// every promise holds for all of them together. A budget sees the names of units, and
// hashes by which a guess of what was released can be tested: it keeps them as private as
// its file or its database, and puts no name into an error. No call has a context. A budget
// that waits for others limits the wait by itself, and returns an error when it is over.
//
// A budget may also have the method Covers of Ledger. The Engine then asks it before long
// work.
type Budget interface {
	// Reserve takes a spend from what a unit may still spend, or refuses.
	//
	// It decides and writes in one step: among callers at the same time no two are
	// granted what has room for one. It returns without an error only when the spend is
	// durable: no crash of a process and no power cut on any machine can undo it. From
	// then on the spend counts for ever. Nothing is given back, whether or not a release
	// follows. After an error that leaves open whether the spend was written down, it
	// counts as well.
	//
	// A release id pays once. It is refused, with ErrLedger, from the second time on, for
	// every unit and every spend. Each unit, by its kind and name, has the whole total to
	// itself. A spend that does not fit what is left of it is refused with
	// ErrBudgetExceeded; Total.Charge knows which fit. A unit that has not spent before is
	// refused with ErrUnknownUnit unless it is said to be New.
	//
	// A spend protects pairs of data sets, and the total of a unit is for those that all
	// its spends protect. A spend with another Protection than that is refused with
	// ErrOtherRelation unless the unit says OtherRelation; Total.Charge knows which.
	// Units and spends that are invalid are refused with ErrParam, among them spends that
	// do not say what they protect. A refusal writes nothing down.
	//
	// The receipt has the release id and a number from 1 on that no other spend of this
	// budget has. The number is part of the release, for everybody to see.
	Reserve(unit Unit, releaseID [16]byte, spend Spend) (Receipt, error)
	// Commit notes the SHA-256 of the release that a spend was for. A spend counts
	// without it, too. A second note for a spend, and one for a receipt that the budget
	// has not given, are refused with ErrLedger.
	Commit(receipt Receipt, sum [sha256.Size]byte) error
	// Paid tells whether a spend for a release was written down in this budget: all those
	// that Reserve has granted, and no other.
	Paid(releaseID [16]byte) (bool, error)
	// LedgerID returns a number that stands for the budget of a unit, the same at all
	// times and for all who share it. It is drawn at random when the budget is made and is
	// not zero: two budgets with one number would take each other's releases for paid. A
	// budget may consist of parts with numbers of their own, as long as a unit stays
	// where it is. It is asked for often and had better be remembered.
	LedgerID(unit Unit) ([16]byte, error)
}

// Paid tells whether a spend for a release has been written down in the budget. Whoever
// keeps releases to send them again asks for it: a ledger that was restored from an old
// copy, or copied, has the same PayerID and may not know a release that was paid for in
// the other one. NoLedger knows them all, since it counts none. The error is ErrLedger.
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

// PayerID returns a number that stands for a unit in one budget, the payer. Units of
// different kinds or names have different numbers, and so has one unit in two ledgers, or
// in a ledger and in none; a copy of a ledger's file counts as the same ledger. Whoever
// keeps releases keeps them by this number, so that nobody gets what another has paid
// for. It is no secret hash: who knows the ledger can test whether it stands for a
// guessed name. Errors are those of CheckPayer.
func PayerID(budget Budget, unit Unit) (id [sha256.Size]byte, err error) {
	ledger, err := payingLedger(budget, unit)
	if err != nil {
		return id, err
	}
	return payerID(ledger, unit), nil
}

// CheckPayer tells before any work whether there is somebody to pay for a release: a
// budget, and a unit of it. Errors are ErrLedger and ErrParam.
func CheckPayer(budget Budget, unit Unit) error {
	_, err := payingLedger(budget, unit)
	return err
}

// payingLedger returns the number of the ledger that pays for a unit. It is zero for
// NoLedger, and refused where it is zero for any other budget: that one would be served
// what nobody has paid for.
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
		return id, ledgerError("the budget has no number of its own")
	}
	return id, nil
}

// counts is false for NoLedger alone.
func counts(budget Budget) bool {
	_, none := budget.(noLedger)
	return !none
}

// checkBudget refuses a budget that is nil, and a ledger that was never opened.
func checkBudget(budget Budget) error {
	if ledger, ok := budget.(*Ledger); budget == nil || ok && (ledger == nil || ledger.state == nil) {
		return fmt.Errorf("mechanism: neither an opened ledger nor NoLedger: %w", ErrLedger)
	}
	return nil
}

// checkReceipt refuses a receipt for another release, and one that a release could not
// state: 0 says that nothing was counted. The spend may be written down all the same.
func checkReceipt(budget Budget, receipt Receipt, id [16]byte) error {
	if receipt.id != id || counts(budget) == (receipt.sequence == 0) {
		return fmt.Errorf("mechanism: %w: the receipt of the budget is not for this release, or has no number: %w", ErrLedger, ErrSpent)
	}
	return nil
}

// payerID returns SHA-256 of a name for its purpose, the number drawn when the ledger
// was created, the kind of the unit and its name.
func payerID(ledger [16]byte, unit Unit) [sha256.Size]byte {
	b := append([]byte("privatemail payer 1"), ledger[:]...)
	b = append(b, unit.kind())
	return sha256.Sum256(append(b, unit.Name...))
}

// NoLedger counts nothing. A release made with it says so; adding up what was
// spent is then the caller's business.
var NoLedger Budget = noLedger{}

type noLedger struct{}

func (noLedger) Reserve(_ Unit, id [16]byte, _ Spend) (Receipt, error) { return Receipt{id: id}, nil }
func (noLedger) Commit(Receipt, [sha256.Size]byte) error               { return nil }
func (noLedger) Paid([16]byte) (bool, error)                           { return true, nil }
func (noLedger) LedgerID(Unit) (id [16]byte, err error)                { return id, nil }
