// Package accounts reads ledgers and says in words and JSON what releases have cost, what they promise
// and whom they protect.
package accounts

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// An account is what one unit has spent from a ledger.
type account struct {
	ledger  *mechanism.Snapshot
	balance mechanism.Balance
	spends  []numbered
}

// numbered is a spend with its number among all spends of the ledger, from 1. Its
// sequence counts lines, of which a finished release has two.
type numbered struct {
	mechanism.Entry
	number int
}

// AccountOf collects the spends of a unit.
func AccountOf(s *mechanism.Snapshot, balance mechanism.Balance) *account {
	a := &account{ledger: s, balance: balance}
	for i, entry := range s.Entries {
		if entry.Unit == balance.Unit {
			a.spends = append(a.spends, numbered{entry, i + 1})
		}
	}
	return a
}

// AccountAt reads the account of a unit from a ledger.
func AccountAt(path string, unit mechanism.Unit) (*account, error) {
	s, err := ReadLedger(path, Head{})
	if err != nil {
		return nil, err
	}
	balance, err := s.Balance(unit)
	if err != nil {
		return nil, err
	}
	return AccountOf(s, balance), nil
}

// Number returns that of the spend in a line, 0 if this unit has no spend there.
func (a *account) Number(line uint64) int {
	for _, spend := range a.spends {
		if spend.Sequence == line {
			return spend.number
		}
	}
	return 0
}

// Write says what has been spent, and what another spend like the last would make of it.
func (a *account) Write(w io.Writer) {
	fmt.Fprintf(w, "so far\t%s\n", a.soFar())
	a.writeProtects(w)
	if why := a.notTheSum(); why != "" {
		fmt.Fprintf(w, "\t%s\n", why)
	}
	if len(a.spends) > 1 && a.balance.Protects != (mechanism.Protection{}) {
		fmt.Fprintf(w, "\tan estimate if a spend was chosen by looking at an earlier release; proved in any case, for these pairs, is the budget, epsilon %g\n", a.ledger.Total.Epsilon)
	}
	a.writeParts(w)
	if a.ledger.Total.Kind == mechanism.Mixed {
		fmt.Fprintf(w, "pots\tnoise: epsilon %s of %s; pure: epsilon %s of %g\n", Closely(a.noise(a.balance.Spent)), Closely(a.noise(a.ledger.Whole)),
			Closely(a.balance.Spent.Pure.Float()), a.ledger.Total.PureEpsilon)
	}
	fmt.Fprintf(w, "next\t%s\n", a.next())
}

// soFar is the epsilon of all spends, against the budget.
func (a *account) soFar() string {
	t := a.ledger.Total
	at := ""
	if t.Kind != mechanism.Pure {
		at = fmt.Sprintf(" at delta %g", t.Delta)
	}
	spends := "the one spend"
	if n := len(a.spends); n > 1 {
		spends = fmt.Sprintf("the %d spends", n)
	}
	return fmt.Sprintf("epsilon %s of %g%s, by %s of this unit", Closely(a.balance.Epsilon), t.Epsilon, at, spends)
}

// notTheSum says why epsilon so far is another than the sum of the epsilons that the
// spends were stated as. It is for noise alone, all of it at the delta of the budget:
// other spends have no such sum.
func (a *account) notTheSum() string {
	sum, t := 0.0, a.ledger.Total
	for _, spend := range a.spends {
		if s := spend.Spend; s.Epsilon == 0 || s.Delta != t.Delta || s.PureEpsilon != 0 {
			return ""
		}
		sum += spend.Spend.Epsilon
	}
	switch epsilon := a.balance.Epsilon; {
	case epsilon < sum*(1-1e-9):
		return fmt.Sprintf("less than the sum of their epsilons, %.4g, because noise adds up by rho, not by epsilon", sum)
	case epsilon > sum*(1+1e-9) && t.Kind == mechanism.ZCDP:
		return fmt.Sprintf("more than the sum of their epsilons, %.4g, because a zcdp ledger turns rho into epsilon by a bound that is not tight", sum)
	}
	return ""
}

// noise is the epsilon of the noise among pots, without the pure pot.
func (a *account) noise(p mechanism.Pots) float64 { return epsilonOfRho(p.Rho, a.ledger.Total) }

// next says whether another spend like the last fits, and what it would make of the
// epsilon so far.
func (a *account) next() string {
	last, left, t := a.spends[len(a.spends)-1].Cost, a.balance.Remaining, a.ledger.Total
	with := Closely(a.ledger.EpsilonOf(a.balance.Spent, last))
	noise, pure := last.Rho.Cmp(left.Rho) <= 0, last.Pure.Cmp(left.Pure) <= 0
	another := "another spend like the last"
	if protects := a.spends[len(a.spends)-1].Spend.Protects; protects == (mechanism.Protection{}) || protects != a.balance.Protects {
		another += ", with -other-relation,"
	}
	switch {
	case noise && pure:
		return fmt.Sprintf("%s fits, and would make it epsilon %s", another, with)
	case t.Kind != mechanism.Mixed:
		return fmt.Sprintf("%s does not fit: it would make it epsilon %s of %g", another, with, t.Epsilon)
	case !noise:
		return fmt.Sprintf("%s does not fit: the pot of noise has epsilon %s left; a ledger made with a smaller -pure-share has more", another, stillFits(left.Rho, t))
	}
	return fmt.Sprintf("%s does not fit: the pure pot has epsilon %s left; a ledger made with a larger -pure-share has more", another, AtLeast(left.Pure.Float(), 4))
}

// WriteSpends lists the spends, and after each what all up to it come to, and for which data sets.
func (a *account) WriteSpends(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "spend\tline\trelease\tepsilon\tdelta\trho\tpure epsilon\tprotects\tepsilon so far\tfor\t")
	costs := make([]mechanism.Pots, 0, len(a.spends))
	protects := make([]mechanism.Protection, 0, len(a.spends))
	for _, s := range a.spends {
		costs, protects = append(costs, s.Cost), append(protects, s.Spend.Protects)
		note := ""
		if !s.Committed {
			note = "its release was not noted"
		}
		fmt.Fprintf(table, "%d\t%d\t%x\t%g\t%g\t%.4g\t%g\t%s\t%s\t%s\t%s\n", s.number, s.Sequence, s.ReleaseID, s.Spend.Epsilon, s.Spend.Delta, s.Cost.Rho.Float(), s.Spend.PureEpsilon,
			s.Spend.Protects, Closely(a.ledger.EpsilonOf(costs...)), mechanism.AllProtect(protects...), note)
	}
	return table.Flush()
}

// Closely formats an epsilon with four digits, rounded up unless it is above them by no
// more than the rounding of its computation.
func Closely(x float64) string { return CloselyTo(x, 4) }

// CloselyTo is closely with a number of digits.
func CloselyTo(x float64, digits int) string { return AtMost(x*(1-1e-9), digits) }

// stillFits formats the epsilon of the noise that an amount of rho pays for, rounded down,
// so that it fits as it is printed.
func stillFits(rho mechanism.Amount, t mechanism.Total) string {
	return AtLeast(epsilonOfRho(rho, t)*(1-1e-9), 4)
}

// AtLeast formats what there is of x >= 0, rounded down to a number of digits.
func AtLeast(x float64, digits int) string {
	text := strconv.FormatFloat(x, 'g', digits, 64)
	shown, err := strconv.ParseFloat(text, 64)
	if err != nil || shown <= x {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-float64(digits-1))
	return strconv.FormatFloat(shown-unit, 'g', digits, 64)
}
