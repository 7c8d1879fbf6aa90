package accounts

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// PotsReport is an amount in each pot, as -json has it.
type PotsReport struct {
	Rho  float64 `json:"rho"`  // all there is in a gdp or zcdp ledger
	Pure float64 `json:"pure"` // epsilon, all there is in a pure ledger
}

func ReportPots(p mechanism.Pots) PotsReport { return PotsReport{p.Rho.Float(), p.Pure.Float()} }

// budgetReport is the object of budget -json.
type budgetReport struct {
	Kind    string          `json:"kind"`
	Epsilon float64         `json:"epsilon"`
	Delta   float64         `json:"delta"`
	Whole   PotsReport      `json:"whole"`
	Records uint64          `json:"records"`
	Head    string          `json:"head"` // for -at
	Units   []balanceReport `json:"units"`
	Spends  []SpendReport   `json:"spends"`
	Ledger  string          `json:"ledger"`
}

type balanceReport struct {
	Unit         string     `json:"unit"` // keyed hash
	Kind         string     `json:"kind"`
	Spent        PotsReport `json:"spent"`
	Remaining    PotsReport `json:"remaining"`
	EpsilonSpent float64    `json:"epsilon_spent"`
	EpsilonBasic float64    `json:"epsilon_basic"` // by basic composition of the pots
	// Protects says which pairs of data sets these numbers are for, "none" where all spends
	// together protect no pair that is known, "unknown" where that was not noted.
	Protects  string           `json:"protects"`
	Subtotals []subtotalReport `json:"subtotals,omitempty"`
}

// SpendReport is one spend: what it was stated as, what it was charged, and the
// release it was for.
type SpendReport struct {
	Sequence    uint64     `json:"sequence"`
	Unit        string     `json:"unit"`
	Release     string     `json:"release"`
	Epsilon     float64    `json:"epsilon"` // of the noise, 0 when stated as rho
	Delta       float64    `json:"delta"`
	Rho         float64    `json:"rho"`
	PureEpsilon float64    `json:"pure_epsilon"`
	Cost        PotsReport `json:"cost"`
	Released    bool       `json:"released"`
	Protects    string     `json:"protects"` // "unknown" where it was not noted
}

func BudgetOf(s *mechanism.Snapshot, path string, balances []mechanism.Balance, entries []mechanism.Entry) budgetReport {
	r := budgetReport{
		Kind: s.Total.Kind.String(), Epsilon: s.Total.Epsilon, Delta: s.Total.Delta, Whole: ReportPots(s.Whole),
		Records: s.Sequence, Head: HeadOf(s), Units: make([]balanceReport, len(balances)), Spends: make([]SpendReport, len(entries)), Ledger: path,
	}
	for i, b := range balances {
		r.Units[i] = balanceReport{b.Unit, b.UnitKind, ReportPots(b.Spent), ReportPots(b.Remaining), b.Epsilon, basicEpsilon(b, s.Total), mechanism.AllProtect(b.Kinds()...), reportSubtotals(b.Subtotals)}
	}
	for i, s := range entries {
		r.Spends[i] = SpendReport{
			s.Sequence, s.Unit, hex.EncodeToString(s.ReleaseID[:]), s.Spend.Epsilon, s.Spend.Delta, s.Spend.Rho, s.Spend.PureEpsilon, ReportPots(s.Cost), s.Committed, s.Spend.Protects.String(),
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

// WriteTotal says what every unit has.
func WriteTotal(w io.Writer, s *mechanism.Snapshot) {
	t := s.Total
	fmt.Fprintf(w, "budget\t%s for every unit\n", t)
	if t.Kind != mechanism.Mixed {
		return
	}
	fmt.Fprintf(w, "pots\tepsilon %s at that delta for noise (mu %s), epsilon %g for pure mechanisms\n", Closely(epsilonOfRho(s.Whole.Rho, t)), AtLeast(math.Sqrt(2*s.Whole.Rho.Float()), 4), t.PureEpsilon)
	fmt.Fprintf(w, "\ta unit that has used up both has spent epsilon %g\n", t.Epsilon)
}

// WriteBalances prints a line for each unit, with the pots that the ledger has.
func WriteBalances(w io.Writer, s *mechanism.Snapshot, balances []mechanism.Balance) error {
	t := s.Total
	pure, noise := t.Kind == mechanism.Pure || t.Kind == mechanism.Mixed, t.Kind != mechanism.Pure
	columns := []string{"unit", "kind", "spends", "epsilon so far"}
	if noise {
		columns = append(columns, "noise that still fits")
	}
	if pure {
		columns = append(columns, "pure epsilon that still fits")
	}
	columns = append(columns, "protects")
	spends := make(map[string]int)
	for _, entry := range s.Entries {
		spends[entry.Unit]++
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, b := range balances {
		row := []string{b.Unit, b.UnitKind, strconv.Itoa(spends[b.Unit]), fmt.Sprintf("%s of %g", Closely(b.Epsilon), t.Epsilon)}
		if noise {
			row = append(row, "epsilon "+stillFits(b.Remaining.Rho, t))
		}
		if pure {
			row = append(row, AtLeast(b.Remaining.Pure.Float(), 4))
		}
		row = append(row, mechanism.AllProtect(b.Kinds()...))
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	if noise {
		fmt.Fprintf(table, "\nNoise that still fits is one more release of at most that epsilon, at delta %g. It is not the budget less\nepsilon so far, because noise adds up by rho, not by epsilon.\n", t.Delta)
	}
	fmt.Fprintln(table, "\nEpsilon so far is right for spends that were fixed beforehand, and an estimate otherwise; what is proved is the budget.\nBoth are for the pairs of data sets in the last column, which every spend of the unit protects, and for no others;\nwhere it says none, the spends of the unit together promise nothing; where it says unknown, the ledger has not noted\nwhat a spend protects, and the numbers are for no pair that is known. -unit NAME shows its spends.")
	return table.Flush()
}
