package privatemail

import (
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// watched is a budget of another package: a ledger that records its calls.
type watched struct {
	*mechanism.Ledger
	refuse          error
	asked, reserved int
}

func (w *watched) Covers(mechanism.Unit, mechanism.Spend) error {
	w.asked++
	return w.refuse
}

func (w *watched) Reserve(unit mechanism.Unit, id [16]byte, spend mechanism.Spend) (mechanism.Receipt, error) {
	w.reserved++
	return w.Ledger.Reserve(unit, id, spend)
}

// A budget of another package pays like a ledger, and is asked before the long work.
func TestPrivatizeFromAnotherBudget(t *testing.T) {
	x, y := classes(t, 40, 6)
	s, ledger := paid(t)
	w := &watched{Ledger: ledger, refuse: errors.New("not today")}
	s.Ledger = w
	if out, err := engine(t).Privatize(t.Context(), x, y, s); out != nil || !errors.Is(err, w.refuse) || w.reserved != 0 {
		t.Errorf("%v, %d spends", err, w.reserved)
	}
	w.refuse = nil
	out, err := engine(t).Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	if known, err := mechanism.Paid(w, out.ID); !known || err != nil || out.Ledger != 1 || w.asked != 2 || w.reserved != 1 {
		t.Errorf("paid %v, number %d, asked %d times, %d spends: %v", known, out.Ledger, w.asked, w.reserved, err)
	}
}
