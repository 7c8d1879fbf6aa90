package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Open(path, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	f, err := Open(path, os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("kept"); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []int{0, os.O_CREATE} {
		if _, err := Open(path, flag); !errors.Is(err, ErrHeld) {
			t.Errorf("flag %d, file in use: %v", flag, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(path, os.O_CREATE); err != nil {
		t.Fatalf("after Close: %v", err)
	}
	defer f.Close()
	if data, err := os.ReadFile(path); err != nil || string(data) != "kept" {
		t.Errorf("%q, %v", data, err)
	}
}
