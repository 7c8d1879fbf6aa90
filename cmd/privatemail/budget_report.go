package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// potsReport is an amount in each pot, as -json has it.
type potsReport struct {
	Rho  float64 `json:"rho"`  // all there is in a gdp or zcdp ledger
	Pure float64 `json:"pure"` // epsilon, all there is in a pure ledger
}

func reportPots(p mechanism.Pots) potsReport { return potsReport{p.Rho.Float(), p.Pure.Float()} }

// budgetReport is the object of budget -json.
type budgetReport struct {
	Kind    string          `json:"kind"`
	Epsilon float64         `json:"epsilon"`
	Delta   float64         `json:"delta"`
	Whole   potsReport      `json:"whole"`
	Records uint64          `json:"records"`
	Head    string          `json:"head"` // for -at
	Units   []balanceReport `json:"units"`
	Spends  []spendReport   `json:"spends"`
	Ledger  string          `json:"ledger"`
}

type balanceReport struct {
	Unit         string     `json:"unit"` // keyed hash
	Kind         string     `json:"kind"`
	Spent        potsReport `json:"spent"`
	Remaining    potsReport `json:"remaining"`
	EpsilonSpent float64    `json:"epsilon_spent"`
	EpsilonBasic float64    `json:"epsilon_basic"` // by basic composition of the pots
}

// spendReport is one spend: what it was stated as, what it was charged, and the
// release it was for.
type spendReport struct {
	Sequence    uint64     `json:"sequence"`
	Unit        string     `json:"unit"`
	Release     string     `json:"release"`
	Epsilon     float64    `json:"epsilon"` // of the noise, 0 when stated as rho
	Delta       float64    `json:"delta"`
	Rho         float64    `json:"rho"`
	PureEpsilon float64    `json:"pure_epsilon"`
	Cost        potsReport `json:"cost"`
	Released    bool       `json:"released"`
}

func reportBudget(s *mechanism.Snapshot, path string, balances []mechanism.Balance, entries []mechanism.Entry) budgetReport {
	r := budgetReport{
		Kind: s.Total.Kind.String(), Epsilon: s.Total.Epsilon, Delta: s.Total.Delta, Whole: reportPots(s.Whole),
		Records: s.Sequence, Head: headOf(s), Units: make([]balanceReport, len(balances)), Spends: make([]spendReport, len(entries)), Ledger: path,
	}
	for i, b := range balances {
		r.Units[i] = balanceReport{b.Unit, b.UnitKind, reportPots(b.Spent), reportPots(b.Remaining), b.Epsilon, basicEpsilon(b, s.Total)}
	}
	for i, s := range entries {
		r.Spends[i] = spendReport{
			s.Sequence, s.Unit, hex.EncodeToString(s.ReleaseID[:]), s.Spend.Epsilon, s.Spend.Delta, s.Spend.Rho, s.Spend.PureEpsilon, reportPots(s.Cost), s.Committed,
		}
	}
	return r
}

// basicEpsilon is what basic composition says of what a unit has spent: the epsilon of
// its noise, all taken together, plus that of the pure pot. Without two pots there is
// nothing to compose.
func basicEpsilon(b mechanism.Balance, t mechanism.Total) float64 {
	if t.Kind != mechanism.Mixed {
		return b.Epsilon
	}
	return b.Spent.Pure.Float() + epsilonOfRho(b.Spent.Rho, t)
}

// epsilonOfRho is the epsilon of Gaussian noise at the delta of a total, 0 where the
// kind counts none.
func epsilonOfRho(rho mechanism.Amount, t mechanism.Total) float64 {
	epsilon, err := mechanism.EpsilonAt(math.Sqrt(2*rho.Float()), t.Delta)
	if err != nil {
		return 0
	}
	return epsilon
}

// writeTotal says what every unit has.
func writeTotal(w io.Writer, s *mechanism.Snapshot) {
	fmt.Fprintf(w, "budget\t%s for every unit\n", s.Total)
	if s.Total.Kind != mechanism.Mixed {
		return
	}
	alone := epsilonOfRho(s.Whole.Rho, s.Total)
	fmt.Fprintf(w, "pots\tpure epsilon %g, and mu %.4g for noise: epsilon %.4g at that delta by itself\n", s.Total.PureEpsilon, math.Sqrt(2*s.Whole.Rho.Float()), alone)
	fmt.Fprintf(w, "\ta unit that has used up both has spent epsilon %g; basic composition would say %.4g\n", s.Total.Epsilon, s.Total.PureEpsilon+alone)
}

// writeBalances prints a line for each unit, with the pots that the ledger has.
func writeBalances(w io.Writer, s *mechanism.Snapshot, balances []mechanism.Balance) error {
	t := s.Total
	pure, noise := t.Kind == mechanism.Pure || t.Kind == mechanism.Mixed, t.Kind != mechanism.Pure
	columns := []string{"unit", "kind"}
	if pure {
		columns = append(columns, "pure spent", "pure left")
	}
	switch t.Kind {
	case mechanism.Mixed:
		columns = append(columns, "noise spent", "noise left")
	case mechanism.GDP, mechanism.ZCDP:
		columns = append(columns, "spent", "left")
	}
	columns = append(columns, "epsilon so far")
	if t.Kind == mechanism.Mixed {
		columns = append(columns, "by basic composition")
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, b := range balances {
		row := []string{b.Unit, b.UnitKind}
		if pure {
			row = append(row, fmt.Sprintf("%.4g", b.Spent.Pure.Float()), fmt.Sprintf("%.4g", b.Remaining.Pure.Float()))
		}
		if noise {
			whole := s.Whole.Rho.Float()
			row = append(row, fmt.Sprintf("%.3f %%", 100*b.Spent.Rho.Float()/whole), fmt.Sprintf("%.3f %%", 100*b.Remaining.Rho.Float()/whole))
		}
		row = append(row, fmt.Sprintf("%.4g", b.Epsilon))
		if t.Kind == mechanism.Mixed {
			row = append(row, fmt.Sprintf("%.4g", basicEpsilon(b, t)))
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	fmt.Fprintln(table, "\nEpsilon so far is right for spends that were fixed beforehand, and an estimate otherwise; what is proved is the budget.")
	return table.Flush()
}

// writeRemaining says what a unit has left.
func writeRemaining(w io.Writer, ledger *mechanism.Ledger, unit mechanism.Unit) {
	total := ledger.Total()
	spent, err := ledger.EpsilonAt(unit, total.Delta)
	if err != nil {
		fmt.Fprintln(w, "its balance could not be read")
		return
	}
	left, _ := ledger.Remaining(unit)
	fmt.Fprintf(w, "this unit has spent epsilon %.4g of %g so far; left ", spent, total.Epsilon)
	switch total.Kind {
	case mechanism.Mixed:
		fmt.Fprintf(w, "are pure epsilon %.4g and noise of epsilon %.4g\n", left.Pure.Float(), epsilonOfRho(left.Rho, total))
	case mechanism.GDP:
		fmt.Fprintf(w, "is noise of epsilon %.4g\n", epsilonOfRho(left.Rho, total))
	case mechanism.ZCDP:
		fmt.Fprintf(w, "is rho %.4g\n", left.Rho.Float())
	default:
		fmt.Fprintf(w, "is epsilon %.4g\n", left.Pure.Float())
	}
}
