package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// saved returns a file with a gallery.
func saved(t testing.TB, g *Gallery) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.sealed")
	if err := g.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// reopened returns the gallery that a file has. It is closed with the test.
func reopened(t testing.TB, path string) *Gallery {
	t.Helper()
	g, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// allBytes returns all that a gallery can send, with the answer to a request.
func allBytes(t testing.TB, g *Gallery) []byte {
	t.Helper()
	m := g.Manifest()
	answers, err := g.Answer(t.Context(), drawnRequest(rand.New(rand.NewPCG(1, 2)), g.Epoch(), m.Probes, m.Columns(), 3))
	if err != nil {
		t.Fatal(err)
	}
	changes, err := g.Changes(0, g.Version())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, message := range []io.WriterTo{m, g.Hint(), g.IDs(), changes, answers[0]} {
		if _, err := message.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
	}
	out.Write(g.Map())
	out.WriteString(g.Source())
	return out.Bytes()
}

// grownGallery returns a gallery of some versions, and rows to go on with.
func grownGallery(t testing.TB, s Settings) (*Gallery, [][]float64) {
	t.Helper()
	all := unitRows(6, 120, 7, 3)
	x := all
	x.Rows = 100
	g := newGallery(t, x, s)
	var rest [][]float64
	for id := 100; id < 120; id++ {
		rest = append(rest, all.Data[id*7:(id+1)*7])
	}
	for i, row := range rest[:10] {
		if _, err := g.Insert(row, uint32(100+i)); err != nil && !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
	}
	if err := g.Remove(0); err != nil {
		t.Fatal(err)
	}
	return g, rest[10:]
}

// A gallery that is opened sends the bytes of the one that was saved, goes on as it does, leaves
// its file as it was, and can be saved again.
func TestSaveAndOpen(t *testing.T) {
	for name, s := range map[string]Settings{"plain": {}, "all": {Cells: 7, Probes: 2, Map: []byte(`{}`), Source: "a model", History: 2}, "empty map": {Map: []byte{}}} {
		want, rest := grownGallery(t, s)
		path := saved(t, want)
		first, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := reopened(t, path)
		workers := par.New(2)
		got.SetWorkers(workers)
		if !bytes.Equal(allBytes(t, got), allBytes(t, want)) || (got.Map() == nil) != (s.Map == nil) || got.log.most != want.log.most {
			t.Errorf("%s: another gallery", name)
		}
		if second, err := os.ReadFile(saved(t, got)); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: saved again, it is another file: %v", name, err)
		}
		for i, row := range rest {
			a, errA := want.Insert(row, uint32(i))
			b, errB := got.Insert(row, uint32(i))
			if a != b || errors.Is(errA, ErrFull) != errors.Is(errB, ErrFull) {
				t.Fatalf("%s: row %d goes to slots %d and %d: %v, %v", name, i, a, b, errA, errB)
			}
		}
		if !bytes.Equal(allBytes(t, got), allBytes(t, want)) || got.Version() != want.Version() || got.Rows() != want.Rows() {
			t.Errorf("%s: another gallery after rows were inserted", name)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(first, now) {
			t.Errorf("%s: the file has changed: %v", name, err)
		}
		if err := errors.Join(got.SetSource("another"), want.SetSource("another")); err != nil || got.Source() != "another" || reopened(t, saved(t, got)).Source() != "another" {
			t.Errorf("%s: source: %v", name, err)
		}
		if err := got.SetSource("\xff"); !errors.Is(err, ErrGallery) || got.Source() != "another" {
			t.Errorf("%s: source: %v", name, err)
		}
		workers.Close()
	}
}

// What is a view of a file is copied by the first change.
func TestOpenAndChange(t *testing.T) {
	all := unitRows(7, 41, 5, 3)
	copy(all.Data[40*5:], all.Data[:5]) // it is as long as another one
	x := all
	x.Rows = 40
	path := saved(t, newGallery(t, x, Settings{}))
	for name, change := range map[string]func(g *Gallery) error{
		"Insert": func(g *Gallery) error { _, err := g.Insert(all.Data[40*5:], 40); return err },
		"Remove": func(g *Gallery) error { return g.Remove(0) },
	} {
		g := reopened(t, path)
		if err := change(g); err != nil {
			t.Fatal(name, err)
		}
		checkGallery(t, g, all)
	}
}

// A gallery that is served answers as it did when somebody truncates its file.
func TestOpenThenTruncated(t *testing.T) {
	want := newGallery(t, unitRows(1, 30, 3, 2), Settings{})
	path := saved(t, want)
	got := reopened(t, path)
	for _, size := range []int64{5000, 0} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(allBytes(t, got), allBytes(t, want)) {
			t.Errorf("%d bytes left: another gallery", size)
		}
	}
}

// What was there stays when the context has ended.
func TestSaveStops(t *testing.T) {
	g := newGallery(t, unitRows(1, 30, 3, 2), Settings{})
	path := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Save(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "before" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Open(ctx, saved(t, g)); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: error %v", err)
	}
}

// A file that was cut anywhere is refused.
func TestOpenTruncated(t *testing.T) {
	g, _ := grownGallery(t, Settings{})
	path := saved(t, g)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + n/20 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if g, err := Open(t.Context(), path); g != nil || !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// A byte that was changed is found when the file is opened.
func TestOpenChanged(t *testing.T) {
	g, _ := grownGallery(t, Settings{Source: "s", Map: []byte("m")})
	path := saved(t, g)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + at/40 {
		changed := slices.Clone(whole)
		changed[at] ^= 0x41
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if g, err := Open(t.Context(), path); g != nil || !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Fatalf("byte %d of %d: %v", at, len(whole), err)
		}
	}
}

// Sections that do not go together are refused, though each is whole.
func TestOpenHostile(t *testing.T) {
	g, _ := grownGallery(t, Settings{Map: []byte("m")})
	write := func(w *sections.Writer, change string, g *Gallery) error {
		rows, names := g.log.changed(g.Version())
		facts := fileFacts{Version: g.Version(), History: 9}
		norms, ids := slices.Clone(g.slots.norms.values), slices.Clone(g.IDs().IDs)
		hint, panels := g.Hint().Words, make([]int8, panelBytes(g.manifest.Length, g.manifest.Columns()))
		manifest, m := g.manifest, []byte("m")
		switch change {
		case "version":
			facts.Version = 1 << 63
		case "version 0":
			facts.Version = 0
		case "norms of version 0":
			facts.Version, rows, names = 0, nil, nil
		case "versions":
			facts.Version = 3
		case "history":
			facts.History = 0
		case "source":
			facts.Source = string(make([]byte, maxSource+1))
		case "map":
			m = []byte("another")
		case "kappa":
			manifest.Kappa--
		case "norms":
			norms = norms[1:]
		case "a norm":
			norms[slices.IndexFunc(norms, func(v int16) bool { return v != wire.EmptySlot })] = 32767
		case "ids":
			ids = append(ids, 1)
		case "an id":
			ids[0], ids[1] = ids[1], wire.Padding
		case "hint":
			hint = hint[1:]
		case "panels":
			panels = panels[1:]
		}
		writeMap := func() error { return w.Bytes(sectionMap, m) }
		if change == "no map" {
			writeMap = func() error { return nil }
		}
		return errors.Join(
			w.JSON(sectionFacts, facts), w.Message(sectionManifest, &manifest), writeMap(),
			sections.WriteNumbers(w, sectionNorms, norms), sections.WriteNumbers(w, sectionIDs, ids),
			hostileChanged(w, sectionsRows, rows, change, "rows"), hostileChanged(w, sectionsNames, names, change, "names"),
			sections.WriteNumbers(w, sectionHint, hint), sections.WriteNumbers(w, sectionPanels, panels),
		)
	}
	for _, change := range []string{
		"", "version", "version 0", "norms of version 0", "versions", "history", "source", "map", "no map", "kappa", "norms", "a norm", "ids", "an id", "hint", "panels",
		"falling rows", "far rows", "version 0 of rows", "fewer versions of rows", "falling names", "far names", "version 0 of names", "fewer versions of names",
	} {
		path := filepath.Join(t.TempDir(), "hostile")
		if err := sections.Write(t.Context(), path, fileKind, fileVersion, func(w *sections.Writer) error { return write(w, change, g) }); err != nil {
			t.Fatal(err)
		}
		opened, err := Open(t.Context(), path)
		if change == "" {
			if err != nil {
				t.Fatalf("no change: %v", err)
			}
			err = opened.Close()
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if opened != nil || !errors.Is(err, sections.ErrDamaged) {
			t.Errorf("%s: %v", change, err)
		}
	}
	for name, kind := range map[string]string{"another kind": "gallery", "another version": fileKind} {
		path := filepath.Join(t.TempDir(), "foreign")
		if err := sections.Write(t.Context(), path, kind, fileVersion+1, func(w *sections.Writer) error { return write(w, "", g) }); err != nil {
			t.Fatal(err)
		}
		if opened, err := Open(t.Context(), path); opened != nil || !errors.Is(err, formats.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// hostileChanged writes numbers and versions with one mistake.
func hostileChanged(w *sections.Writer, to [2]string, changed map[uint32]uint64, change, of string) error {
	var numbers []uint32
	var versions []uint64
	for n := range uint32(1 << 12) {
		if v, ok := changed[n]; ok {
			numbers, versions = append(numbers, n), append(versions, v)
		}
	}
	switch change {
	case "falling " + of:
		slices.Reverse(numbers)
	case "far " + of:
		numbers[len(numbers)-1] = 1 << 30
	case "version 0 of " + of:
		versions[0] = 0
	case "fewer versions of " + of:
		versions = versions[1:]
	}
	return errors.Join(sections.WriteNumbers(w, to[0], numbers), sections.WriteNumbers(w, to[1], versions))
}
