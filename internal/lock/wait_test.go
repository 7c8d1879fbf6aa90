package lock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Many callers wait for one file, and each has it alone.
func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var inside, most atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			f, err := Wait(t.Context(), path, os.O_CREATE)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n > 1 {
				most.Store(n)
			}
			inside.Add(-1)
			f.Close()
		})
	}
	all.Wait()
	if n := most.Load(); n > 1 {
		t.Errorf("%d had it at the same time", n)
	}
}

func TestWaitEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Wait(t.Context(), path, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	f, err := Open(path, os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Wait(ctx, path, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
