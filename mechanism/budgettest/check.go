// Package budgettest tests whether an implementation of mechanism.Budget keeps its
// promises:
//
//	err := budgettest.Check(budgettest.Settings{
//		New:    func(total mechanism.Total) (mechanism.Budget, error) { ... },
//		Reopen: func(budget mechanism.Budget) (mechanism.Budget, error) { ... },
//	})
//
// It cannot test a power cut: the author of the budget has to prove that a spend is on a
// disk, and not only in the memory of some machine. A budget that passes may still have
// faults that no test looks for.
package budgettest

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Settings say how budgets are made.
type Settings struct {
	// New makes an unspent budget with this total for each unit. Required.
	New func(total mechanism.Total) (mechanism.Budget, error)
	// Reopen returns a budget in the state after its process was killed: nothing was
	// closed, and the memory of that process is lost. The budget given is not used
	// afterwards. Required, except for mechanism.NoLedger.
	Reopen func(budget mechanism.Budget) (mechanism.Budget, error)
	// Share returns a second access to a budget that stays in use, like that of another
	// process or machine. Default: none, and goroutines share the budget itself.
	Share func(budget mechanism.Budget) (mechanism.Budget, error)
	// Kinds are the kinds of totals that the budget supports. Default: all.
	Kinds []mechanism.Kind
}

// Check makes budgets, spends from them, and returns all broken promises, joined, or
// nil. mechanism.NoLedger passes too; it promises little.
func Check(s Settings) error {
	if s.New == nil {
		return errors.New("Settings.New is missing")
	}
	kinds := s.Kinds
	if len(kinds) == 0 {
		kinds = []mechanism.Kind{mechanism.GDP, mechanism.ZCDP, mechanism.Pure, mechanism.Mixed}
	}
	var all []error
	for _, kind := range kinds {
		c, ok := cases[kind]
		if !ok {
			return fmt.Errorf("unknown kind %v", kind)
		}
		for _, p := range promises {
			if err := s.try(c, p); err != nil {
				all = append(all, fmt.Errorf("%v budget, %s: %w", kind, p.name, err))
			}
		}
	}
	return errors.Join(all...)
}

// protected is the protection of most spends.
var protected = mechanism.AnyRow(sensitivity.ReplaceOne, 2)

// cases has a total of each kind, and a spend that fits a few times.
var cases = map[mechanism.Kind]testCase{
	mechanism.GDP:   {mechanism.Total{Kind: mechanism.GDP, Epsilon: 1, Delta: 1e-6}, mechanism.Spend{Rho: 0.006, Protects: protected}},
	mechanism.ZCDP:  {mechanism.Total{Kind: mechanism.ZCDP, Epsilon: 1, Delta: 1e-6}, mechanism.Spend{Rho: 0.004, PureEpsilon: 0.03, Protects: protected}},
	mechanism.Pure:  {mechanism.Total{Kind: mechanism.Pure, Epsilon: 1}, mechanism.Spend{PureEpsilon: 0.25, Protects: protected}},
	mechanism.Mixed: {mechanism.Total{Kind: mechanism.Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1}, mechanism.Spend{Rho: 0.003, PureEpsilon: 0.25, Protects: protected}},
}

type testCase struct {
	total mechanism.Total
	spend mechanism.Spend
}

// room returns how many of the spends fit the total.
func (c testCase) room() (n int, err error) {
	var spent mechanism.Spent
	for {
		spent, err = c.total.Charge(mechanism.Unit{Kind: release.UnitRecord, Name: "x"}, spent, c.spend)
		if errors.Is(err, mechanism.ErrBudgetExceeded) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		n++
	}
}

// A trial is a fresh budget.
type trial struct {
	Settings
	testCase
	budget mechanism.Budget
	fits   int
}

func (s Settings) try(c testCase, p promise) error {
	fits, err := c.room()
	if err != nil {
		return err
	}
	budget, err := s.New(c.total)
	if err = given(budget, err); err != nil {
		return fmt.Errorf("calling New: %w", err)
	}
	t := &trial{Settings: s, testCase: c, budget: budget, fits: fits}
	if budget == mechanism.NoLedger {
		return t.countsNothing()
	}
	if s.Reopen == nil {
		return errors.New("Settings.Reopen is missing")
	}
	return p.keep(t)
}

// given returns err, or an error where there is no budget either.
func given(budget mechanism.Budget, err error) error {
	if err == nil && budget == nil {
		return errors.New("it returns no budget")
	}
	return err
}

// countsNothing tests the promises of NoLedger.
func (t *trial) countsNothing() error {
	unit, id := t.unit(), newID()
	for range t.fits + 1 {
		receipt, err := t.budget.Reserve(unit, id, t.spend)
		if err != nil || receipt != mechanism.NewReceipt(0, id) {
			return fmt.Errorf("a receipt %v: %w", receipt, orNone(err))
		}
		if err := t.budget.Commit(receipt, sum(id)); err != nil {
			return fmt.Errorf("calling Commit: %w", err)
		}
	}
	if paid, err := t.budget.Paid(newID()); !paid || err != nil {
		return fmt.Errorf("the method Paid says %v: %w", paid, orNone(err))
	}
	if number, err := t.budget.LedgerID(unit); number != [16]byte{} || err != nil {
		return fmt.Errorf("the method LedgerID returns %x: %w", number, orNone(err))
	}
	return nil
}

// reopen continues with the budget in its state after a kill.
func (t *trial) reopen() error {
	budget, err := t.Reopen(t.budget)
	if err = given(budget, err); err != nil {
		return fmt.Errorf("calling Reopen: %w", err)
	}
	t.budget = budget
	return nil
}

// unit returns a unit that has never spent in any run.
func (t *trial) unit() mechanism.Unit {
	return mechanism.Unit{Kind: release.UnitRecord, Name: "unit " + rand.Text(), New: true}
}

// newID returns a release id that has never been used.
func newID() (id [16]byte) {
	rand.Read(id[:]) // does not fail
	return id
}

// pay reserves once with a new id and checks the receipt.
func (t *trial) pay(unit mechanism.Unit) (mechanism.Receipt, error) {
	id := newID()
	receipt, err := t.budget.Reserve(unit, id, t.spend)
	switch {
	case err != nil:
		return receipt, fmt.Errorf("a spend that fits is refused: %w", err)
	case receipt.ReleaseID() != id:
		return receipt, errors.New("the receipt is for another release")
	case receipt.Sequence() == 0:
		return receipt, errors.New("the receipt has the number 0")
	}
	return receipt, nil
}

// payTimes calls pay several times.
func (t *trial) payTimes(unit mechanism.Unit, times int) (receipts []mechanism.Receipt, err error) {
	for i := range times {
		receipt, err := t.pay(unit)
		if err != nil {
			return nil, fmt.Errorf("spend %d of %d: %w", i+1, t.fits, err)
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}

// refused demands that one more spend of a unit is refused with the given error.
func (t *trial) refused(unit mechanism.Unit, id [16]byte, spend mechanism.Spend, want error) error {
	_, err := t.budget.Reserve(unit, id, spend)
	return t.wants(err, want, unit)
}

// wants compares errors, and looks for the name of a unit in one.
func (t *trial) wants(err, want error, unit mechanism.Unit) error {
	switch {
	case err == nil:
		return fmt.Errorf("it is granted, want an error that matches %q", want)
	case !errors.Is(err, want):
		return fmt.Errorf("the error does not match %q: %w", want, err)
	case names(err, unit):
		return errors.New("an error holds the name of a unit")
	}
	return nil
}

// full demands that a unit has spent everything.
func (t *trial) full(unit mechanism.Unit) error {
	return t.refused(unit, newID(), t.spend, mechanism.ErrBudgetExceeded)
}

// left demands that a unit can spend exactly that many times more.
func (t *trial) left(unit mechanism.Unit, times int) error {
	if _, err := t.payTimes(unit, times); err != nil {
		return err
	}
	if err := t.full(unit); err != nil {
		return fmt.Errorf("after everything was spent: %w", err)
	}
	return nil
}
