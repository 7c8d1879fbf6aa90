package rows

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/par"
)

// Writers that ask for little get it while other writers ask for too much, whether memory
// is there from the beginning or reserved as they go.
func TestMemoryIsNeverOverdrawn(t *testing.T) {
	const entries, held = 1 << 16, 1000
	workers := par.New(2)
	defer workers.Close()
	var asked atomic.Int64
	for name, reserve := range map[string]func(int64) bool{
		"at once":      nil,
		"step by step": func(bytes int64) bool { asked.Store(bytes); return true },
	} {
		var m Memory
		if err := m.Begin(t.Context(), &Request{Memory: held + entries*EntryBytes, Reserve: reserve, Workers: workers}, held, 100, EntryBytes); err != nil {
			t.Fatal(err)
		}
		var refused atomic.Int64
		err := workers.Do(t.Context(), 2*entries, par.Func(func(_, piece int) {
			if piece%2 == 0 && m.Take(2*entries) || piece%2 == 1 && !m.Take(1) {
				refused.Add(1)
			}
		}))
		if err != nil || refused.Load() != 0 || m.left.Load() != 0 || m.Taken() != entries*EntryBytes {
			t.Errorf("%s: %d wrong answers, %d left, %v", name, refused.Load(), m.left.Load(), err)
		}
	}
	if asked.Load() != held+entries*EntryBytes {
		t.Errorf("%d bytes were asked for at last", asked.Load())
	}
}

// No entry is taken that was not reserved, and an answer that refuses one ends the search
// with an error that says so.
func TestMemoryIsReservedBeforeItIsTaken(t *testing.T) {
	const held, most = 1000, 5000
	granted := int64(0)
	request := &Request{Memory: 1 << 20, Reserve: func(bytes int64) bool {
		if bytes > most {
			return false
		}
		granted = max(granted, bytes)
		return true
	}}
	var m Memory
	if err := m.Begin(t.Context(), request, held, 800, EntryBytes); err != nil || granted != held+800 {
		t.Fatalf("%v, %d bytes granted", err, granted)
	}
	for m.Take(10) {
		if held+m.Taken() > granted {
			t.Fatalf("%d bytes are held, %d granted", held+m.Taken(), granted)
		}
	}
	if m.Err(0) != nil {
		t.Error("an error before a writer gave up")
	}
	m.Exhaust()
	if e, ok := errors.AsType[*MemoryError](m.Err(0)); !ok || !e.Denied || e.Need != 1<<20 {
		t.Errorf("%v", m.Err(0))
	}
	if e, ok := errors.AsType[*MemoryError](new(Memory).Begin(t.Context(), request, most, 800, EntryBytes)); !ok || !e.Denied {
		t.Error("began with what was refused")
	}
	request.Memory = 900
	if e, ok := errors.AsType[*MemoryError](request.Take(t.Context(), "x", 901)); !ok || e.Denied || e.Need != 901 {
		t.Error("took more than the memory limit")
	}
}
