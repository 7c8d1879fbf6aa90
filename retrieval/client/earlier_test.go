package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// releaseEarlier keeps a set in a memory as the second format has it, paid for by the ledger, and
// returns its cells. where is the key of the set, or that of a pending one.
func releaseEarlier(t *testing.T, ledger *mechanism.Ledger, memory Memory, name string, where func(Key) Key) []uint32 {
	t.Helper()
	other := NewMemory()
	c := newClient(t, 1, 1, ledger, other)
	cells := ask(t, c, name, 3)
	s, err := c.look(named(name))
	if err != nil || s.own == nil {
		t.Fatal(err)
	}
	if _, err := memory.Keep(where(earlierKey(t, c, name)), s.own.body); err != nil {
		t.Fatal(err)
	}
	return cells
}

// earlierKey is the key of the second format.
func earlierKey(t *testing.T, c *Cells, name string) Key {
	t.Helper()
	payer, err := mechanism.Unit{Kind: release.UnitRecord, Name: name}.Payer(c.settings.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	b := append([]byte("privatemail cells 2"), payer[:]...)
	b = append(b, c.settings.Codebook[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.subset.Items))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.subset.Size))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.subset.Epsilon))
	return sha256.Sum256(append(b, name...))
}

func sameKey(key Key) Key { return key }

// What a memory of the formats before there was a secret holds goes by names. Its rows are not
// known: such a name is sent again, or spends again, only where somebody says so, and a row that
// is asked for by its content is refused. Nothing is spent twice without a word.
func TestEarlierMemory(t *testing.T) {
	for how, where := range map[string]func(Key) Key{"kept": sameKey, "pending": pendingKey} {
		ledger, folder := pureLedger(t), openAgain(t, t.TempDir())
		want := releaseEarlier(t, ledger, folder, "a", where)
		for range 2 {
			c := newClient(t, 1, 1, ledger, openAgain(t, folder.path))
			if request, err := c.Ask(named("a"), []float64{3, 0.5}); request != nil || !errors.Is(err, ErrChanged) {
				t.Errorf("%s: %v, %v", how, request, err)
			}
			if request, err := c.Ask(content(3), []float64{3, 0.5}); request != nil || !errors.Is(err, ErrEarlierNames) {
				t.Errorf("%s: %v, %v", how, request, err)
			}
			if _, err := c.Foresee(content(3)); !errors.Is(err, ErrEarlierNames) {
				t.Errorf("%s: %v", how, err)
			}
			c.settings.Changed = ResendChanged
			if standing, err := c.Foresee(named("a")); standing != Resent || err != nil {
				t.Errorf("%s: standing %d, %v", how, standing, err)
			}
			if got := ask(t, c, "a", 500); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", how, got, want)
			}
			wantSpent(t, ledger, release.UnitRecord, "a", 1)
		}
		c := newClient(t, 1, 1, ledger, openAgain(t, folder.path))
		ask(t, c, "b", 3) // a new name
		wantSpent(t, ledger, release.UnitRecord, "b", 1)
		c.settings.Changed = SpendChanged
		again := ask(t, c, "a", 3)
		if slices.Equal(again, want) {
			t.Errorf("%s: the earlier set is sent for a spend", how)
		}
		wantSpent(t, ledger, release.UnitRecord, "a", 2)
		c.settings.Changed = RefuseChanged // from here on the row is known
		if got := ask(t, c, "a", 3); !slices.Equal(got, again) {
			t.Errorf("%s: %v, want %v", how, got, again)
		}
		wantSpent(t, ledger, release.UnitRecord, "a", 2)
	}
}

// A folder of the format before logs is read, and what is new goes to the logs.
func TestFolderOfTheEarlierFormat(t *testing.T) {
	ledger, memory, folder := pureLedger(t), NewMemory(), openAgain(t, t.TempDir())
	want := releaseEarlier(t, ledger, memory, "a", sameKey)
	c := newClient(t, 1, 1, ledger, memory)
	key := earlierKey(t, c, "a")
	message, err := memory.Recall(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder.file(key), message, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c := newClient(t, 1, 1, ledger, openAgain(t, folder.path))
		if _, err := c.Ask(content(3), []float64{3, 0.5}); !errors.Is(err, ErrEarlierNames) {
			t.Error(err)
		}
		c.settings.Changed = ResendChanged
		if got := ask(t, c, "a", 500); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		ask(t, c, "b", 3)
	}
	wantSpent(t, ledger, release.UnitRecord, "a", 1)
	wantSpent(t, ledger, release.UnitRecord, "b", 1)
	if got, err := folder.Keep(key, []byte("another")); err != nil || !bytes.Equal(got, message) {
		t.Errorf("%q, %v", got, err)
	}
}

// A log of the first format, whose sets have no number, is of names as well.
func TestFirstFormatIsOfNames(t *testing.T) {
	ledger, folder := pureLedger(t), openAgain(t, t.TempDir())
	c := newClient(t, 1, 1, ledger, folder)
	set, err := (&wire.CellsRequest{Codebook: c.settings.Codebook, Cells: []uint32{1, 2, 3, 4}}).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Keep(keyWithoutPayer(c, "a"), set); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ask(content(3), []float64{3, 0.5}); !errors.Is(err, ErrEarlierNames) {
		t.Error(err)
	}
	ask(t, c, "a", 3)
	wantSpent(t, ledger, release.UnitRecord, "a", 1)
}

// The secret of a folder is made once, for its owner alone, and all who share the folder have it.
func TestSecretOfAFolder(t *testing.T) {
	path := t.TempDir()
	secrets := make(chan [secretSize]byte, 50)
	for range cap(secrets) {
		go func() {
			secret, older, err := openAgain(t, path).Secret()
			if older || err != nil {
				t.Errorf("older %v: %v", older, err)
			}
			secrets <- secret
		}()
	}
	first := <-secrets
	for range cap(secrets) - 1 {
		if secret := <-secrets; secret != first || secret == [secretSize]byte{} {
			t.Fatal("two secrets")
		}
	}
	info, err := os.Stat(filepath.Join(path, secretName))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v", err)
	}
	if other, _, err := openAgain(t, t.TempDir()).Secret(); other == first || err != nil {
		t.Errorf("two folders have one secret: %v", err)
	}
}

// A folder that has lost its secret, or has a damaged one, is an error, and nothing is spent.
func TestSecretLost(t *testing.T) {
	ledger, path := pureLedger(t), t.TempDir()
	c := newClient(t, 1, 1, ledger, openAgain(t, path))
	for _, id := range []RecordID{named("a"), content(3)} {
		if _, err := c.Ask(id, []float64{3, 0.5}); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(path, secretName)
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(sound)
	flipped[20] ^= 1
	for name, b := range map[string][]byte{"gone": nil, "empty": {}, "short": sound[:40], "long": append(slices.Clone(sound), 0), "changed": flipped, "zeros": make([]byte, len(sound))} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if b != nil {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []RecordID{named("a"), named("b"), content(3), content(4)} {
			if request, err := newClient(t, 1, 1, ledger, openAgain(t, path)).Ask(id, []float64{3, 0.5}); request != nil || !errors.Is(err, ErrMemory) {
				t.Errorf("%s: %v, %v", name, request, err)
			}
		}
		if b == nil { // also for who has read it before
			if request, err := c.Ask(named("c"), []float64{3, 0.5}); request != nil || !errors.Is(err, ErrMemory) {
				t.Errorf("%s: %v, %v", name, request, err)
			}
		}
	}
	wantSpent(t, ledger, release.UnitRecord, "a", 1)
	wantSpent(t, ledger, release.UnitRecord, "b", 0)
	wantSpent(t, ledger, release.UnitRecord, "c", 0)
	if err := os.WriteFile(file, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, newClient(t, 1, 1, ledger, openAgain(t, path)), "a", 3)
	wantSpent(t, ledger, release.UnitRecord, "a", 1)
}
