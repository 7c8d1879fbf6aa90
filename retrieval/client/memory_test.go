package client

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	folder, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	key := Key{1, 2}
	if got, err := folder.Recall(key); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	// What was kept first stays, also against another process.
	for _, message := range []string{"first", "second"} {
		other, err := OpenFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := other.Keep(key, []byte(message)); err != nil || !bytes.Equal(got, []byte("first")) {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := folder.Recall(key); err != nil || !bytes.Equal(got, []byte("first")) {
			t.Errorf("%q, %v", got, err)
		}
	}
	files, err := os.ReadDir(path)
	if err != nil || len(files) != 1 {
		t.Errorf("%d files left: %v", len(files), err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}

// The name of a file is a hash of the name of a record, which can be guessed and
// tested: no error holds it.
func TestFolderErrorsHoldNoNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory")
	folder, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("a file in its place"), 0o600); err != nil {
		t.Fatal(err)
	}
	key := Key{0xab, 0xcd}
	_, recalled := folder.Recall(key)
	linked := memoryError(os.Link(path, folder.file(key)))
	for _, err := range []error{recalled, linked} {
		if !errors.Is(err, ErrMemory) || strings.Contains(err.Error(), "abcd") {
			t.Errorf("error %v", err)
		}
	}
}

func TestFolderRefuses(t *testing.T) {
	path := t.TempDir()
	folder, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder.file(Key{1}), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder.file(Key{2}), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []Key{{1}, {2}} {
		if got, err := folder.Recall(key); !errors.Is(err, ErrMemory) || got != nil {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := folder.Keep(key, []byte("x")); !errors.Is(err, ErrMemory) || got != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := OpenFolder(folder.file(Key{1})); !errors.Is(err, ErrMemory) {
		t.Errorf("a file as folder: error %v", err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Keep(Key{3}, []byte("x")); !errors.Is(err, ErrMemory) {
		t.Errorf("folder gone: error %v", err)
	}
}
