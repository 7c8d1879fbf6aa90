package client

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A folder is not ready where one of its logs cannot be written to, also one that was
// read before. Nothing is spent then.
func TestFolderIsNotReady(t *testing.T) {
	data, _ := plainLog(testEntries)
	for name, spoil := range map[string]func(path string) error{
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"read-only": func(path string) error {
			if os.Geteuid() == 0 {
				return errors.ErrUnsupported // who may write to everything
			}
			return os.Chmod(path, 0o400)
		},
	} {
		f := folderOf(t, data)
		if err := errors.Join(f.Check(), f.Ready()); err != nil {
			t.Fatal(err)
		}
		if err := spoil(f.logs[0].path); errors.Is(err, errors.ErrUnsupported) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if err := f.Ready(); !errors.Is(err, ErrMemory) {
			t.Errorf("%s in place of a log: %v", name, err)
		}
	}
	// A log that somebody is writing to is no fault.
	f := folderOf(t, data)
	_, release, err := f.logs[0].hold()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ready(); err != nil {
		t.Error(err)
	}
	release()
	if files, err := filepath.Glob(filepath.Join(f.path, "try-*")); err != nil || files != nil {
		t.Errorf("%d files are left: %v", len(files), err)
	}
}

// unready is a memory that is never ready.
type unready struct{ Memory }

func (unready) Ready() error { return ErrMemory }

func TestNothingIsSpentUnready(t *testing.T) {
	ledger := pureLedger(t)
	c := newClient(t, 1, 1, ledger, unready{NewMemory()})
	if _, err := c.Ask(named("x"), make([]float64, c.book.Dimension)); !errors.Is(err, ErrMemory) || errors.Is(err, mechanism.ErrSpent) {
		t.Error(err)
	}
	if spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: "x"}); err != nil || spent != (mechanism.Pots{}) {
		t.Errorf("%v is spent: %v", spent, err)
	}
}

// The names of folders that are made are put on the disk, up to one that was there.
func TestFolderIsSynced(t *testing.T) {
	top := t.TempDir()
	var synced []string
	sync := func(folder string) error { synced = append(synced, folder); return nil }
	if err := makeFolder(filepath.Join(top, "a", "b"), sync); err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(top, "a"), top}; !slices.Equal(synced, want) {
		t.Errorf("%q are synced, want %q", synced, want)
	}
	synced = nil
	if err := makeFolder(filepath.Join(top, "a", "b"), sync); err != nil || synced != nil {
		t.Errorf("%q are synced: %v", synced, err)
	}
	if err := makeFolder(filepath.Join(top, "c"), func(string) error { return errBroken }); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// What another process has written is not served before the name of its log is on the
// disk: whoever made the log may have died before it was.
func TestLogNameIsSynced(t *testing.T) {
	data, _ := plainLog(1)
	l := &keyLog{path: filepath.Join(t.TempDir(), "gone", "releases-0.log")}
	if err := l.mend(&memoryFile{data}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that cannot be synced: %v", err)
	}
	if at := l.find(logKey(0)); at != 0 {
		t.Error("the entry is served")
	}
}

// A disk that is full in the middle of the first entry of a log takes back no header that
// another process may have read: that one goes on when there is room again.
func TestFirstEntryOnAFullDisk(t *testing.T) {
	path := t.TempDir()
	writer, reader := openAgain(t, path), openAgain(t, path)
	l := &writer.logs[0]
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	full := readBetween{brokenFile{openLog{file}, "write"}, func() {
		if _, err := reader.logs[0].readOn(); err != nil {
			t.Error(err)
		}
	}}
	if _, _, err := l.append(full, 0, logKey(0), logMessage(0)); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	for i, f := range []*Folder{reader, writer} {
		if _, err := f.Keep(logKey(i), logMessage(i)); err != nil {
			t.Errorf("folder %d: %v", i, err)
		}
	}
	want, _ := plainLog(2)
	if data, err := os.ReadFile(l.path); err != nil || !bytes.Equal(data, want) {
		t.Errorf("%d bytes, want %d: %v", len(data), len(want), err)
	}
}

// readBetween lets somebody read between a write that fails and what is done about it.
type readBetween struct {
	brokenFile
	read func()
}

func (f readBetween) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.brokenFile.WriteAt(b, at)
	f.read()
	return n, err
}
