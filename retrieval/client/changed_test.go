package client

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// row is a row of a name.
func rowOf(t *testing.T, name string, x float32) RecordID {
	t.Helper()
	id, err := ByName(name, []float32{x})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// askID returns the cells that are sent for a record.
func askID(t *testing.T, c *Cells, id RecordID) []uint32 {
	t.Helper()
	request, err := c.Ask(id, []float64{3, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return request.Cells
}

func changing(t *testing.T, changed Changed, budget mechanism.Budget, memory Memory) *Cells {
	t.Helper()
	c := newClient(t, 1, 1, budget, memory)
	c.settings.Changed = changed
	return c
}

// Equal rows are one record: one set, one spend, whoever asks. Other rows are others.
func TestRecordsByContent(t *testing.T) {
	path := t.TempDir()
	kept := NewMemory()
	for name, memory := range map[string]func() Memory{"volatile": func() Memory { return kept }, "folder": func() Memory { return openAgain(t, path) }} {
		ledger := pureLedger(t)
		first := askID(t, newClient(t, 1, 1, ledger, memory()), content(7))
		for range 3 {
			if again := askID(t, newClient(t, 1, 1, ledger, memory()), content(7)); !slices.Equal(again, first) {
				t.Errorf("%s: %v after %v", name, again, first)
			}
		}
		if other := askID(t, newClient(t, 1, 1, ledger, memory()), content(8)); slices.Equal(other, first) {
			t.Errorf("%s: two rows have one set", name)
		}
		if byName := askID(t, newClient(t, 1, 1, ledger, memory()), rowOf(t, "a", 7)); slices.Equal(byName, first) {
			t.Errorf("%s: a name has the set of its row", name)
		}
		wantSpent(t, ledger, release.UnitRecord, content(7).unitName(), 1)
		wantSpent(t, ledger, release.UnitRecord, content(8).unitName(), 1)
		wantSpent(t, ledger, release.UnitRecord, "a", 1)
	}
}

// A record has one budget in a ledger, whatever the memory: another one does not give it another
// budget.
func TestOneBudgetForAllMemories(t *testing.T) {
	ledger := pureLedger(t)
	for range 3 {
		askID(t, newClient(t, 1, 1, ledger, NewMemory()), content(7))
	}
	if request, err := newClient(t, 1, 1, ledger, openAgain(t, t.TempDir())).Ask(content(7), []float64{3, 0.5}); request != nil || !errors.Is(err, mechanism.ErrBudgetExceeded) {
		t.Errorf("%v, %v", request, err)
	}
	wantSpent(t, ledger, release.UnitRecord, content(7).unitName(), 3)
}

// Under the budget of a client equal rows are paid for once.
func TestClientPaysForContentOnce(t *testing.T) {
	ledger := openLedger(t, ledgerFile(t, 3))
	c := paidBy(t, "carol", ledger, NewMemory())
	for range 3 {
		askID(t, c, content(7))
	}
	wantSpent(t, ledger, release.UnitClient, "carol", 1)
	askID(t, c, content(8))
	wantSpent(t, ledger, release.UnitClient, "carol", 2)
}

// A name whose row has changed is refused, sent again, or spends, as the caller says.
func TestChangedRow(t *testing.T) {
	for where, memory := range map[string]Memory{"memory": NewMemory(), "folder": openAgain(t, t.TempDir())} {
		ledger := openLedger(t, ledgerFile(t, 10))
		spent := func(want float64) { t.Helper(); wantSpent(t, ledger, release.UnitRecord, "a", want) }
		standing := func(c *Cells, id RecordID, want Standing) {
			t.Helper()
			if got, err := c.Foresee(id); got != want || err != nil {
				t.Errorf("%s: standing %d, want %d: %v", where, got, want, err)
			}
		}
		refuse, resend, spend := changing(t, RefuseChanged, ledger, memory), changing(t, ResendChanged, ledger, memory), changing(t, SpendChanged, ledger, memory)
		monday, tuesday, friday := rowOf(t, "a", 1), rowOf(t, "a", 2), rowOf(t, "a", 3)
		standing(refuse, monday, Fresh)
		first := askID(t, refuse, monday)
		standing(refuse, monday, Remembered)

		if request, err := refuse.Ask(tuesday, []float64{3, 0.5}); request != nil || !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v, %v", where, request, err)
		}
		if _, err := refuse.Foresee(tuesday); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", where, err)
		}
		spent(1)
		standing(resend, tuesday, Resent)
		if got := askID(t, resend, tuesday); !slices.Equal(got, first) {
			t.Errorf("%s: %v is sent again as %v", where, first, got)
		}
		spent(1)
		if _, err := refuse.Foresee(tuesday); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: what was sent again is taken for a release: %v", where, err)
		}
		standing(spend, tuesday, Again)
		next := askID(t, spend, tuesday)
		if slices.Equal(next, first) {
			t.Errorf("%s: the set of another row", where)
		}
		spent(2)
		// Both rows are known now, to all.
		for _, c := range []*Cells{refuse, resend, spend} {
			standing(c, monday, Remembered)
			standing(c, tuesday, Remembered)
			if !slices.Equal(askID(t, c, monday), first) || !slices.Equal(askID(t, c, tuesday), next) {
				t.Errorf("%s: a row has another set than before", where)
			}
		}
		// Yesterday's set is the last one.
		if got := askID(t, resend, friday); !slices.Equal(got, next) {
			t.Errorf("%s: %v is sent again, want the last one, %v", where, got, next)
		}
		spent(2)
		askID(t, spend, friday)
		spent(3)
	}
}

// A row that was drawn for and not paid for is no release: the name is as new as before, and the
// other row gets a set of its own.
func TestChangedBeforePaid(t *testing.T) {
	path := ledgerFile(t, 1)
	ledger, memory := openLedger(t, path), openAgain(t, t.TempDir())
	c := newClient(t, 1, 2, ledger, memory)
	for _, x := range []float32{1, 2, 1} {
		if request, err := c.Ask(rowOf(t, "a", x), []float64{3, 0.5}); request != nil || !errors.Is(err, mechanism.ErrBudgetExceeded) {
			t.Errorf("%v, %v", request, err)
		}
	}
	ledger.Close()
	// The same prices, and a ledger of the same number that can pay.
	rich := richer{openLedger(t, path)}
	c = newClient(t, 1, 2, rich, memory)
	if got, err := c.Foresee(rowOf(t, "a", 2)); got != Fresh || err != nil {
		t.Errorf("standing %d: %v", got, err)
	}
	askID(t, c, rowOf(t, "a", 2))
	if _, err := c.Foresee(rowOf(t, "a", 1)); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

// richer pays what a ledger would not.
type richer struct{ *mechanism.Ledger }

func (r richer) Reserve(unit mechanism.Unit, id [16]byte, spend mechanism.Spend) (mechanism.Receipt, error) {
	spend.PureEpsilon = 0.5
	return r.Ledger.Reserve(unit, id, spend)
}

// Of many that ask for several rows of a name at the same time, each row is paid for once with
// SpendChanged, and one row alone without.
func TestChangedAtOnce(t *testing.T) {
	for changed, want := range map[Changed]float64{RefuseChanged: 1, ResendChanged: 1, SpendChanged: 4} {
		for where, memory := range map[string]Memory{"memory": NewMemory(), "folder": openAgain(t, t.TempDir()), "no locks": plain{openAgain(t, t.TempDir())}} {
			ledger := openLedger(t, ledgerFile(t, 100))
			var mutex sync.Mutex
			sets := map[float32][]uint32{}
			var wait sync.WaitGroup
			for i := range 32 {
				x := float32(i % 4)
				c, id := changing(t, changed, ledger, memory), rowOf(t, "a", x)
				wait.Go(func() {
					request, err := c.Ask(id, []float64{3, 0.5})
					if err != nil {
						if changed != RefuseChanged || !errors.Is(err, ErrChanged) {
							t.Errorf("%s, %d: %v", where, changed, err)
						}
						return
					}
					mutex.Lock()
					defer mutex.Unlock()
					if sets[x] != nil && !slices.Equal(sets[x], request.Cells) {
						t.Errorf("%s, %d: two sets of one row", where, changed)
					}
					sets[x] = request.Cells
				})
			}
			wait.Wait()
			wantSpent(t, ledger, release.UnitRecord, "a", want)
		}
	}
}

// What a folder holds tells neither a name nor a row to who does not have its secret: with another
// secret all keys and tags are others.
func TestFolderIsKeyed(t *testing.T) {
	ledger := pureLedger(t)
	one, two := openAgain(t, t.TempDir()), openAgain(t, t.TempDir())
	for _, id := range []RecordID{named("a"), content(3)} {
		a, err := newClient(t, 1, 1, ledger, one).look(id)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newClient(t, 1, 1, ledger, two).look(id)
		if err != nil || a.first == b.first || a.tag == b.tag {
			t.Errorf("two folders have one key or tag: %v", err)
		}
		other, err := newClient(t, 1, 1, ledger, one).look(named("b"))
		if err != nil || other.tag == a.tag {
			t.Errorf("the rows of two records have one tag: %v", err)
		}
	}
	// Nothing of the secret is left next to its file.
	if left, err := filepath.Glob(filepath.Join(one.path, ".*")); err != nil || left != nil {
		t.Errorf("%q, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(one.path, ".privatemail-new-1a.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	openAgain(t, one.path)
	if left, err := filepath.Glob(filepath.Join(one.path, ".*")); err != nil || left != nil {
		t.Errorf("%q are left of a crash, %v", left, err)
	}
}

func TestChangedIsChecked(t *testing.T) {
	book, hash := testBook(t, 1)
	for _, changed := range []Changed{-1, SpendChanged + 1} {
		if _, err := NewCells(book, CellsSettings{Codebook: hash, Epsilon: 1, Ledger: mechanism.NoLedger, Memory: NewMemory(), Changed: changed}); !errors.Is(err, mechanism.ErrParam) {
			t.Error(err)
		}
	}
}
