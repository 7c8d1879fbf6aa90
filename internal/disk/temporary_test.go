package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// The next process removes the files of a killed one. Files that are being written, and other
// files, stay.
func TestTemporary(t *testing.T) {
	folder := t.TempDir()
	at := folder + string(filepath.Separator)
	const start = ".rows.privatemail-"
	others := []string{
		".rows.privatemail-.tmp", ".rows.privatemail-12x.tmp.gz", ".rows.privatemail-UPPER_1.tmp", ".rows.tmp",
		".rows.privatemail", "rows", ".rows2.privatemail-abc.tmp", ".rows.privatemail-zzzzzzzzzzzzzzzz.tmp",
	}
	for _, name := range append([]string{".rows.privatemail-abc.tmp", ".rows.privatemail-0.tmp"}, others...) {
		if err := os.WriteFile(at+name, []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at+".rows.privatemail-def.tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	others = append(others, ".rows.privatemail-def.tmp")
	var living []*TemporaryFile
	for range 3 {
		f, err := Temporary(at, start, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("mine"); err != nil {
			t.Fatal(err)
		}
		living = append(living, f)
	}
	want := slices.Clone(others)
	for _, f := range living {
		want = append(want, filepath.Base(f.Name()))
	}
	slices.Sort(want)
	if got := names(t, folder); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// One gets its name, one is removed, and one stays open, as in a running process.
	if err := living[0].Rename(at + "rows"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(at + "rows"); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if err := living[1].Remove(); err != nil {
		t.Error(err)
	}
	if err := living[2].Close(); err != nil { // now it looks like the file of a killed process
		t.Error(err)
	}
	f, err := Temporary(at, start, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Remove()
	if got := names(t, folder); len(got) != len(others)+1 || slices.Contains(got, filepath.Base(living[2].Name())) {
		t.Errorf("%q", got)
	}
	if _, err := Temporary(filepath.Join(folder, "none")+string(filepath.Separator), start, 0o600); err == nil {
		t.Error("a file in a folder that is not there")
	}
}

// Many goroutines that make and rename files at the same time do not remove each other's.
func TestTemporaryAtTheSameTime(t *testing.T) {
	folder := t.TempDir()
	at := folder + string(filepath.Separator)
	done := make(chan error)
	for i := range 8 {
		go func() {
			done <- func() error {
				for range 30 {
					f, err := Temporary(at, ".x.privatemail-", 0o600)
					if err != nil {
						return err
					}
					if _, err := f.WriteString(strings.Repeat("x", i)); err != nil {
						return err
					}
					if err := f.Rename(at + "x"); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := names(t, folder); !slices.Equal(got, []string{"x"}) {
		t.Errorf("%q", got)
	}
}

// A file is not locked between its close and its removal. Another process may remove it first,
// which is not an error.
func TestRemoveAfterCleaning(t *testing.T) {
	folder := t.TempDir() + string(filepath.Separator)
	f, err := Temporary(folder, "try-", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	RemoveLeft(folder, "try-")
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
}
