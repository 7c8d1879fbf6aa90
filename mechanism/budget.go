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
}

// A Receipt says that a spend was written down.
type Receipt struct {
	sequence uint64
	id       [16]byte
}

// Sequence is the number of the line of its ledger that the spend is in, 0 for NoLedger.
func (r Receipt) Sequence() uint64 { return r.sequence }

// A Budget is a *Ledger or NoLedger: every release takes one.
type Budget interface {
	// reserve writes the spend down, durably, or refuses. Nothing is ever
	// given back.
	reserve(unit Unit, id [16]byte, spend Spend) (Receipt, error)
	// commit notes the hash of the release that the spend was for.
	commit(receipt Receipt, sum [sha256.Size]byte) error
	// payer is PayerID for a unit that was checked.
	payer(unit Unit) [sha256.Size]byte
	// paid is Paid.
	paid(releaseID [16]byte) bool
}

// Paid tells whether a spend for a release has been written down in the budget. Whoever
// keeps releases to send them again asks for it: a ledger that was restored from an old
// copy, or copied, has the same PayerID and may not know a release that was paid for in
// the other one. NoLedger knows them all, since it counts none. The error is that of
// CheckPayer for the budget.
func Paid(budget Budget, releaseID [16]byte) (bool, error) {
	if err := checkBudget(budget); err != nil {
		return false, err
	}
	return budget.paid(releaseID), nil
}

// PayerID returns a number that stands for a unit in one budget, the payer. Units of
// different kinds or names have different numbers, and so has one unit in two ledgers, or
// in a ledger and in none; a copy of a ledger's file counts as the same ledger. Whoever
// keeps releases keeps them by this number, so that nobody gets what another has paid
// for. It is no secret hash: who knows the ledger can test whether it stands for a
// guessed name. Errors are those of CheckPayer.
func PayerID(budget Budget, unit Unit) (id [sha256.Size]byte, err error) {
	if err := CheckPayer(budget, unit); err != nil {
		return id, err
	}
	return budget.payer(unit), nil
}

// CheckPayer tells before any work whether there is somebody to pay for a release: a
// budget, and a unit of it. Errors are ErrLedger and ErrParam.
func CheckPayer(budget Budget, unit Unit) error {
	if err := checkBudget(budget); err != nil {
		return err
	}
	return unit.check()
}

// checkBudget refuses a budget that is nil, and a ledger that was never opened.
func checkBudget(budget Budget) error {
	if ledger, ok := budget.(*Ledger); budget == nil || ok && (ledger == nil || ledger.state == nil) {
		return fmt.Errorf("mechanism: neither an opened ledger nor NoLedger: %w", ErrLedger)
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

func (noLedger) reserve(_ Unit, id [16]byte, _ Spend) (Receipt, error) { return Receipt{id: id}, nil }
func (noLedger) commit(Receipt, [sha256.Size]byte) error               { return nil }
func (noLedger) paid([16]byte) bool                                    { return true }
func (noLedger) payer(unit Unit) [sha256.Size]byte                     { return payerID([16]byte{}, unit) }
