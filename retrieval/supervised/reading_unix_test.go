//go:build unix

package supervised_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// What is read of an open model is that of the file which Open has verified, or an error: also where
// somebody has overwritten or truncated the file meanwhile. A model is not saved then.
func TestReadingChanged(t *testing.T) {
	for name, change := range map[string]func(path string, whole []byte) error{
		"nothing":     func(string, []byte) error { return nil },
		"overwritten": func(path string, whole []byte) error { return overwrite(path, make([]byte, 8), len(whole)/2) },
		"truncated":   func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"zeros": func(path string, whole []byte) error {
			return errors.Join(os.Truncate(path, 0), os.Truncate(path, int64(len(whole))))
		},
	} {
		_, path := saved(t, "scaled", 80, 6)
		s, err := supervised.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(path, whole); err != nil {
			t.Fatal(err)
		}
		sum := float32(0)
		read := s.Reading(t.Context(), func() error {
			for _, v := range s.Model.X.Data {
				sum += v
			}
			return nil
		})
		other := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(other, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		save := s.Save(t.Context(), other)
		text, err := os.ReadFile(other)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case name == "nothing" && (read != nil || save != nil || string(text) != string(whole)):
			t.Errorf("%s: %v, %v, or other bytes", name, read, save)
		case name != "nothing" && (!errors.Is(read, supervised.ErrFile) || !errors.Is(save, supervised.ErrFile) || string(text) != "before"):
			t.Errorf("%s: %v, %v, %d bytes", name, read, save, len(text))
		}
		own := errors.New("own")
		if err := s.Reading(t.Context(), func() error { return own }); err != own {
			t.Errorf("%s: an error of the caller's: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// overwrite writes bytes into a file.
func overwrite(path string, b []byte, at int) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, int64(at))
	return errors.Join(err, f.Close())
}

// A file that is truncated while its rows are written to another one is damaged, also where the
// system finds it out and not we.
func TestWritingTruncated(t *testing.T) {
	_, path := saved(t, "scaled", 80, 6)
	s, err := supervised.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	rows := s.Model.X.Data
	err = s.Reading(t.Context(), func() error {
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
		_, err := out.Write(unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), 4*len(rows)))
		return err
	})
	if !errors.Is(err, supervised.ErrFile) {
		t.Error(err)
	}
}
