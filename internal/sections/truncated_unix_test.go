//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sections

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Truncating an open file gives an error of damage and does not end the process.
func TestTruncatedWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long")
	if err := Write(t.Context(), path, "long", 1, func(w *Writer) error { return w.Bytes("bytes", make([]byte, 1<<20)) }); err != nil {
		t.Fatal(err)
	}
	f := open(t, path, "long")
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(t.Context(), "bytes"); !errors.Is(err, ErrDamaged) {
		t.Errorf("Verify: %v", err)
	}
	if err := f.VerifyAll(t.Context(), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("VerifyAll: %v", err)
	}
	if _, err := f.Hash(t.Context(), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("Hash: %v", err)
	}
	// The system returns an error, without a fault, if it is asked to write lost bytes.
	out, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	raw, err := f.Raw("bytes")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Reading(func() error { _, err := out.Write(raw); return err }); !errors.Is(err, ErrDamaged) {
		t.Errorf("a write of bytes that are gone: %v", err)
	}
}
