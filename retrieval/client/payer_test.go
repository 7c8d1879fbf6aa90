package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// paidBy returns a client of testBook whose records are paid for by who, or each by
// itself if who is "".
func paidBy(t *testing.T, who string, budget mechanism.Budget, memory Memory) *Cells {
	t.Helper()
	book, hash := testBook(t, 1)
	c, err := NewCells(book, CellsSettings{Codebook: hash, Epsilon: 1, Ledger: budget, Client: who, NewUnits: true, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantSpent compares what a unit has spent with what its releases cost.
func wantSpent(t *testing.T, ledger *mechanism.Ledger, kind, name string, want float64) {
	t.Helper()
	if spent, err := ledger.Spent(mechanism.Unit{Kind: kind, Name: name}); err != nil || spent.Pure.Float() != want {
		t.Errorf("the %s %q has spent %v, want %g: %v", kind, name, spent, want, err)
	}
}

// The sets of testBook are drawn among 4e10, none of them with a probability above
// 7e-11, so those of two draws differ.
func wantOwn(t *testing.T, sets map[string][]uint32, who string, set []uint32) {
	t.Helper()
	for other, drawn := range sets {
		if slices.Equal(drawn, set) {
			t.Errorf("%s has the set of %s", who, other)
		}
	}
	sets[who] = set
}

// What records have paid for is no gift to a client, nor the other way round.
func TestSwitchOfAccounting(t *testing.T) {
	const records = 5
	for name, first := range map[string]string{"records first": "", "client first": "carol"} {
		ledger, memory := openLedger(t, ledgerFile(t, records)), NewMemory()
		second := "carol"
		if first == second {
			second = ""
		}
		sets := map[string][]uint32{}
		for _, who := range []string{first, second, first, second} {
			c := paidBy(t, who, ledger, memory)
			for i := range records {
				record := fmt.Sprint("record ", i)
				set := ask(t, c, record, 3)
				if mine := who + " " + record; sets[mine] == nil {
					wantOwn(t, sets, mine, set)
				} else if !slices.Equal(sets[mine], set) {
					t.Errorf("%s: %q asked again has another set", name, mine)
				}
			}
		}
		wantSpent(t, ledger, release.UnitClient, "carol", records)
		for i := range records {
			wantSpent(t, ledger, release.UnitRecord, fmt.Sprint("record ", i), 1)
		}
	}
}

// Everybody who pays has a set of their own: two clients, a client and a record of
// one name, two ledgers and none over one folder.
func TestPayersShareNothing(t *testing.T) {
	memory, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one, two := pureLedger(t), pureLedger(t)
	budgets := map[string]mechanism.Budget{"one": one, "two": two, "none": mechanism.NoLedger}
	sets := map[string][]uint32{}
	for range 2 { // the second time everything is remembered
		for where, budget := range budgets {
			for _, who := range []string{"", "carol", "dave", "photo"} {
				payer := fmt.Sprintf("%q in ledger %s", who, where)
				set := ask(t, paidBy(t, who, budget, memory), "photo", 3)
				if sets[payer] == nil {
					wantOwn(t, sets, payer, set)
				} else if !slices.Equal(sets[payer], set) {
					t.Errorf("%s asked again and has another set", payer)
				}
			}
		}
	}
	for _, ledger := range []*mechanism.Ledger{one, two} {
		wantSpent(t, ledger, release.UnitRecord, "photo", 1)
		for _, who := range []string{"carol", "dave", "photo"} {
			wantSpent(t, ledger, release.UnitClient, who, 1)
		}
	}
}

// A program that is started again sends the same bytes and spends nothing, for a
// record and for a client, whose records stay apart.
func TestPayerInAnotherProcess(t *testing.T) {
	path, folder := ledgerFile(t, 2), t.TempDir()
	for _, who := range []string{"", "carol"} {
		var sent [2][][]byte
		for i := range sent {
			ledger := openLedger(t, path)
			memory, err := OpenFolder(folder)
			if err != nil {
				t.Fatal(err)
			}
			c := paidBy(t, who, ledger, memory)
			for _, name := range []string{"a", "b"} {
				request, err := c.Ask(named(name), []float64{3, 0})
				if err != nil {
					t.Fatal(err)
				}
				frame, err := request.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				sent[i] = append(sent[i], frame)
			}
			if who == "" {
				wantSpent(t, ledger, release.UnitRecord, "a", 1)
				wantSpent(t, ledger, release.UnitRecord, "b", 1)
			} else {
				wantSpent(t, ledger, release.UnitClient, who, 2)
			}
			if err := ledger.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.EqualFunc(sent[0], sent[1], bytes.Equal) || bytes.Equal(sent[0][0], sent[0][1]) {
			t.Errorf("client %q: the second process sends other bytes, or those of another record", who)
		}
	}
}

// keyWithoutPayer is the key of the first format.
func keyWithoutPayer(c *Cells, name string) Key {
	b := []byte("privatemail cells 1")
	b = append(b, c.settings.Codebook[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.subset.Items))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.subset.Size))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.subset.Epsilon))
	return sha256.Sum256(append(b, name...))
}

// Nobody is served what a memory of the first format holds, whoever paid for it.
func TestMemoryWithoutPayer(t *testing.T) {
	memory, ledger := NewMemory(), pureLedger(t)
	sets := map[string][]uint32{}
	for _, who := range []string{"carol", ""} {
		for where, budget := range map[string]mechanism.Budget{"ledger": ledger, "none": mechanism.NoLedger} {
			c := paidBy(t, who, budget, memory)
			old := &wire.CellsRequest{Codebook: c.settings.Codebook, Cells: []uint32{1, 2, 3, 4}}
			sets["the old one"] = old.Cells
			message, err := old.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := memory.Keep(keyWithoutPayer(c, "a"), message); err != nil {
				t.Fatal(err)
			}
			wantOwn(t, sets, fmt.Sprintf("client %q, %s", who, where), ask(t, c, "a", 3))
		}
	}
	wantSpent(t, ledger, release.UnitClient, "carol", 1)
	wantSpent(t, ledger, release.UnitRecord, "a", 1)
}

// A copy of a ledger is the same payer. What was paid for in the other one since is not
// served from the memory, and nothing is drawn in its place: the copy would not count it.
func TestCopyOfALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.Pure, Epsilon: 3}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(old, data, 0o600); err != nil {
		t.Fatal(err)
	}
	memory := NewMemory()
	var clients []*Cells
	for _, name := range []string{path, old} {
		ledger, err := mechanism.OpenLedger(name)
		if err != nil {
			t.Fatal(err)
		}
		defer ledger.Close()
		clients = append(clients, newClient(t, 1, 1, ledger, memory))
	}
	row := []float64{17, 0}
	want, err := clients[0].Ask(named("photo"), row)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := clients[1].Ask(named("photo"), row); got != nil || !errors.Is(err, mechanism.ErrLedger) {
		t.Errorf("a copy of the ledger: %v, %v", got, err)
	}
	if got, err := clients[0].Ask(named("photo"), row); err != nil || !slices.Equal(got.Cells, want.Cells) {
		t.Errorf("%v, %v", got, err)
	}
}
