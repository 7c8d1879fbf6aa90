package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

func budgetVerb() cli.Verb {
	return cli.Verb{
		Name:    "budget",
		Summary: "create or show the ledger that counts what releases have cost",
		Synopsis: []string{
			"create LEDGER -epsilon E -delta D [-kind gdp|zcdp|pure]",
			"show LEDGER [-unit NAME] [-unit-kind record|client]",
		},
		About: `
A ledger holds the same budget for every unit: one record, or one client with all its
records. What a unit has spent is never given back, and a request that does not fit is
refused. The budget and the way it adds up are fixed when the ledger is created:

  gdp   Gaussian differential privacy: exact for the releases of this program
  zcdp  zero-concentrated differential privacy, where pure mechanisms dominate
  pure  epsilon adds up and delta is 0; no Gaussian release fits in

Units are shown by a keyed hash; -unit NAME shows one by its name. Keep the number and the hash
of the last record somewhere else: a ledger restored from an old copy has forgotten what was
spent since, and nothing in the file can tell.`,
		Examples: []string{
			"privatemail budget create me.ledger -epsilon 1 -delta 1e-6",
			"privatemail budget show me.ledger -unit birds",
		},
		Prints: cli.PrintsJSON,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(budgetFlags)
			f.define(fs)
			return func(_ context.Context, e *cli.Env, names []string) error { return f.run(e, names, given(fs)) }
		},
	}
}

type budgetFlags struct {
	epsilon, delta       float64
	kind, unit, unitKind string
}

func (f *budgetFlags) define(fs *flag.FlagSet) {
	numberVar(fs, &f.epsilon, "epsilon", 0, positive(), "create: budget `E` of every unit")
	numberVar(fs, &f.delta, "delta", 0, fraction(), "create: delta `D` of the budget; not for -kind pure")
	choiceVar(fs, &f.kind, "kind", mechanism.GDP.String(), []string{mechanism.GDP.String(), mechanism.ZCDP.String(), mechanism.Pure.String()}, "create: how spends add up, `KIND` is gdp, zcdp or pure")
	fs.StringVar(&f.unit, "unit", "", "show: only the unit `NAME`")
	choiceVar(fs, &f.unitKind, "unit-kind", release.UnitRecord, []string{release.UnitRecord, release.UnitClient}, "show: `KIND` of -unit, record or client")
}

func (f *budgetFlags) run(e *cli.Env, names []string, set map[string]bool) error {
	if len(names) != 2 || names[0] != "create" && names[0] != "show" {
		return cli.Usagef("want 'budget create LEDGER' or 'budget show LEDGER'; run 'privatemail budget -h'")
	}
	if names[0] == "create" {
		return f.create(e, names[1], set)
	}
	for _, name := range []string{"epsilon", "delta", "kind"} {
		if set[name] {
			return cli.Usagef("-%s is fixed when a ledger is created; leave it out", name)
		}
	}
	return f.show(e, names[1])
}

func (f *budgetFlags) create(e *cli.Env, path string, set map[string]bool) error {
	if set["unit"] || set["unit-kind"] {
		return cli.Usagef("-unit is for show: every unit has the whole budget when a ledger is created")
	}
	kind, err := mechanism.KindByName(f.kind)
	if err != nil {
		return err
	}
	switch {
	case f.epsilon == 0:
		return cli.Usagef("-epsilon E is missing: how much may each unit spend in all?")
	case kind == mechanism.Pure && f.delta != 0:
		return cli.Usagef("-kind pure has delta 0: leave out -delta, or choose another kind")
	case kind != mechanism.Pure && f.delta == 0:
		return cli.Usagef("-delta D is missing: the probability with which the guarantee may fail, far below 1/(number of people)")
	}
	if !fileExists(path) { // otherwise it is left as it is, and that is said below
		if err := checkPlace(path); err != nil {
			return err
		}
	}
	total := mechanism.Total{Kind: kind, Epsilon: f.epsilon, Delta: f.delta}
	if err := mechanism.CreateLedger(path, total); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: exists already and is left as it is; a ledger is never overwritten", path)
	} else if err != nil {
		return err
	}
	if e.JSON {
		return f.show(e, path)
	}
	fmt.Fprintf(e.Stdout, "created %s: epsilon %g, delta %g for every unit (%s)\n", path, f.epsilon, f.delta, f.kind)
	return nil
}

// budgetReport is the object of budget -json.
type budgetReport struct {
	Kind    string          `json:"kind"`
	Epsilon float64         `json:"epsilon"`
	Delta   float64         `json:"delta"`
	Rho     float64         `json:"rho"` // of the whole budget; epsilon in a pure ledger
	Records uint64          `json:"records"`
	Head    string          `json:"head"`
	Units   []balanceReport `json:"units"`
	Spends  []spendReport   `json:"spends"`
	Ledger  string          `json:"ledger"`
}

type balanceReport struct {
	Unit         string  `json:"unit"` // keyed hash
	Kind         string  `json:"kind"`
	Spent        float64 `json:"spent"`     // in rho; epsilon in a pure ledger
	Remaining    float64 `json:"remaining"` // the same
	EpsilonSpent float64 `json:"epsilon_spent"`
}

// spendReport is one spend: what it was stated as, what it was charged, and the
// release it was for.
type spendReport struct {
	Sequence     uint64  `json:"sequence"`
	Unit         string  `json:"unit"`
	Release      string  `json:"release"`
	Epsilon      float64 `json:"epsilon"` // of the noise, 0 when stated as rho
	Delta        float64 `json:"delta"`
	Rho          float64 `json:"rho"`
	LabelEpsilon float64 `json:"label_epsilon"`
	Amount       float64 `json:"amount"` // in rho; epsilon in a pure ledger
	Released     bool    `json:"released"`
}

func (f *budgetFlags) show(e *cli.Env, path string) error {
	s, err := mechanism.ReadLedger(path)
	if err != nil {
		return ledgerTrouble(path, err)
	}
	balances, entries := s.Balances, s.Entries
	if f.unit != "" {
		unit := mechanism.Unit{Kind: f.unitKind, Name: f.unit}
		one, err := s.Balance(unit)
		if errors.Is(err, mechanism.ErrUnknownUnit) {
			return unknownUnit(s, path, unit, "")
		} else if err != nil {
			return err
		}
		balances = []mechanism.Balance{one}
		entries = slices.DeleteFunc(slices.Clone(entries), func(s mechanism.Entry) bool { return s.Unit != one.Unit })
	}
	if e.JSON {
		r := budgetReport{
			Kind: s.Total.Kind.String(), Epsilon: s.Total.Epsilon, Delta: s.Total.Delta, Rho: s.Whole.Float(),
			Records: s.Sequence, Head: hex.EncodeToString(s.Hash[:]), Units: make([]balanceReport, len(balances)), Ledger: path,
		}
		for i, b := range balances {
			r.Units[i] = balanceReport{b.Unit, b.UnitKind, b.Spent.Float(), b.Remaining.Float(), b.Epsilon}
		}
		r.Spends = []spendReport{}
		for _, s := range entries {
			r.Spends = append(r.Spends, spendReport{
				s.Sequence, s.Unit, hex.EncodeToString(s.ReleaseID[:]), s.Spend.Epsilon, s.Spend.Delta, s.Spend.Rho, s.Spend.PureEpsilon, s.Amount.Float(), s.Committed,
			})
		}
		return e.Object(r)
	}
	t := facts(e.Stdout)
	fmt.Fprintf(t, "budget\tepsilon %g, delta %g for every unit (%s)\n", s.Total.Epsilon, s.Total.Delta, s.Total.Kind)
	fmt.Fprintf(t, "spends\t%d, in %d records, the last with hash %x\n", len(s.Entries), s.Sequence, s.Hash[:8])
	t.Flush()
	if len(balances) == 0 {
		fmt.Fprintln(e.Stdout, "nothing has been spent")
		return nil
	}
	fmt.Fprintln(e.Stdout)
	table := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "unit\tkind\tspent\tleft\tepsilon so far")
	whole := s.Whole.Float()
	for _, b := range balances {
		fmt.Fprintf(table, "%s\t%s\t%.3f %%\t%.3f %%\t%.4g\n", b.Unit, b.UnitKind, 100*b.Spent.Float()/whole, 100*b.Remaining.Float()/whole, b.Epsilon)
	}
	if err := table.Flush(); err != nil || f.unit == "" {
		return err
	}
	// Of one unit all spends, too.
	fmt.Fprintln(e.Stdout)
	table = tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "spend\trelease\tepsilon\tdelta\tlabels\t")
	for _, s := range entries {
		note := ""
		if !s.Committed {
			note = "no release was finished"
		}
		fmt.Fprintf(table, "%d\t%x\t%g\t%g\t%g\t%s\n", s.Sequence, s.ReleaseID, s.Spend.Epsilon, s.Spend.Delta, s.Spend.PureEpsilon, note)
	}
	return table.Flush()
}

// openLedger opens a ledger to spend from it.
func openLedger(path string) (*mechanism.Ledger, error) {
	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		return nil, ledgerTrouble(path, err)
	}
	return ledger, nil
}

// ledgerTrouble adds what a user can do about an error of a ledger.
func ledgerTrouble(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such ledger; create one with 'privatemail budget create %s -epsilon E -delta D'", path, path)
	case errors.Is(err, mechanism.ErrLocked):
		return fmt.Errorf("%s: another process is spending from this ledger; wait for it to end", path)
	}
	return fmt.Errorf("%s: %w", path, bare(err))
}

// writeRemaining says what a unit has left.
func writeRemaining(w io.Writer, ledger *mechanism.Ledger, unit mechanism.Unit) {
	total := ledger.Total()
	spent, err := ledger.EpsilonAt(unit, total.Delta)
	if err != nil {
		fmt.Fprintln(w, "its balance could not be read")
		return
	}
	fmt.Fprintf(w, "this unit has spent epsilon %.4g of %g\n", spent, total.Epsilon)
}
