// Package budget is the verb budget: it creates, shows and verifies ledgers.
package budget

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:    "budget",
		Summary: "create, show or verify the ledger of what releases cost",
		Synopsis: []string{
			"create LEDGER -epsilon E -delta D [-kind mixed|gdp|zcdp|pure] [-pure-share P]",
			"show LEDGER [-unit NAME] [-unit-kind record|client] [-at HEAD]",
			"verify LEDGER RELEASE... [-at HEAD]",
		},
		About: `
A ledger holds the same budget for every unit: a name for rows that are released
together, or for a client. 'budget create' makes a ledger, 'budget show' lists
what its units have spent, and 'budget verify' says which spend has paid for a
release. What a unit has spent is never given back, and a request that does not
fit is refused. Keep the head that is printed somewhere else and give it to -at:
a ledger that was restored from an old copy has forgotten what was spent since.`,
		More: `
The budget and the way it adds up are fixed when the ledger is created, by -kind:

  mixed  two pots: a pure epsilon, for randomised labels and for queries of mode cells, and
         Gaussian privacy, for the noise of releases. -pure-share P makes the pure pot
         P times E; the other is the most that keeps both together within E and D
  gdp    Gaussian differential privacy: exact for noise alone; a pure epsilon is charged
         the least Gaussian mu that covers it, which is a high price
  zcdp   zero-concentrated differential privacy, for many small pure epsilons
  pure   epsilon adds up and delta is 0; no Gaussian release fits in

What a unit has spent adds up for the pairs of data sets that all its spends protect. They follow
from -relation, -records, -private-rows and -rest-public of its releases, and are shown with each
total. A spend that protects others is refused without -other-relation. Spends of ledgers that do
not note it are of an unknown relation.

Units are shown by a keyed hash; -unit NAME shows one by its name.

The hashes that chain the lines of a ledger find accidents, not edits: they have no key, so one who
edits the file can compute them again. A ledger restored from an old copy has forgotten what was
spent since, and so has one that lost lines at its end; nothing in the file can show it. Keep the
head that is printed somewhere else and give it to -at, here and with privatize: a ledger that has
not gone through that state is refused. What came after it is not checked, so keep the newest.

verify says for each release which spend of the ledger paid for it. A release that was not paid for,
or is not the one that was, makes it fail. Spends without a release among the files are listed.`,
		Examples: []string{
			"privatemail budget create me.ledger -epsilon 2 -delta 1e-6",
			"privatemail budget show me.ledger -unit birds",
			"privatemail budget verify me.ledger birds.release",
		},
		Prints: cli.PrintsJSON,
		Define: settings.Steered[budgetFlags],
	}
}

type budgetFlags struct {
	epsilon, delta, pureShare float64
	kind, unit, unitKind      string
	at                        accounts.Head
}

func (f *budgetFlags) Define(fs *flag.FlagSet) {
	kinds := []string{mechanism.Mixed.String(), mechanism.GDP.String(), mechanism.ZCDP.String(), mechanism.Pure.String()}
	settings.NumberVar(fs, &f.epsilon, "epsilon", 0, settings.Positive(), "create: budget `E` of every unit")
	settings.NumberVar(fs, &f.delta, "delta", 0, settings.Fraction(), "create: delta `D` of the budget; not for -kind pure")
	settings.ChoiceVar(fs, &f.kind, "kind", mechanism.Mixed.String(), kinds, "create: how spends add up: `KIND`\nis mixed, gdp, zcdp or pure")
	settings.NumberVar(fs, &f.pureShare, "pure-share", 0.5, settings.Fraction(), "create: the pure pot of mixed is `P` times E")
	fs.StringVar(&f.unit, "unit", "", "show: only the unit `NAME`")
	settings.ChoiceVar(fs, &f.unitKind, "unit-kind", release.UnitRecord, []string{release.UnitRecord, release.UnitClient}, "show: `KIND` of -unit, record or client")
	accounts.HeadVar(fs, &f.at)
}

func (f *budgetFlags) Run(_ context.Context, e *cli.Env, names []string, set map[string]bool) error {
	const verbs = "'budget create LEDGER', 'budget show LEDGER' or 'budget verify LEDGER RELEASE...'"
	if len(names) == 0 {
		return cli.Usagef("want %s; run 'privatemail budget -h'", verbs)
	}
	verb, paths := names[0], names[1:]
	flags := map[string][]string{
		"create": {"epsilon", "delta", "kind", "pure-share"}, "show": {"unit", "unit-kind", "at"}, "verify": {"at"},
	}
	if flags[verb] == nil || len(paths) == 0 || verb != "verify" && len(paths) > 1 {
		return cli.Usagef("want %s; run 'privatemail budget -h'", verbs)
	}
	for other, those := range flags {
		for _, name := range those {
			if set[name] && !slices.Contains(flags[verb], name) {
				return cli.Usagef("-%s is for budget %s, not for %s: leave it out", name, other, verb)
			}
		}
	}
	if set["unit"] && f.unit == "" {
		return cli.Usagef("-unit needs a name; leave it out to see all units")
	}
	switch verb {
	case "create":
		return f.create(e, paths[0], set)
	case "show":
		return f.show(e, paths[0])
	}
	return verify(e, paths[0], paths[1:], f.at)
}

func (f *budgetFlags) create(e *cli.Env, path string, set map[string]bool) error {
	kind, err := mechanism.KindByName(f.kind)
	if err != nil {
		return err
	}
	switch {
	case path == accounts.NoLedger:
		return cli.Usagef("-ledger none means no ledger: name this one otherwise, or write ./none")
	case f.epsilon == 0:
		return cli.Usagef("-epsilon E is missing: how much may each unit spend in all?")
	case kind == mechanism.Pure && f.delta != 0:
		return cli.Usagef("-kind pure has delta 0: leave out -delta, or choose another kind")
	case kind != mechanism.Pure && f.delta == 0:
		return cli.Usagef("-delta D is missing: what may be added to every probability, far below 1/(number of people)")
	case kind != mechanism.Mixed && set["pure-share"]:
		return cli.Usagef("-pure-share is for -kind mixed, which alone has two pots: leave it out, or choose that kind")
	}
	if !files.Exists(path) { // otherwise it is left as it is, and that is said below
		if err := files.CheckPlace(path); err != nil {
			return err
		}
	}
	total := mechanism.Total{Kind: kind, Epsilon: f.epsilon, Delta: f.delta}
	if kind == mechanism.Mixed {
		total.PureEpsilon = f.pureShare * f.epsilon
	}
	if err := mechanism.CreateLedger(path, total); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: exists already and is left as it is; a ledger is never overwritten", path)
	} else if err != nil {
		return err
	}
	if e.JSON {
		return f.show(e, path)
	}
	s, err := accounts.ReadLedger(path, accounts.Head{})
	if err != nil {
		return err
	}
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "created\t%s\n", path)
	accounts.WriteTotal(t, s)
	fmt.Fprintf(t, "head\t%s; keep it elsewhere, and give it to -at\n", accounts.HeadOf(s))
	return t.Flush()
}

func (f *budgetFlags) show(e *cli.Env, path string) error {
	s, err := accounts.ReadLedger(path, f.at)
	if err != nil {
		return err
	}
	balances, entries := s.Balances, s.Entries
	if f.unit != "" {
		unit := mechanism.Unit{Kind: f.unitKind, Name: f.unit}
		one, err := s.Balance(unit)
		if errors.Is(err, mechanism.ErrUnknownUnit) {
			return accounts.UnknownUnit(s, path, unit, "")
		} else if err != nil {
			return err
		}
		balances = []mechanism.Balance{one}
		entries = slices.DeleteFunc(slices.Clone(entries), func(s mechanism.Entry) bool { return s.Unit != one.Unit })
	}
	if e.JSON {
		return e.Object(accounts.BudgetOf(s, path, balances, entries))
	}
	t := report.Facts(e.Stdout)
	accounts.WriteTotal(t, s)
	fmt.Fprintf(t, "spends\t%d, in %d lines of the ledger: a line for each, and one more for a finished release\n", len(s.Entries), s.Sequence)
	fmt.Fprintf(t, "head\t%s\n", accounts.HeadOf(s))
	if len(balances) == 0 {
		t.Flush()
		fmt.Fprintln(e.Stdout, "nothing has been spent")
		return nil
	}
	if f.unit != "" {
		account := accounts.AccountOf(s, balances[0])
		fmt.Fprintf(t, "unit\t%s, which stands for the %s %q\n", balances[0].Unit, f.unitKind, f.unit)
		account.Write(t)
		t.Flush()
		fmt.Fprintln(e.Stdout)
		return account.WriteSpends(e.Stdout)
	}
	t.Flush()
	fmt.Fprintln(e.Stdout)
	return accounts.WriteBalances(e.Stdout, s, balances)
}
