package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// contents returns the text of a file, and the other names in its folder.
func contents(t *testing.T, path string) (text string, others []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			others = append(others, e.Name())
		}
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data), others
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, data := range []string{"first", "second"} {
		err := Create(path, []byte(data))
		if (data == "first") != (err == nil) || err != nil && !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", data, err)
		}
		if text, others := contents(t, path); text != "first" || others != nil {
			t.Errorf("%s: %q with %q", data, text, others)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info, err)
	}
	if err := Create(filepath.Join(path, "none"), nil); err == nil {
		t.Error("a file in a file")
	}
}

var errStep = errors.New("no such luck")

// Whichever step fails or is the last before the process dies, the file exists as a
// whole or not at all.
func TestCreateFailsAtEveryStep(t *testing.T) {
	steps := []string{"create", "write", "sync", "close", "link", "create in place", "sync folder"}
	for _, failing := range steps {
		path := filepath.Join(t.TempDir(), "file")
		var seen []string
		err := create(path, [][]byte{[]byte("wh"), []byte("ole")}, func(step string) error {
			// The files that a process leaves if it dies here.
			_, err := os.Lstat(path)
			inPlace := failing == "link" // which fails, and the file is made in place
			if text, _ := contents(t, path); err == nil && text != "whole" && !inPlace {
				t.Errorf("before %s: the file is there with %q", step, text)
			}
			seen = append(seen, step)
			if step == failing || step == "link" && failing == "create in place" {
				return errStep
			}
			return nil
		})
		text, others := contents(t, path)
		if others != nil {
			t.Errorf("%s: %q are left", failing, others)
		}
		want, there := error(errStep), false
		switch failing {
		case "link": // the file is made in place
			want, there = nil, true
		case "sync folder":
			there = true
		}
		if !errors.Is(err, want) || there != (text == "whole") || !there && text != "" {
			t.Errorf("%s: %q, %v", failing, text, err)
		}
		if failing == "sync folder" && !strings.Contains(err.Error(), "the file exists") {
			t.Error(err)
		}
		if !slices.Contains(seen, failing) {
			t.Errorf("%s is no step: %q", failing, seen)
		}
	}
}

// A file made in place is removed if a step fails, and other files are not touched.
func TestCreateInPlace(t *testing.T) {
	for _, failing := range []string{"write", "sync", "close"} {
		path := filepath.Join(t.TempDir(), "file")
		fail := func(step string) error {
			if step == failing {
				return errStep
			}
			return nil
		}
		if err := createInPlace(path, [][]byte{[]byte("whole")}, fail); !errors.Is(err, errStep) {
			t.Errorf("%s: %v", failing, err)
		}
		if text, others := contents(t, path); text != "" || others != nil {
			t.Errorf("%s: %q, %q are left", failing, text, others)
		}
		if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := createInPlace(path, [][]byte{[]byte("whole")}, fail); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", failing, err)
		}
		if text, _ := contents(t, path); text != "other" {
			t.Errorf("%s: another file is now %q", failing, text)
		}
	}
}
