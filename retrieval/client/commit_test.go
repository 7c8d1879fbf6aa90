package client

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// forgetful is a budget that cannot note what a spend was for.
type forgetful struct{ *mechanism.Ledger }

func (forgetful) Commit(mechanism.Receipt, [sha256.Size]byte) error {
	return errors.New("the line is down")
}

// A set that was paid for is not lost where the budget fails to note its hash: the error
// says that the budget is spent, and the next call sends what was drawn and pays nothing.
func TestCommitFails(t *testing.T) {
	ledger, memory := pureLedger(t), NewMemory()
	request, err := newClient(t, 1, 1, forgetful{ledger}, memory).Ask(named("a"), []float64{1, 1})
	if !errors.Is(err, mechanism.ErrSpent) || request != nil {
		t.Fatalf("%v, %v", request, err)
	}
	sound := newClient(t, 1, 1, ledger, memory)
	first := ask(t, sound, "a", 1)
	if second := ask(t, sound, "a", 1); !slices.Equal(first, second) {
		t.Errorf("%v, then %v", first, second)
	}
	spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: "a"})
	if err != nil || spent.Pure.Float() != 1 {
		t.Errorf("spent %v, want 1: %v", spent.Pure.Float(), err)
	}
}
