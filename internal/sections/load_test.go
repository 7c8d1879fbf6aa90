package sections

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// Loaded data stays the same, whatever happens to the file.
func TestLoad(t *testing.T) {
	path := sample(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Load(t.Context(), path, "sample")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, spoil := range []func() error{
		func() error { return os.WriteFile(path, bytes.Repeat([]byte{1}, len(before)), 0o600) },
		func() error { return os.Truncate(path, 0) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.data, before) {
			t.Fatal("other bytes")
		}
	}
	if err := f.VerifyAll(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if floats, err := Numbers[float32](f, "floats"); err != nil || len(floats) != 3 {
		t.Errorf("%v, %v", floats, err)
	}
}

// Load compares all checksums.
func TestLoadDamaged(t *testing.T) {
	path := sample(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] ^= 4
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		data[i] ^= 4
		if _, err := Load(t.Context(), path, ""); !errors.Is(err, ErrDamaged) && (i >= 16 || !errors.Is(err, ErrForeign) && !errors.Is(err, ErrVersion)) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

func TestLoadRefused(t *testing.T) {
	path := sample(t)
	if _, err := Load(t.Context(), path, "other"); !errors.Is(err, ErrKind) {
		t.Errorf("another kind: %v", err)
	}
	if _, err := Load(t.Context(), path+"-absent", ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ended, path, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, _, err := intoMemory(t.Context(), file, 1<<20); err == nil {
		t.Error("more bytes than the file has")
	}
	if _, _, err := intoMemory(t.Context(), file, mem.AddressSpace); err == nil {
		t.Error("more bytes than there is memory")
	}
}

// Hash covers all bytes, and fails if a checksum is wrong.
func TestHash(t *testing.T) {
	path := sample(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var seen []int64
	got, err := open(t, path, "").Hash(t.Context(), func(done, total int64) {
		if seen = append(seen, done); total != int64(len(data)) {
			t.Errorf("%d bytes, want %d", total, len(data))
		}
	})
	if want := sha256.Sum256(data); err != nil || got != want {
		t.Errorf("%x, want %x: %v", got, want, err)
	}
	if !slices.IsSorted(seen) || seen[len(seen)-1] != int64(len(data)) {
		t.Errorf("progress %v of %d", seen, len(data))
	}
	for i := headSize; i < len(data); i++ { // Parse checks the head
		data[i] ^= 1
		f, err := Parse("file", data)
		if err == nil {
			_, err = f.Hash(t.Context(), nil)
		}
		if data[i] ^= 1; !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

// A file that was changed while open and then restored counts as damaged, since other bytes may
// have been read meanwhile. Another file in its place changes nothing.
func TestChangeThatWasUndone(t *testing.T) {
	path := sample(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	early := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, early, early); err != nil {
		t.Fatal(err)
	}
	f := open(t, path, "")
	if err := f.VerifyAll(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(path), "other")
	if err := errors.Join(os.Rename(path, other), os.WriteFile(path, []byte("another file"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := f.VerifyAll(t.Context(), nil); err != nil {
		t.Errorf("another file has its name: %v", err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	for _, bytes := range [][]byte{make([]byte, len(whole)), whole} {
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.VerifyAll(t.Context(), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("a change that was undone: %v", err)
	}
}
