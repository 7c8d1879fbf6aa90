package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// plain hides everything of a memory but Memory.
type plain struct{ Memory }

// Of 64 clients that ask for one record at the same time one pays, whether they share a
// memory, a folder that each has opened, or a memory without locks.
func TestManyClientsPayOnce(t *testing.T) {
	const clients = 64
	path := t.TempDir()
	one, shared, hidden := NewMemory(), openAgain(t, t.TempDir()), plain{openAgain(t, t.TempDir())}
	for name, memory := range map[string]func() Memory{
		"memory":           func() Memory { return one },
		"folder":           func() Memory { return shared },
		"folder each":      func() Memory { return openAgain(t, path) },
		"folder, no locks": func() Memory { return hidden },
	} {
		ledger := openLedger(t, ledgerFile(t, 100))
		results := make([][]uint32, clients)
		var start, done sync.WaitGroup
		start.Add(1)
		for i := range clients {
			c := newClient(t, 1, 1, ledger, memory())
			done.Go(func() {
				start.Wait()
				request, err := c.Ask(named("a"), []float64{1, 1})
				if err != nil {
					t.Error(err)
					return
				}
				results[i] = request.Cells
			})
		}
		start.Done()
		done.Wait()
		for _, r := range results {
			if !slices.Equal(r, results[0]) {
				t.Fatalf("%s: %v and %v", name, r, results[0])
			}
		}
		wantSpent(t, ledger, release.UnitRecord, "a", 1)
	}
}

// A slow folder lets nobody on to a spend until it is open.
type slow struct {
	*Folder
	inside *atomic.Int32 // clients that are about to spend, or have
	open   chan struct{}
}

func (s slow) Ready() error {
	s.inside.Add(1)
	<-s.open
	return s.Folder.Ready()
}

// While a client is about to pay for a record, no other client of the memory is, and the others
// get what that one has paid for.
func TestClientsTakeTurns(t *testing.T) {
	for _, name := range []string{"no locks", "one folder", "a folder each"} {
		t.Run(name, func(t *testing.T) {
			ledger, path := openLedger(t, ledgerFile(t, 100)), t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				folder, inside, open := openAgain(t, path), new(atomic.Int32), make(chan struct{})
				var requests [2]*wire.CellsRequest
				var done sync.WaitGroup
				for i := range requests {
					if name == "a folder each" {
						folder = openAgain(t, path)
					}
					var memory Memory = slow{folder, inside, open}
					if name == "no locks" {
						memory = plain{memory}
					}
					c := newClient(t, 1, 1, ledger, memory)
					done.Go(func() {
						var err error
						if requests[i], err = c.Ask(named("a"), []float64{1, 1}); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				if n := inside.Load(); n != 1 {
					t.Errorf("%d clients are about to spend", n)
				}
				close(open)
				done.Wait()
				if a, b := requests[0], requests[1]; a != nil && b != nil && !slices.Equal(a.Cells, b.Cells) {
					t.Errorf("%v and %v", a.Cells, b.Cells)
				}
				if n := inside.Load(); n != 1 {
					t.Errorf("%d clients spent", n)
				}
			})
			wantSpent(t, ledger, release.UnitRecord, "a", 1)
		})
	}
}

// recordsOf returns two records with a lock in common, and one with another lock.
func recordsOf(t *testing.T, c *Cells) (a, same, other string) {
	t.Helper()
	first := func(name string) byte {
		key, err := firstKey(c, name)
		if err != nil {
			t.Fatal(err)
		}
		return key[0]
	}
	a = "record"
	for i := 0; same == "" || other == ""; i++ {
		switch name := fmt.Sprint("record ", i); {
		case first(name) == first(a):
			same = name
		default:
			other = name
		}
	}
	return a, same, other
}

// Who waits for a record can give up and has spent nothing. A record with another lock
// does not wait, nor does one that is remembered.
func TestAskWaitsForTheKeyAlone(t *testing.T) {
	ledger, folder := openLedger(t, ledgerFile(t, 100)), openAgain(t, t.TempDir())
	c := newClient(t, 1, 1, ledger, folder)
	a, same, other := recordsOf(t, c)
	remembered := ask(t, c, same, 1)
	key, err := firstKey(c, a)
	if err != nil {
		t.Fatal(err)
	}
	for name, locker := range map[string]Locker{"the same folder": folder, "another process": openAgain(t, folder.path)} {
		unlock, err := locker.Lock(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.AskContext(ctx, named(a), []float64{1, 1}); !errors.Is(err, context.Canceled) || errors.Is(err, mechanism.ErrSpent) {
			t.Errorf("%s: %v", name, err)
		}
		wantSpent(t, ledger, release.UnitRecord, a, 0)
		ask(t, c, other, 1)
		if again := ask(t, c, same, 2); !slices.Equal(again, remembered) {
			t.Errorf("%s: %v, %v", name, again, remembered)
		}
		unlock()
	}
	ask(t, c, a, 1)
	wantSpent(t, ledger, release.UnitRecord, a, 1)
}

// A context that is done before the record is paid for costs nothing, whatever the memory.
func TestAskCancelled(t *testing.T) {
	ledger := pureLedger(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, memory := range map[string]Memory{"memory": NewMemory(), "folder": openAgain(t, t.TempDir())} {
		request, err := newClient(t, 1, 1, ledger, memory).AskContext(ctx, named("a"), []float64{1, 1})
		if !errors.Is(err, context.Canceled) || request != nil {
			t.Errorf("%s: %v, %v", name, request, err)
		}
	}
	wantSpent(t, ledger, release.UnitRecord, "a", 0)
}

func TestTurns(t *testing.T) {
	var turns turns[int]
	give, err := turns.take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := turns.take(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	two()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.take(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	inside := 0
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			give, err := turns.take(context.Background(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			inside++ // the race detector looks on
			give()
		})
	}
	give()
	all.Wait()
	if inside != 50 || len(turns.taken) != 0 {
		t.Errorf("%d had their turn, %d are left", inside, len(turns.taken))
	}
}
