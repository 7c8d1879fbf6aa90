package mechanism

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Charge returns what a unit has spent after one more spend, if both together fit the
// total. It is the arithmetic of a Budget: it looks at numbers alone, writes nothing down,
// and whether the unit is new is not its business. Pots add up exactly, so a budget may
// keep one Pots for each unit, as text, and needs no list of spends to add up.
//
// Errors are a *BudgetError for a spend that does not fit and ErrParam for a total, unit
// or spend that is none, or for a unit that has spent more than the total; ErrLedger for
// Gaussian noise and a Pure total.
func (t Total) Charge(unit Unit, spent Pots, spend Spend) (after Pots, err error) {
	whole, err := t.pots()
	if err != nil {
		return Pots{}, err
	}
	if err := unit.check(); err != nil {
		return Pots{}, err
	}
	cost, err := t.Kind.Price(spend)
	if err != nil {
		return Pots{}, err
	}
	if !spent.within(whole) {
		return Pots{}, fmt.Errorf("mechanism: more was spent than the total: %w", ErrParam)
	}
	left := whole.minus(spent)
	if !cost.within(left) {
		return Pots{}, &BudgetError{UnitKind: unit.Kind, Asked: cost, Remaining: left, Total: t}
	}
	after, _ = spent.add(cost) // within the total, which is an Amount
	return after, nil
}

// MarshalText returns the amount exactly: units of 2^-96 in 32 hexadecimal digits, so that
// texts are in the order of amounts.
func (a Amount) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%016x%016x", a.hi, a.lo), nil
}

// UnmarshalText reads what MarshalText has written. The error is ErrParam.
func (a *Amount) UnmarshalText(text []byte) error {
	var b [16]byte
	if len(text) != hex.EncodedLen(len(b)) {
		return fmt.Errorf("mechanism: an amount of %d letters, want 32: %w", len(text), ErrParam)
	}
	if _, err := hex.Decode(b[:], text); err != nil {
		return fmt.Errorf("mechanism: an amount that is not hexadecimal: %w", ErrParam)
	}
	*a = Amount{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:])}
	return nil
}
