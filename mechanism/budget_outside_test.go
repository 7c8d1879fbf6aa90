package mechanism

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// An outsider is a budget whose answers are chosen.
type outsider struct {
	fakeBudget
	receipt   func(id [16]byte) Receipt
	number    [16]byte
	numberErr error
	paidErr   error
}

func (o *outsider) Reserve(unit Unit, id [16]byte, spend Spend) (Receipt, error) {
	_, err := o.fakeBudget.Reserve(unit, id, spend)
	return o.receipt(id), err
}

func (o *outsider) LedgerID(Unit) ([16]byte, error) { return o.number, o.numberErr }

func (o *outsider) Paid([16]byte) (bool, error) { return true, o.paidErr }

// releases makes a release of each kind and returns which came out, and the
// errors.
func releases(t *testing.T, b Budget) (made []bool, errs []error) {
	t.Helper()
	c := calibrate(t, CalibrationSettings{Epsilon: 0.5, Delta: 1e-6, Sensitivity: boundOf(t, sensitivity.ReplaceOne, 6, 3, 1)})
	out, err := c.Privatize(background, b, request(6, 3), nil)
	made, errs = append(made, out != nil), append(errs, err)
	set, err := Subset{Items: 5, Size: 1, Epsilon: 1}.Select(b, alice, 2)
	return append(made, set != nil), append(errs, err)
}

// A receipt for another release, or with the number 0, which only NoLedger may give,
// makes no release; the spend may be written down.
func TestReceiptsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		receipt func(id [16]byte) Receipt
		ok      bool
	}{
		"right":           {func(id [16]byte) Receipt { return NewReceipt(7, id) }, true},
		"no number":       {func(id [16]byte) Receipt { return NewReceipt(0, id) }, false},
		"another release": {func(id [16]byte) Receipt { id[0]++; return NewReceipt(7, id) }, false},
		"none":            {func([16]byte) Receipt { return Receipt{} }, false},
	} {
		b := &outsider{receipt: test.receipt, number: [16]byte{1}}
		made, errs := releases(t, b)
		if len(b.ids) != 2 {
			t.Errorf("%s: %d spends", name, len(b.ids))
		}
		for i, err := range errs {
			if test.ok != (err == nil) || test.ok != made[i] || !test.ok && (!errors.Is(err, ErrLedger) || !errors.Is(err, ErrSpent)) {
				t.Errorf("%s, release %d: made %v, %v", name, i, made[i], err)
			}
		}
	}
}

// A budget whose LedgerID fails or is zero is not asked to pay.
func TestBudgetsHaveANumber(t *testing.T) {
	down := errors.New("nobody answers")
	good := func(id [16]byte) Receipt { return NewReceipt(7, id) }
	type wrapped struct{ Budget }
	type logged struct{ *Ledger }
	outside := &outsider{receipt: good, numberErr: down}
	for name, b := range map[string]Budget{
		"zero":               &outsider{receipt: good},
		"down":               outside,
		"NoLedger, wrapped":  wrapped{NoLedger},
		"no ledger, wrapped": logged{},
		"zero ledger":        logged{new(Ledger)},
	} {
		made, errs := releases(t, b)
		for i, err := range errs {
			if made[i] || !errors.Is(err, ErrLedger) || errors.Is(err, ErrSpent) {
				t.Errorf("%s, release %d: made %v, %v", name, i, made[i], err)
			}
		}
		if _, err := alice.Payer(b); !errors.Is(err, ErrLedger) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(outside.ids) != 0 {
		t.Error("it was asked to pay")
	}
	if err := alice.Check(outside); !errors.Is(err, down) {
		t.Error(err)
	}
	if paid, err := Paid(&outsider{paidErr: down}, releaseID(0)); paid || !errors.Is(err, down) || !errors.Is(err, ErrLedger) {
		t.Error(paid, err)
	}
	for _, l := range []*Ledger{nil, new(Ledger)} {
		if paid, err := l.Paid(releaseID(0)); paid || !errors.Is(err, ErrLedger) {
			t.Error(paid, err)
		}
	}
	// A ledger in a wrapper is that ledger, and the same payer.
	l := mustOpen(t, newLedgerFile(t, ledgerTotal))
	one, err := alice.Payer(l)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := alice.Payer(logged{l}); err != nil || one != two {
		t.Error("a wrapped ledger is another payer", err)
	}
}

// Charge does the arithmetic of a ledger.
func TestChargeAgreesWithALedger(t *testing.T) {
	for _, total := range []Total{ledgerTotal, {Kind: ZCDP, Epsilon: 1, Delta: 1e-6}, {Kind: Pure, Epsilon: 1}, {Kind: Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1}} {
		l, _ := newLedgerDisk(t, total)
		var spent Spent
		for i := range 40 {
			spend := []Spend{{Rho: 0.002}, {PureEpsilon: 0.11}, {Rho: 0.001, PureEpsilon: 0.05}, {Epsilon: 0.2, Delta: 1e-6}, {}, {Rho: math.NaN()}}[i%6]
			if i%7 != 0 || i == 0 {
				spend = said(spend)
			}
			if i%11 == 10 {
				spend.Protects = AnyData() // refused
			}
			after, err := total.Charge(alice, spent, spend)
			_, want := l.Reserve(alice, releaseID(i), spend)
			if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
				t.Fatalf("%v, spend %d: %v, want %v", total, i, err, want)
			}
			if err == nil {
				spent = after
			}
			if now, _ := l.Spent(alice); now != spent.Pots {
				t.Fatalf("%v, spend %d: %v, want %v", total, i, spent, now)
			}
		}
		if spent == (Spent{}) {
			t.Errorf("%v: nothing was spent", total)
		}
	}
	for name, err := range map[string]error{
		"total": chargeError(Total{}.Charge(alice, Spent{}, oneUnit)),
		"unit":  chargeError(ledgerTotal.Charge(Unit{}, Spent{}, oneUnit)),
		"spent": chargeError(ledgerTotal.Charge(alice, Spent{Pots: Pots{Rho: Amount{hi: 1 << 60}}}, oneUnit)),
		"spend": chargeError(ledgerTotal.Charge(alice, Spent{}, Spend{Rho: -1})),
	} {
		if !errors.Is(err, ErrParam) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func chargeError(_ Spent, err error) error { return err }

// Pots come back from JSON unchanged, and texts are in the order of amounts.
func TestAmountsAsText(t *testing.T) {
	before := ""
	for _, a := range []Amount{{}, {0, 1}, {0, math.MaxUint64}, {1, 0}, {1 << 40, 5}, {math.MaxUint64, math.MaxUint64}} {
		text, err := json.Marshal(Pots{Rho: a, Pure: Amount{a.lo, a.hi}})
		if err != nil || string(text) <= before {
			t.Errorf("%s after %s: %v", text, before, err)
		}
		before = string(text)
		var back Pots
		if err := json.Unmarshal(text, &back); err != nil || back != (Pots{Rho: a, Pure: Amount{a.lo, a.hi}}) {
			t.Errorf("%s became %+v: %v", text, back, err)
		}
	}
	for _, text := range []string{"", "1", strings.Repeat("g", 32), strings.Repeat("0", 33), "-" + strings.Repeat("0", 31)} {
		if err := new(Amount).UnmarshalText([]byte(text)); !errors.Is(err, ErrParam) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
