package client

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A log that says it is a terabyte long takes no memory for what is not in it.
func TestLogOfAbsurdSize(t *testing.T) {
	data, ends := plainLog(testEntries)
	f := folderOf(t, data)
	if err := os.Truncate(f.logs[0].path, 1<<40); err != nil {
		t.Skip("no file of holes:", err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := f.Recall(logKey(900))
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrMemory) {
		t.Errorf("%v", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("%d bytes were taken", taken)
	}
	for i := range ends {
		if _, err := f.Recall(logKey(i)); err != nil {
			t.Errorf("entry %d, ahead of the damage: %v", i, err)
		}
	}
}

// Who keeps something in a log that was removed or cut off since it was read gets an
// error, and the file stays as it is.
func TestKeepInALogThatChanged(t *testing.T) {
	_, ends := plainLog(testEntries)
	for name, f := range changedLogs(t, func(f *Folder) {
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
	}) {
		if _, err := f.Keep(logKey(900), []byte("message")); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(filepath.Join(f.path, "releases-0.log")); err != nil || info.Size() > int64(ends[1]) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Who reads while another takes off what a crash has left reads once more, with the lock.
func TestLogCutWhileItIsRead(t *testing.T) {
	data, ends := plainLog(2)
	for size := range data {
		var keys []Key
		end, err := readEntries(&memoryFile{data[:size]}, logHeader, int64(len(data)), func(_ int64, key Key) { keys = append(keys, key) })
		want := 0
		for want < len(ends) && ends[want] <= size {
			want++
		}
		if err != nil || len(keys) != want || end > max(logHeader, int64(size)) {
			t.Errorf("%d of %d bytes: %d entries up to %d, %v", size, len(data), len(keys), end, err)
		}
	}
}

// Where a log has two entries of one key, the first one stays, whether both are read at
// once or one after the other: it is what was served.
func TestFirstEntryStays(t *testing.T) {
	first := appendEntry(newLogHeader(0), logHeader, logKey(0), []byte("first"))
	both := appendEntry(first[:len(first):len(first)], int64(len(first)), logKey(0), []byte("second"))
	for _, data := range [][]byte{both, first} {
		f := folderOf(t, data)
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.logs[0].path, both, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		if message, err := f.Recall(logKey(0)); err != nil || string(message) != "first" {
			t.Errorf("%q, %v", message, err)
		}
	}
}

// A file of the earlier format that is longer than any message takes no memory.
func TestFileOfAbsurdSize(t *testing.T) {
	f := openAgain(t, t.TempDir())
	if err := os.WriteFile(f.file(Key{1}), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(f.file(Key{1}), maxKept+1); err != nil {
		t.Skip("no file of holes:", err)
	}
	if message, err := f.Recall(Key{1}); !errors.Is(err, ErrMemory) || message != nil {
		t.Errorf("%d bytes, %v", len(message), err)
	}
}
