package mechanism

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Spent is what a Budget keeps for a unit: how much it has spent, and the pairs of data sets
// that all its spends protect. The zero value is for a unit that has not spent.
type Spent struct {
	Pots
	Protects Protection
}

// Charge returns what a unit has spent after one more spend, if both together fit the total
// and protect the same pairs of data sets. It is the arithmetic of a Budget: it writes
// nothing down, and does not check whether the unit is new. Pots add up exactly, so a budget
// may keep one Spent for each unit, as text, and needs no list of spends.
//
// Errors are a *BudgetError for a spend that does not fit; a *RelationError for one that
// protects other pairs, unless the unit says OtherRelation; ErrParam for an invalid total,
// unit or spend, or for a unit that has spent more than the total; and ErrLedger for
// Gaussian noise and a Pure total.
func (t Total) Charge(unit Unit, spent Spent, spend Spend) (after Spent, err error) {
	whole, err := t.pots()
	if err != nil {
		return Spent{}, err
	}
	if err := unit.check(); err != nil {
		return Spent{}, err
	}
	cost, err := t.Kind.Price(spend)
	if err != nil {
		return Spent{}, err
	}
	if err := spend.check(); err != nil {
		return Spent{}, err
	}
	if !spent.within(whole) {
		return Spent{}, fmt.Errorf("mechanism: more was spent than the total: %w", ErrParam)
	}
	if err := spent.agrees(unit, spend); err != nil {
		return Spent{}, err
	}
	if left := whole.minus(spent.Pots); !cost.within(left) {
		return Spent{}, &BudgetError{UnitKind: unit.Kind, Asked: cost, Remaining: left, Total: t}
	}
	after, _ = spent.plus(cost, spend.Protects) // within the total, which is an Amount
	return after, nil
}

// agrees refuses a spend for other pairs of data sets than those that all earlier spends
// protect, unless the unit says OtherRelation.
func (s Spent) agrees(unit Unit, spend Spend) error {
	if s.Pots == (Pots{}) || unit.OtherRelation || s.Protects == spend.Protects && s.Protects.known() {
		return nil
	}
	return &RelationError{UnitKind: unit.Kind, Before: s.Protects, Asked: spend.Protects}
}

// plus adds a spend, and reports whether the sums can be represented. Every spend costs
// something, so the first spend is the one before which nothing was spent.
func (s Spent) plus(cost Pots, protects Protection) (after Spent, ok bool) {
	if s.Pots != (Pots{}) {
		protects = s.Protects.Both(protects)
	}
	sum, ok := s.add(cost)
	return Spent{sum, protects}, ok
}

// MarshalText returns the amount exactly: units of 2^-96 in 32 hexadecimal digits, so that
// texts are in the order of amounts.
func (a Amount) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x%016x", a.hi, a.lo), nil
}

// UnmarshalText reads the text of MarshalText. The error is ErrParam.
func (a *Amount) UnmarshalText(text []byte) error {
	var b [16]byte
	if len(text) != hex.EncodedLen(len(b)) {
		return fmt.Errorf("mechanism: an amount of %d letters, want 32: %w", len(text), ErrParam)
	}
	if _, err := hex.Decode(b[:], text); err != nil {
		return fmt.Errorf("mechanism: an amount is not hexadecimal: %w", ErrParam)
	}
	*a = Amount{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:])}
	return nil
}
