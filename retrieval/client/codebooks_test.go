package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// unconfirmed returns a client of a codebook that nobody vouches for.
func unconfirmed(t *testing.T, version uint64, accept bool, ledger mechanism.Budget, memory Memory) *Cells {
	t.Helper()
	book, _ := testBook(t, version)
	c, err := NewCells(book, CellsSettings{UnconfirmedCodebook: true, NewCodebook: accept, Epsilon: 1, Ledger: ledger, NewUnits: true, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A memory that was used with one codebook refuses all others, until one is accepted or
// confirmed. Then it knows both, and neither costs more than it did.
func TestNewCodebookIsRefused(t *testing.T) {
	folder := t.TempDir()
	one := NewMemory()
	for name, open := range map[string]func() Memory{
		"memory": func() Memory { return one },
		"folder": func() Memory { return openAgain(t, folder) },
	} {
		ledger := openLedger(t, ledgerFile(t, 100))
		spent := func(want float64) {
			t.Helper()
			wantSpent(t, ledger, release.UnitRecord, "a", want)
		}
		ask(t, unconfirmed(t, 1, false, ledger, open()), "a", 1)
		spent(1)
		for range 2 {
			c := unconfirmed(t, 2, false, ledger, open())
			if request, err := c.Ask(named("a"), []float64{1, 1}); request != nil || !errors.Is(err, ErrNewCodebook) {
				t.Errorf("%s: %v, %v", name, request, err)
			}
		}
		spent(1)
		ask(t, unconfirmed(t, 2, true, ledger, open()), "a", 1)
		spent(2)
		ask(t, newClient(t, 3, 1, ledger, open()), "a", 1) // confirmed by its hash
		spent(3)
		for version := range uint64(3) {
			ask(t, unconfirmed(t, version+1, false, ledger, open()), "a", 1)
			ask(t, unconfirmed(t, version+1, false, ledger, open()), fmt.Sprint("b", version), 1)
		}
		spent(3)
		if _, err := unconfirmed(t, 4, false, ledger, open()).Ask(named("a"), []float64{1, 1}); !errors.Is(err, ErrNewCodebook) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of many runs that begin at the same time with an empty memory, each with a codebook of its
// own, one spends.
func TestFirstCodebookIsOne(t *testing.T) {
	ledger, folder := openLedger(t, ledgerFile(t, 100)), t.TempDir()
	var wait sync.WaitGroup
	for i := range 16 {
		c := unconfirmed(t, uint64(i+1), false, ledger, openAgain(t, folder))
		wait.Go(func() {
			if _, err := c.Ask(named("a"), []float64{1, 1}); err != nil && !errors.Is(err, ErrNewCodebook) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	wantSpent(t, ledger, release.UnitRecord, "a", 1)
}

// What is wrong with the file of codebooks is never taken for a memory that knows none.
func TestDamagedCodebooks(t *testing.T) {
	ledger, folder := openLedger(t, ledgerFile(t, 100)), t.TempDir()
	ask(t, unconfirmed(t, 1, false, ledger, openAgain(t, folder)), "a", 1)
	path := filepath.Join(folder, codebooksName)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v", err)
	}
	_, hash := testBook(t, 2)
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"removed":      {"", ErrNewCodebook},
		"empty":        {"", ErrNewCodebook},
		"half a line":  {string(sound[:20]), ErrNewCodebook},
		"zeros":        {strings.Repeat("\x00", 65), ErrNewCodebook},
		"a line more":  {string(sound) + "abc", ErrNewCodebook},
		"no hash":      {strings.Repeat("z", 64) + "\n", ErrMemory},
		"short line":   {"12\n", ErrMemory},
		"no line feed": {strings.Repeat("ab", 40), ErrMemory},
		"long":         {strings.Repeat(string(sound), mostCodebooks+1), ErrMemory},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "removed" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		f := openAgain(t, folder)
		if isNew, err := f.NewCodebook(hash); isNew != (c.want == ErrNewCodebook) || c.want == ErrMemory && !errors.Is(err, ErrMemory) {
			t.Errorf("%s: new %v, %v", name, isNew, err)
		}
		if request, err := unconfirmed(t, 2, false, ledger, f).Ask(named("b"), []float64{1, 1}); request != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, request, err)
		}
		wantSpent(t, ledger, release.UnitRecord, "b", 0)
	}
	// What a crash has left of a line gives way to the next one.
	if err := os.WriteFile(path, append(sound, "abc"...), 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, unconfirmed(t, 2, true, ledger, openAgain(t, folder)), "b", 1)
	if text, err := os.ReadFile(path); err != nil || string(text) != string(sound)+fmt.Sprintf("%x\n", hash) {
		t.Errorf("%q, %v", text, err)
	}
}

// A folder with a file for each server, as earlier versions wrote them.
func TestEarlierCodebooks(t *testing.T) {
	hashes := map[uint64]wire.Hash{}
	folder := t.TempDir()
	for version := range uint64(3) {
		_, hashes[version+1] = testBook(t, version+1)
	}
	for version, name := range map[uint64]string{1: "codebook-0123456789abcdef", 2: "codebook-fedcba9876543210"} {
		if err := os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, "%x\n", hashes[version]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for version, hash := range hashes {
			f := openAgain(t, folder)
			if isNew, err := f.NewCodebook(hash); err != nil || isNew != (version == 3) {
				t.Errorf("codebook %d: new %v, %v", version, isNew, err)
			}
			if err := f.Admit(hash, false); (version == 3) != errors.Is(err, ErrNewCodebook) || version != 3 && err != nil {
				t.Errorf("codebook %d: %v", version, err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "codebook-00"), []byte("12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openAgain(t, folder).Admit(hashes[3], false); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// A folder of the format before logs has releases, and no file that says of which codebooks.
func TestFilesBeforeCodebooks(t *testing.T) {
	ledger, folder := openLedger(t, ledgerFile(t, 100)), t.TempDir()
	_, hash := testBook(t, 1)
	if isNew, err := openAgain(t, folder).NewCodebook(hash); isNew || err != nil {
		t.Errorf("an empty folder: new %v, %v", isNew, err)
	}
	if err := os.WriteFile(openAgain(t, folder).file(Key{1, 2}), []byte("a release"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f := openAgain(t, folder)
		if isNew, err := f.NewCodebook(hash); !isNew || err != nil {
			t.Errorf("new %v, %v", isNew, err)
		}
		if request, err := unconfirmed(t, 1, false, ledger, f).Ask(named("b"), []float64{1, 1}); request != nil || !errors.Is(err, ErrNewCodebook) {
			t.Errorf("%v, %v", request, err)
		}
	}
	wantSpent(t, ledger, release.UnitRecord, "b", 0)
	ask(t, unconfirmed(t, 1, true, ledger, openAgain(t, folder)), "b", 1)
	if isNew, err := openAgain(t, folder).NewCodebook(hash); isNew || err != nil {
		t.Errorf("new %v, %v", isNew, err)
	}
}
