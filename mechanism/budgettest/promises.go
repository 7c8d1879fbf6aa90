package budgettest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A promise is tested on a fresh budget.
type promise struct {
	name string
	keep func(*trial) error
}

var promises = []promise{
	{"spends that fit are granted, and no others", (*trial).grantsWhatFits},
	{"spends of all sizes", (*trial).allSizes},
	{"units do not share", (*trial).unitsAreApart},
	{"receipts differ", (*trial).receipts},
	{"a release id is paid for once", (*trial).idsPayOnce},
	{"an unknown unit needs New", (*trial).newUnits},
	{"another relation needs OtherRelation", (*trial).otherRelation},
	{"bad input is refused", (*trial).badInput},
	{"nothing is given back", (*trial).givesNothingBack},
	{"a spend is committed once", (*trial).commits},
	{"Paid reports paid releases", (*trial).paid},
	{"the number of the ledger", (*trial).ledgerID},
	{"callers at the same time", (*trial).atOnce},
	{"one release id at the same time", (*trial).oneIDAtOnce},
	{"a second access reaches the same budget", (*trial).oneBudget},
	{"spends are durable", (*trial).durable},
	{"Covers agrees with Reserve", (*trial).covers},
}

func (t *trial) grantsWhatFits() error {
	unit := t.unit()
	if err := t.left(unit, t.fits); err != nil {
		return err
	}
	for range 3 { // a refusal frees nothing
		if err := t.full(unit); err != nil {
			return err
		}
	}
	return nil
}

// allSizes spends in many sizes and parts until nothing fits, beginning with a different
// part for each unit. Total.Charge decides what fits.
func (t *trial) allSizes() error {
	parts := []mechanism.Spend{{Rho: 0.002}, {PureEpsilon: 0.06}, {Rho: 0.001, PureEpsilon: 0.04}, {Epsilon: 0.05, Delta: 1e-7}}
	for first := range parts {
		unit := t.unit()
		var spent mechanism.Spent
		for i := range parts {
			var err error
			if spent, err = t.spendAll(unit, spent, parts[(first+i)%len(parts)]); err != nil {
				return err
			}
		}
		if err := t.reopen(); err != nil {
			return err
		}
	}
	return nil
}

// spendAll spends one or a few times a part of a spend until 4 in a row are refused,
// and returns the total spent by the unit.
func (t *trial) spendAll(unit mechanism.Unit, spent mechanism.Spent, part mechanism.Spend) (mechanism.Spent, error) {
	sizes := []float64{1, 6, 2.5, 0.3}
	for i, refused := 0, 0; refused < len(sizes); i++ {
		by := sizes[i%len(sizes)]
		spend := mechanism.Spend{Rho: by * part.Rho, PureEpsilon: by * part.PureEpsilon, Epsilon: by * part.Epsilon, Delta: part.Delta, Protects: protected}
		after, want := t.total.Charge(unit, spent, spend)
		if want != nil && !errors.Is(want, mechanism.ErrBudgetExceeded) {
			return spent, nil // not for this kind of budget
		}
		if want != nil {
			refused++
			if err := t.refused(unit, newID(), spend, mechanism.ErrBudgetExceeded); err != nil {
				return spent, fmt.Errorf("the spend %+v: %w", spend, err)
			}
			continue
		}
		refused, spent = 0, after
		if _, err := t.budget.Reserve(unit, newID(), spend); err != nil {
			return spent, fmt.Errorf("the spend %+v fits and is refused: %w", spend, err)
		}
	}
	return spent, nil
}

func (t *trial) unitsAreApart() error {
	one := t.unit()
	client := one
	client.Kind = release.UnitClient
	longer := one
	longer.Name += "x"
	for _, unit := range []mechanism.Unit{one, client, longer} {
		if err := t.left(unit, t.fits); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) receipts() error {
	seen := map[uint64]bool{}
	for range 2 {
		for _, unit := range []mechanism.Unit{t.unit(), t.unit()} {
			receipts, err := t.payTimes(unit, 2)
			if err != nil {
				return err
			}
			for _, r := range receipts {
				if seen[r.Sequence()] {
					return fmt.Errorf("two spends have the number %d", r.Sequence())
				}
				seen[r.Sequence()] = true
			}
		}
		if err := t.reopen(); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) idsPayOnce() error {
	unit := t.unit()
	receipt, err := t.pay(unit)
	if err != nil {
		return err
	}
	id := receipt.ReleaseID()
	for _, state := range []string{"at once", "after its commit", "after Reopen"} {
		for _, u := range []mechanism.Unit{unit, t.unit()} {
			for _, spend := range []mechanism.Spend{t.spend, half(t.spend)} {
				if err := t.refused(u, id, spend, mechanism.ErrLedger); err != nil {
					return fmt.Errorf("used again %s: %w", state, err)
				}
			}
		}
		switch state {
		case "at once":
			err = t.budget.Commit(receipt, sum(id))
		case "after its commit":
			err = t.reopen()
		}
		if err != nil {
			return err
		}
	}
	return t.left(unit, t.fits-1) // the refusals cost nothing
}

func (t *trial) newUnits() error {
	fresh := t.unit()
	known := fresh
	known.New = false
	for range 2 { // a refusal does not make the unit known
		if err := t.refused(known, newID(), t.spend, mechanism.ErrUnknownUnit); err != nil {
			return err
		}
	}
	if _, err := t.pay(fresh); err != nil {
		return err
	}
	if _, err := t.pay(known); err != nil {
		return err
	}
	if err := t.reopen(); err != nil {
		return err
	}
	client := known
	client.Kind = release.UnitClient
	if err := t.refused(client, newID(), t.spend, mechanism.ErrUnknownUnit); err != nil {
		return fmt.Errorf("a client with the name of a record: %w", err)
	}
	return t.left(known, t.fits-2)
}

// otherRelation spends for other pairs of data sets than before: first for fewer
// pairs, then for pairs that have none in common with them.
func (t *trial) otherRelation() error {
	unit := t.unit()
	meant := unit
	meant.OtherRelation = true
	small := half(half(half(t.spend)))
	kind := func(p mechanism.Protection) mechanism.Spend {
		small.Protects = p
		return small
	}
	one, features, null := mechanism.AnyRow(sensitivity.ReplaceOne, 1), mechanism.AnyRow(sensitivity.FeaturesReplace, 1), mechanism.AnyRow(sensitivity.Null, 1)
	for _, step := range []struct {
		unit    mechanism.Unit
		spend   mechanism.Spend
		granted bool
	}{
		{unit, kind(protected), true},
		{unit, kind(one), false},
		{unit, kind(mechanism.AnyData()), false},
		{unit, kind(protected), true}, // a refusal is not a spend
		{meant, kind(one), true},
		{unit, kind(one), true}, // what all of them protect
		{unit, kind(protected), false},
		{meant, kind(features), true},
		{unit, kind(one), false},
		{unit, kind(features), true},
		{meant, kind(null), true},
		{unit, kind(null), false}, // no pair is left
		{unit, kind(features), false},
		{meant, kind(features), true},
		{unit, kind(features), false},
	} {
		if err := t.reopen(); err != nil {
			return err
		}
		what := fmt.Sprintf("a spend for %q, with OtherRelation %v", step.spend.Protects, step.unit.OtherRelation)
		if budget, ok := t.budget.(interface {
			Covers(mechanism.Unit, mechanism.Spend) error
		}); ok {
			if err := budget.Covers(step.unit, step.spend); step.granted != (err == nil) {
				return fmt.Errorf("method Covers, %s: %w", what, orNone(err))
			}
		}
		if !step.granted {
			if err := t.refused(step.unit, newID(), step.spend, mechanism.ErrOtherRelation); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		} else if _, err := t.budget.Reserve(step.unit, newID(), step.spend); err != nil {
			return fmt.Errorf("%s, is refused: %w", what, err)
		}
	}
	// Units that have not spent so are not affected, and another relation frees nothing.
	other := t.unit()
	if err := t.left(other, t.fits); err != nil {
		return err
	}
	other.OtherRelation = true
	more := t.spend
	more.Protects = null
	return t.refused(other, newID(), more, mechanism.ErrBudgetExceeded)
}

func (t *trial) badInput() error {
	for _, unit := range []mechanism.Unit{{New: true}, {Kind: release.UnitRecord, New: true}, {Kind: "person", Name: t.unit().Name, New: true}} {
		if err := t.refused(unit, newID(), t.spend, mechanism.ErrParam); err != nil {
			return fmt.Errorf("the unit %q %q: %w", unit.Kind, unit.Name, err)
		}
	}
	unit := t.unit()
	nan, inf := math.NaN(), math.Inf(1)
	for _, spend := range []mechanism.Spend{
		{}, {PureEpsilon: -1}, {PureEpsilon: nan}, {PureEpsilon: inf}, {PureEpsilon: 1000},
		{Rho: -0.001}, {Rho: nan}, {Rho: inf}, {Epsilon: 1}, {Delta: 1e-6}, {Epsilon: nan, Delta: 1e-6}, {Epsilon: -1, Delta: 1e-6}, {Epsilon: 1, Delta: 1e-6, Rho: 0.1},
	} {
		want := mechanism.ErrParam
		spend.Protects = protected
		if _, err := t.total.Charge(unit, mechanism.Spent{}, spend); errors.Is(err, mechanism.ErrLedger) {
			want = mechanism.ErrLedger // noise in a budget of pure epsilon
		}
		if err := t.refused(unit, newID(), spend, want); err != nil {
			return fmt.Errorf("the spend %+v: %w", spend, err)
		}
	}
	unsaid := t.spend
	unsaid.Protects = mechanism.Protection{}
	for _, other := range []bool{false, true} {
		unit.OtherRelation = other
		if err := t.refused(unit, newID(), unsaid, mechanism.ErrParam); err != nil {
			return fmt.Errorf("a spend that does not say what it protects: %w", err)
		}
	}
	unit.OtherRelation = false
	return t.left(unit, t.fits)
}

func (t *trial) givesNothingBack() error {
	unit := t.unit()
	receipts, err := t.payTimes(unit, t.fits)
	if err != nil {
		return err
	}
	nothing := func(after string) error {
		if err := t.full(unit); err != nil {
			return fmt.Errorf("after %s: %w", after, err)
		}
		return nil
	}
	steps := []struct {
		name string
		do   func()
	}{
		{"nothing", func() {}},
		{"a commit", func() { t.budget.Commit(receipts[0], sum(receipts[0].ReleaseID())) }},
		{"a second commit", func() { t.budget.Commit(receipts[0], sum(newID())) }},
		{"a commit without a receipt", func() { t.budget.Commit(mechanism.Receipt{}, sum(newID())) }},
		{"a used id", func() { t.budget.Reserve(unit, receipts[1].ReleaseID(), t.spend) }},
		{"a negative spend", func() { t.budget.Reserve(unit, newID(), negative(t.spend)) }},
	}
	for _, step := range steps {
		step.do()
		if err := nothing(step.name); err != nil {
			return err
		}
	}
	if err := t.reopen(); err != nil {
		return err
	}
	return nothing("Reopen")
}

func negative(s mechanism.Spend) mechanism.Spend {
	return mechanism.Spend{Rho: -s.Rho, PureEpsilon: -s.PureEpsilon, Protects: s.Protects}
}

func half(s mechanism.Spend) mechanism.Spend {
	return mechanism.Spend{Rho: s.Rho / 2, PureEpsilon: s.PureEpsilon / 2, Protects: s.Protects}
}

func (t *trial) commits() error {
	unit := t.unit()
	receipts, err := t.payTimes(unit, 2)
	if err != nil {
		return err
	}
	one, two := receipts[0], receipts[1]
	for name, r := range map[string]mechanism.Receipt{
		"none": {}, "another id": mechanism.NewReceipt(one.Sequence(), newID()), "another number": mechanism.NewReceipt(two.Sequence(), one.ReleaseID()),
	} {
		if err := t.wants(t.budget.Commit(r, sum(newID())), mechanism.ErrLedger, unit); err != nil {
			return fmt.Errorf("a receipt with %s: %w", name, err)
		}
	}
	if err := t.budget.Commit(one, sum(one.ReleaseID())); err != nil {
		return fmt.Errorf("calling Commit: %w", err)
	}
	if err := t.reopen(); err != nil {
		return err
	}
	if err := t.budget.Commit(two, sum(two.ReleaseID())); err != nil {
		return fmt.Errorf("calling Commit after Reopen: %w", err)
	}
	for _, r := range receipts {
		if err := t.wants(t.budget.Commit(r, sum(r.ReleaseID())), mechanism.ErrLedger, unit); err != nil {
			return fmt.Errorf("a second time: %w", err)
		}
	}
	return nil
}

func (t *trial) paid() error {
	unit := t.unit()
	receipt, err := t.pay(unit)
	if err != nil {
		return err
	}
	refused := newID()
	unknown := t.unit()
	unknown.New = false
	if err := t.refused(unknown, refused, t.spend, mechanism.ErrUnknownUnit); err != nil {
		return err
	}
	check := func(when string) error {
		for id, want := range map[[16]byte]bool{receipt.ReleaseID(): true, refused: false, newID(): false} {
			if paid, err := t.budget.Paid(id); err != nil || paid != want {
				return fmt.Errorf("%s it says %v, want %v: %w", when, paid, want, orNone(err))
			}
		}
		return nil
	}
	if err := check("after Reserve"); err != nil {
		return err
	}
	if err := t.budget.Commit(receipt, sum(receipt.ReleaseID())); err != nil {
		return err
	}
	if err := check("after Commit"); err != nil {
		return err
	}
	if err := t.reopen(); err != nil {
		return err
	}
	return check("after Reopen")
}

func (t *trial) ledgerID() error {
	unit := t.unit()
	first, err := t.budget.LedgerID(unit)
	if err != nil {
		return err
	}
	if first == ([16]byte{}) {
		return errors.New("it is zero, like that of NoLedger")
	}
	same := func(when string) error {
		if again, err := t.budget.LedgerID(unit); err != nil || again != first {
			return fmt.Errorf("it changes %s: %w", when, orNone(err))
		}
		return nil
	}
	if _, err := t.pay(unit); err != nil {
		return err
	}
	if err := same("after a spend"); err != nil {
		return err
	}
	if err := t.reopen(); err != nil {
		return err
	}
	if err := same("after Reopen"); err != nil {
		return err
	}
	other, err := t.New(t.total)
	if err = given(other, err); err != nil {
		return fmt.Errorf("calling New: %w", err)
	}
	if number, err := other.LedgerID(unit); err != nil || number == first {
		return fmt.Errorf("two budgets have the same: %w", orNone(err))
	}
	return nil
}

// ways returns the budget and, if there is one, a second access to it.
func (t *trial) ways() ([2]mechanism.Budget, error) {
	if t.Share == nil {
		return [2]mechanism.Budget{t.budget, t.budget}, nil
	}
	second, err := t.Share(t.budget)
	if err = given(second, err); err != nil {
		return [2]mechanism.Budget{}, fmt.Errorf("calling Share: %w", err)
	}
	return [2]mechanism.Budget{t.budget, second}, nil
}

// together reserves from many goroutines at once and returns the receipts of those that
// were granted. A refusal must match want.
func (t *trial) together(callers int, want error, next func(i int) (mechanism.Unit, [16]byte)) (granted []mechanism.Receipt, err error) {
	ways, err := t.ways()
	if err != nil {
		return nil, err
	}
	receipts, results, units := make([]mechanism.Receipt, callers), make([]error, callers), make([]mechanism.Unit, callers)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range callers {
		unit, id := next(i)
		units[i] = unit
		done.Go(func() {
			start.Wait()
			receipts[i], results[i] = ways[i%2].Reserve(unit, id, t.spend)
			if results[i] == nil && receipts[i].ReleaseID() != id {
				results[i] = errors.New("the receipt is for another release")
			}
		})
	}
	start.Done()
	done.Wait()
	for i, err := range results {
		if err == nil {
			granted = append(granted, receipts[i])
		} else if err := t.wants(err, want, units[i]); err != nil {
			return nil, err
		}
	}
	return granted, nil
}

func (t *trial) atOnce() error {
	seen := map[uint64]bool{0: true}
	for range 3 {
		unit := t.unit()
		granted, err := t.together(8*t.fits, mechanism.ErrBudgetExceeded, func(int) (mechanism.Unit, [16]byte) { return unit, newID() })
		if err != nil {
			return err
		}
		if len(granted) != t.fits {
			return fmt.Errorf("%d spends are granted where %d fit", len(granted), t.fits)
		}
		if err := t.full(unit); err != nil {
			return err
		}
		if err := t.reopen(); err != nil {
			return err
		}
		if err := t.full(unit); err != nil {
			return fmt.Errorf("after Reopen: %w", err)
		}
		for _, receipt := range granted {
			if seen[receipt.Sequence()] {
				return fmt.Errorf("two spends have the number %d, or one has none", receipt.Sequence())
			}
			seen[receipt.Sequence()] = true
			if paid, err := t.budget.Paid(receipt.ReleaseID()); err != nil || !paid {
				return fmt.Errorf("after Reopen a spend is not paid: %w", orNone(err))
			}
		}
	}
	return nil
}

func (t *trial) oneIDAtOnce() error {
	for range 3 {
		id := newID()
		granted, err := t.together(16, mechanism.ErrLedger, func(int) (mechanism.Unit, [16]byte) { return t.unit(), id })
		if err != nil {
			return err
		}
		if len(granted) != 1 {
			return fmt.Errorf("one release id is granted %d times", len(granted))
		}
	}
	return nil
}

// oneBudget spends by one access and reads by the other, in turn.
func (t *trial) oneBudget() error {
	ways, err := t.ways()
	if err != nil {
		return err
	}
	unit := t.unit()
	number, err := ways[1].LedgerID(unit)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for i := range t.fits {
		t.budget = ways[i%2]
		receipt, err := t.pay(unit)
		if err != nil {
			return fmt.Errorf("spend %d of %d: %w", i+1, t.fits, err)
		}
		if seen[receipt.Sequence()] {
			return fmt.Errorf("two spends have the number %d", receipt.Sequence())
		}
		seen[receipt.Sequence()] = true
		unit.New = false // both know it from now on
		if err := t.seenBy(ways[1-i%2], unit, number, receipt); err != nil {
			return fmt.Errorf("a spend by one access, seen by the other: %w", err)
		}
	}
	for _, t.budget = range ways {
		if err := t.full(unit); err != nil {
			return err
		}
	}
	return nil
}

// seenBy demands that an access to the budget knows its number and a spend, which it
// commits.
func (t *trial) seenBy(way mechanism.Budget, unit mechanism.Unit, number [16]byte, receipt mechanism.Receipt) error {
	if again, err := way.LedgerID(unit); err != nil || again != number {
		return fmt.Errorf("LedgerID returns another number: %w", orNone(err))
	}
	id := receipt.ReleaseID()
	if paid, err := way.Paid(id); err != nil || !paid {
		return fmt.Errorf("it is not paid: %w", orNone(err))
	}
	if err := way.Commit(receipt, sum(id)); err != nil {
		return fmt.Errorf("calling Commit: %w", err)
	}
	if err := t.wants(t.budget.Commit(receipt, sum(id)), mechanism.ErrLedger, unit); err != nil {
		return fmt.Errorf("a second commit: %w", err)
	}
	return nil
}

func (t *trial) durable() error {
	unit := t.unit()
	for i := range t.fits {
		if _, err := t.pay(unit); err != nil {
			return fmt.Errorf("spend %d of %d: %w", i+1, t.fits, err)
		}
		if err := t.reopen(); err != nil {
			return err
		}
	}
	return t.full(unit)
}

func (t *trial) covers() error {
	budget, ok := t.budget.(interface {
		Covers(mechanism.Unit, mechanism.Spend) error
	})
	if !ok {
		return nil
	}
	unit := t.unit()
	for range t.fits + 1 { // asking costs nothing
		if err := budget.Covers(unit, t.spend); err != nil {
			return err
		}
	}
	if err := t.left(unit, t.fits); err != nil {
		return err
	}
	if err := t.wants(budget.Covers(unit, t.spend), mechanism.ErrBudgetExceeded, unit); err != nil {
		return err
	}
	unknown := t.unit()
	unknown.New = false
	return t.wants(budget.Covers(unknown, t.spend), mechanism.ErrUnknownUnit, unknown)
}

// sum stands for the hash of a release.
func sum(id [16]byte) [sha256.Size]byte { return sha256.Sum256(id[:]) }

var errNone = errors.New("without an error")

// orNone is the error, or says that there is none.
func orNone(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

func names(err error, unit mechanism.Unit) bool {
	return unit.Name != "" && strings.Contains(err.Error(), unit.Name)
}
