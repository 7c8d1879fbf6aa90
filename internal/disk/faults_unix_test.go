//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Reading bytes of a truncated mapped file is an error; other panics continue.
func TestFaults(t *testing.T) {
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, unmap, err := Map(f, size)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(){
		"a byte":    func() { sink = data[size/2] },
		"in a copy": func() { copy(make([]byte, size), data) },
	} {
		guarded := func() (err error) {
			defer Faults(&err)()
			read()
			return nil
		}
		if err := guarded(); !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	own := errors.New("own")
	thrown := func() (thrown any) {
		defer func() { thrown = recover() }()
		var err error
		defer Faults(&err)()
		panic(own)
	}()
	if thrown != own {
		t.Errorf("another panic: %v", thrown)
	}
}

var sink byte
