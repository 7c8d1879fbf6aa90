package mechanism

import (
	"encoding/hex"
	"slices"
)

// A Balance holds what one unit has spent and what it can still spend.
type Balance struct {
	Unit             string // the first digits of its keyed hash
	UnitKind         string // release.UnitRecord or release.UnitClient
	Spent, Remaining Pots
	// Epsilon is what was spent, at the Delta of the total; see
	// Ledger.EpsilonAt.
	Epsilon float64
	// Protects says for which pairs of data sets Spent, Epsilon and the total hold: those
	// that every spend of the unit protects. Where it is the zero Protection no such pair
	// is known, and nothing is proved for all releases together; AllProtect of Kinds says
	// why.
	Protects Protection
	// Subtotals are nil where all spends protect the same pairs. Otherwise there is one
	// for each Protection among them, in the order of their first spends.
	Subtotals []Subtotal
}

// Kinds returns the protections of the unit's spends, each once. AllProtect combines them.
func (b Balance) Kinds() []Protection {
	if b.Subtotals == nil {
		return []Protection{b.Protects}
	}
	kinds := make([]Protection, len(b.Subtotals))
	for i, part := range b.Subtotals {
		kinds[i] = part.Protects
	}
	return kinds
}

// A Subtotal adds up the spends of a unit that protect the same pairs of data
// sets.
type Subtotal struct {
	Protects Protection
	// Spends is the number of spends of the unit that protect all these pairs, Spent their
	// cost, and Epsilon the same cost at the Delta of the total. The promise of the unit's
	// other spends for these pairs is unknown and not counted: the numbers hold for
	// releases that were not chosen by looking at earlier ones. For the zero Protection
	// they are sums and promise nothing.
	Spends  int
	Spent   Pots
	Epsilon float64
}

// unitState is what a ledger knows about a unit.
type unitState struct {
	Spent
	spends int
	kinds  []Subtotal // by the protection that was noted; nil while there is one
}

// after returns the state after one more spend, which fits the total.
func (u unitState) after(cost Pots, protects Protection) unitState {
	if u.spends > 0 && u.kinds == nil && u.Protects != protects {
		u.kinds = []Subtotal{{Protects: u.Protects, Spends: u.spends, Spent: u.Pots}}
	}
	if u.kinds != nil {
		place := slices.IndexFunc(u.kinds, func(k Subtotal) bool { return k.Protects == protects })
		if place < 0 {
			place = len(u.kinds)
			u.kinds = append(u.kinds, Subtotal{Protects: protects})
		}
		kind := &u.kinds[place]
		kind.Spends++
		kind.Spent, _ = kind.Spent.add(cost)
	}
	u.Spent, _ = u.plus(cost, protects)
	u.spends++
	return u
}

// balance returns the state of a unit as others see it.
func (h *ledgerHeader) balance(unit unitHash, kind string, u unitState, epsilon func(Pots) float64) Balance {
	b := Balance{
		Unit: shortHash(unit), UnitKind: kind, Spent: u.Pots, Remaining: h.whole.minus(u.Pots), Epsilon: epsilon(u.Pots), Protects: u.Protects,
	}
	for _, of := range u.kinds {
		sum := Subtotal{Protects: of.Protects}
		for _, other := range u.kinds {
			if other.Protects == of.Protects || other.Protects.Includes(of.Protects) {
				sum.Spends += other.Spends
				sum.Spent, _ = sum.Spent.add(other.Spent)
			}
		}
		sum.Epsilon = epsilon(sum.Spent)
		b.Subtotals = append(b.Subtotals, sum)
	}
	return b
}

// shortHash returns the text that stands for a unit in output.
func shortHash(unit unitHash) string { return hex.EncodeToString(unit[:6]) }
