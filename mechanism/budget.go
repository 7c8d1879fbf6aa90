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
	Kind string // release.UnitRecord or release.UnitClient
	Name string // not empty
}

func (u Unit) check() error {
	if !slices.Contains(unitKinds[:], u.Kind) {
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

// Sequence is the number of the spend in its ledger, 0 for NoLedger.
func (r Receipt) Sequence() uint64 { return r.sequence }

// A Budget is a *Ledger or NoLedger: every release takes one.
type Budget interface {
	// reserve writes the spend down, durably, or refuses. Nothing is ever
	// given back.
	reserve(unit Unit, id [16]byte, spend Spend) (Receipt, error)
	// commit notes the hash of the release that the spend was for.
	commit(receipt Receipt, sum [sha256.Size]byte) error
}

// NoLedger counts nothing. A release made with it says so; adding up what was
// spent is then the caller's business.
var NoLedger Budget = noLedger{}

type noLedger struct{}

func (noLedger) reserve(_ Unit, id [16]byte, _ Spend) (Receipt, error) { return Receipt{id: id}, nil }
func (noLedger) commit(Receipt, [sha256.Size]byte) error               { return nil }
