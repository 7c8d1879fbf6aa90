//go:build unix

package par

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A task that reads a truncated mapped file gives an error, on every worker.
func TestDoMeetsFault(t *testing.T) {
	const size = 1 << 16
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(data)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	w := New(3)
	defer w.Close()
	for _, workers := range []*Workers{nil, w} {
		var e *PanicError
		if err := workers.Do(t.Context(), 100, Func(func(_, piece int) { copy(make([]byte, size), data) })); !errors.As(err, &e) {
			t.Errorf("%d workers: %v", workers.Count(), err)
		}
	}
}
