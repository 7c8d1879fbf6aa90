//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// What is served stays as it was when somebody truncates the files under it.
func TestServeTruncated(t *testing.T) {
	_, model := toyModel(t)
	text := textFile(t, strings.Repeat("a record\n", 300))
	s := serveOn(t, model, "-epsilon", "4", "-sealed", "-records", text)
	paths := []string{"/v1/rows", "/v1/base", "/v1/map", "/v1/sealed/hint", "/v1/sealed/ids", "/v1/sealed/records/hint"}
	want := map[string][]byte{} // from another one: what was asked for before may be kept
	whole := serveOn(t, model, "-epsilon", "4", "-sealed", "-records", text)
	for _, path := range paths {
		want[path] = get(t, 200, whole.Listening+path)
	}
	whole.end()
	for _, ending := range []string{".model", ".gallery", ".sealed", ".records"} {
		if err := os.Truncate(strings.TrimSuffix(model, ".model")+ending, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range paths {
		if got := get(t, 200, s.Listening+path); len(got) == 0 || !bytes.Equal(got, want[path]) {
			t.Errorf("%s: %d bytes, want %d", path, len(got), len(want[path]))
		}
	}
}

// A model that has grown and is damaged leaves the gallery that is served. When it is mended, its
// rows are added.
func TestServeDamagedHangup(t *testing.T) {
	told := listen(t)
	_, model := toyModel(t)
	s := serveOn(t, model, "-sealed", "-epsilon", "4", "-rebuild")
	told() // ready
	growModel(t, model, 10)
	damage(t, model, 4, func(at int) {
		told.hangup(t)
		if hint := s.hint(t); hint.Version != 0 {
			t.Errorf("byte %d: version %d of a damaged model", at, hint.Version)
		}
		if book := s.codebook(t); book.Rows != 300 {
			t.Errorf("byte %d: %d rows", at, book.Rows)
		}
	})
	told.hangup(t)
	if hint := s.hint(t); hint.Version != 10 {
		t.Errorf("version %d", hint.Version)
	}
	if book := s.codebook(t); book.Rows != 310 || book.Version != 2 {
		t.Errorf("%d rows, version %d", book.Rows, book.Version)
	}
	if code, log := s.end(); code != cli.OK || told() != "STOPPING=1" {
		t.Errorf("exit code %d\n%s", code, log)
	}
}

// SIGTERM ends serve with 0 whenever it comes, also while a gallery is made, of which no part
// stays.
func TestServeEndsWhileMaking(t *testing.T) {
	_, model := toyModel(t)
	large := filepath.Join(t.TempDir(), "large.model")
	saved, err := supervised.Open(t.Context(), model, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	grown, columns := *saved.Model, saved.Model.X.Cols
	const rows = 60_000 // some seconds of work
	x := blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float32, rows*columns)}
	for i := range x.Data {
		x.Data[i] = float32(i*7919%104729) / 104729
	}
	z := x
	z.Data = slices.Clone(x.Data)
	grown.X, grown.Z, grown.Graph, grown.Trace, grown.Labels = x, z, nil, nil, nil
	if err := grown.Save(t.Context(), large, saved.About); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-epsilon", "8"}, {"-sealed"}} {
		temp := t.TempDir()
		c := childtest.Command(t, []string{asCommand + "=1"},
			append([]string{"serve", large, "-gallery", filepath.Join(temp, "g"), "-listen", "127.0.0.1:0", "-admin", "none", "-json"}, flags...)...)
		log, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(log)
		if !lines.Scan() { // progress of the making
			t.Error("it says nothing")
		}
		first, rest := lines.Text(), ""
		if !strings.Contains(first, "%") {
			t.Errorf("%v: %q is no progress", flags, first)
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			rest += lines.Text() + "\n"
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%v after %q: %v\n%s", flags, first, err, rest)
		}
		entries, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range entries { // a machine may have been so fast that it is whole
			if whole, err := sections.Load(t.Context(), filepath.Join(temp, f.Name()), ""); err != nil {
				t.Errorf("%v after %q: it leaves %s: %v", flags, first, f.Name(), err)
			} else {
				whole.Close()
			}
		}
	}
}
