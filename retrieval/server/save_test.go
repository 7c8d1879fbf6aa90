package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// saved returns a file with a gallery.
func saved(t testing.TB, c *Cells) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.gallery")
	if err := c.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// reopened returns the gallery that a file has. It is closed with the test.
func reopened(t testing.TB, path string) *Cells {
	t.Helper()
	c, err := OpenCells(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// allBytes returns all that a gallery can send.
func allBytes(t testing.TB, c *Cells) []byte {
	t.Helper()
	var out bytes.Buffer
	messages := []io.WriterTo{c.Codebook(), c.Base(wire.Float32), c.Base(wire.Int8)}
	w := c.Codebook().Size
	for first := 0; first+w <= c.Codebook().Cells(); first++ {
		request := &wire.CellsRequest{Codebook: c.hash}
		for i := range w {
			request.Cells = append(request.Cells, uint32(first+i))
		}
		for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
			if _, err := c.WriteAnswer(&out, request, encoding); err != nil {
				t.Fatal(err)
			}
			answer, err := c.Answer(request, encoding)
			if err != nil {
				t.Fatal(err)
			}
			messages = append(messages, answer)
		}
	}
	for _, m := range messages {
		if _, err := m.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
	}
	out.Write(c.AllRowsFrame())
	return out.Bytes()
}

// A gallery that is opened sends the bytes of the one that was saved, and can be saved again.
func TestSaveAndOpen(t *testing.T) {
	for name, settings := range map[string]CellsSettings{
		"encoded":   {Epsilon: 4, Seed: 3, Version: 9, Source: "a model", Map: []byte(`{"kind":"map"}`)},
		"gathered":  {Epsilon: 4, Encoded: -1},
		"two":       {Epsilon: 4, Size: 2, Map: []byte{}},
		"partition": {Partition: true},
	} {
		want := newCells(t, settings)
		path := saved(t, want)
		got := reopened(t, path)
		if !bytes.Equal(allBytes(t, got), allBytes(t, want)) {
			t.Errorf("%s: other bytes", name)
		}
		if got.hash != want.hash || got.Encoded() != want.Encoded() || got.Displaced() != want.Displaced() || got.ListLength() != want.ListLength() ||
			got.Source() != settings.Source || !bytes.Equal(got.Map(), settings.Map) || (got.Map() == nil) != (settings.Map == nil) {
			t.Errorf("%s: another gallery", name)
		}
		first, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(saved(t, got))
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s: saved again, it is another file: %v", name, err)
		}
	}
}

// What was there stays when the context has ended.
func TestSaveStops(t *testing.T) {
	c := newCells(t, CellsSettings{Epsilon: 4})
	path := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Save(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "before" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := OpenCells(ctx, saved(t, c)); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenCells: error %v", err)
	}
}

// A file that was cut anywhere is refused.
func TestOpenTruncated(t *testing.T) {
	path := saved(t, newCells(t, CellsSettings{Cells: 2, Encoded: -1}))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + n/20 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := OpenCells(t.Context(), path); c != nil || !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// A byte that was changed is found when the file is opened.
func TestOpenChanged(t *testing.T) {
	path := saved(t, newCells(t, CellsSettings{Cells: 2, Source: "s", Map: []byte("m")}))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + at%37 {
		whole[at] ^= 0x10
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		whole[at] ^= 0x10
		if c, err := OpenCells(t.Context(), path); c != nil || !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Fatalf("byte %d was changed: %v", at, err)
		}
	}
}

// A gallery that is served answers as it did when somebody overwrites its file, and truncates it.
func TestOpenThenTruncated(t *testing.T) {
	for name, encoded := range map[string]int64{"encoded": 0, "gathered": -1} {
		want := newCells(t, CellsSettings{Epsilon: 4, Encoded: encoded})
		path := saved(t, want)
		got := reopened(t, path)
		size, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, spoil := range []func() error{
			func() error { return os.WriteFile(path, make([]byte, size.Size()), 0o600) },
			func() error { return os.Truncate(path, size.Size()/2) },
			func() error { return os.Truncate(path, 0) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(allBytes(t, got), allBytes(t, want)) {
				t.Fatalf("%s: other bytes", name)
			}
		}
	}
}

func TestOpenForeign(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := filepath.Join(folder, "model")
	if err := sections.Write(t.Context(), other, "model", 1, func(w *sections.Writer) error { return w.Bytes("x", nil) }); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(folder, "later")
	if err := sections.Write(t.Context(), later, fileKind, fileVersion+1, func(w *sections.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		write("empty", nil):                        formats.ErrUnsupported,
		write("text", []byte("1,2,3\n4,5,6\n")):    formats.ErrUnsupported,
		write("npy", []byte("\x93NUMPY\x01\x00v")): formats.ErrUnsupported,
		other:                              formats.ErrUnsupported,
		later:                              formats.ErrUnsupported,
		filepath.Join(folder, "not there"): os.ErrNotExist,
	} {
		if c, err := OpenCells(t.Context(), name); c != nil || !errors.Is(err, want) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
}

// sectionsOf returns the parts of a file.
func sectionsOf(t testing.TB, path string) (names []string, parts map[string][]byte) {
	t.Helper()
	f, err := sections.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parts = map[string][]byte{}
	for _, name := range f.Names() {
		b, err := f.Bytes(name)
		if err != nil {
			t.Fatal(err)
		}
		parts[name] = bytes.Clone(b)
	}
	return f.Names(), parts
}

// rewrite writes a gallery of these parts, with right checksums.
func rewrite(t testing.TB, path string, names []string, parts map[string][]byte) {
	t.Helper()
	rewriteAs(t, path, fileKind, names, parts)
}

// rewriteAs is rewrite for a file of a kind.
func rewriteAs(t testing.TB, path, kind string, names []string, parts map[string][]byte) {
	t.Helper()
	err := sections.Write(t.Context(), path, kind, fileVersion, func(w *sections.Writer) error {
		for _, name := range names {
			if part, ok := parts[name]; ok {
				if err := w.Bytes(name, part); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Parts that are missing, of another gallery or of another size are refused, whatever their
// checksums say.
func TestOpenRefusesParts(t *testing.T) {
	cells := newCells(t, CellsSettings{Cells: 3, Seed: 1})
	path := saved(t, cells)
	names, parts := sectionsOf(t, path)
	_, others := sectionsOf(t, saved(t, newCells(t, CellsSettings{Cells: 3, Seed: 2})))
	_, pairs := sectionsOf(t, saved(t, newCells(t, CellsSettings{Cells: 3, Seed: 1, Size: 2})))
	refused := func(what string, change func(parts map[string][]byte)) {
		t.Helper()
		changed := map[string][]byte{}
		for name, part := range parts {
			changed[name] = bytes.Clone(part)
		}
		change(changed)
		rewrite(t, path, names, changed)
		if c, err := OpenCells(t.Context(), path); c != nil || !errors.Is(err, formats.ErrFormat) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	for _, name := range names {
		refused(name+" is missing", func(p map[string][]byte) { delete(p, name) })
		refused(name+" is short", func(p map[string][]byte) { p[name] = p[name][:len(p[name])-1] })
		refused(name+" is shorter", func(p map[string][]byte) { p[name] = p[name][:max(0, len(p[name])-4)] })
		refused(name+" is long", func(p map[string][]byte) { p[name] = append(p[name], "1234"...) })
		if strings.HasPrefix(name, "base") || name == sectionCodebook || name == sectionGallery {
			refused(name+" of another gallery", func(p map[string][]byte) { p[name] = others[name] })
		}
	}
	refused("a list that falls", func(p map[string][]byte) { copy(p[sectionLists], p[sectionLists][4:8]) })
	refused("a row beyond", func(p map[string][]byte) { copy(p[sectionLists][len(p[sectionLists])-4:], "\xff\xff\xff\x00") })
	refused("a list that is too long", func(p map[string][]byte) { copy(p[sectionLengths], "\xff\xff\xff\xff") })
	refused("lists that are too short", func(p map[string][]byte) { clear(p[sectionLengths]) })
	refused("lists that are all shorter", func(p map[string][]byte) {
		p[sectionLengths] = bytes.Repeat([]byte{1, 0, 0, 0}, 3)
		p[sectionLists] = p[sectionLists][:12]
	})
	changeBase := func(part []byte, change func(*wire.Base)) []byte {
		var base wire.Base
		if err := base.UnmarshalBinary(part); err != nil {
			t.Fatal(err)
		}
		change(&base)
		out, err := base.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	refused("samples with a row beyond", func(p map[string][]byte) {
		for _, section := range sectionBase {
			p[section] = changeBase(p[section], func(b *wire.Base) { b.IDs[len(b.IDs)-1] = uint32(cells.Codebook().Rows) })
		}
	})
	refused("samples of other rows", func(p map[string][]byte) {
		section := sectionBase[wire.Int8]
		p[section] = changeBase(p[section], func(b *wire.Base) {
			b.IDs = b.IDs[1:]
			b.Compact.Anchors, b.Compact.Steps, b.Compact.Codes = b.Compact.Anchors[1:], b.Compact.Steps[1:], b.Compact.Codes[b.Dimension:]
		})
	})
	refused("samples of the other encoding", func(p map[string][]byte) { p[sectionBase[0]], p[sectionBase[1]] = p[sectionBase[1]], p[sectionBase[0]] })
	refused("displaced rows", func(p map[string][]byte) { p[sectionFacts] = []byte(`{"displaced":-1}`) })
	refused("a long source", func(p map[string][]byte) {
		p[sectionFacts] = []byte(`{"displaced":0,"source":"` + strings.Repeat("x", maxSource+1) + `"}`)
	})
	refused("no facts", func(p map[string][]byte) { p[sectionFacts] = []byte(`[`) })
	refused("answers of one cell for requests of two", func(p map[string][]byte) {
		for name, part := range pairs {
			p[name] = part
		}
	})
}

// FuzzOpenCells replaces one part of a file, with a right checksum: what is opened can be
// asked, and nothing panics.
func FuzzOpenCells(f *testing.F) {
	x, err := synth.Clustered(60, 3, 1)
	if err != nil {
		f.Fatal(err)
	}
	c, err := NewCells(f.Context(), x, x, CellsSettings{Cells: 2})
	if err != nil {
		f.Fatal(err)
	}
	path := saved(f, c)
	names, parts := sectionsOf(f, path)
	for i, name := range names {
		f.Add(uint8(i), parts[name])
	}
	f.Fuzz(func(t *testing.T, which uint8, part []byte) {
		path := filepath.Join(t.TempDir(), "fuzzed")
		changed := map[string][]byte{}
		for name, b := range parts {
			changed[name] = b
		}
		changed[names[int(which)%len(names)]] = part
		rewrite(t, path, names, changed)
		c, err := OpenCells(t.Context(), path)
		if err != nil {
			return
		}
		for cell := range c.Codebook().Cells() {
			for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
				// Rows are not looked at when a file is opened: an error is fine here.
				request := &wire.CellsRequest{Codebook: c.hash, Cells: []uint32{uint32(cell)}}
				_, _ = c.Answer(request, encoding)
				_, _ = c.WriteAnswer(io.Discard, request, encoding)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The codebook and the samples outlive the file.
func TestAfterClose(t *testing.T) {
	want := newCells(t, CellsSettings{Epsilon: 4})
	c, err := OpenCells(t.Context(), saved(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Codebook(), want.Codebook()) || !reflect.DeepEqual(c.Base(wire.Float32), want.Base(wire.Float32)) || !reflect.DeepEqual(c.Base(wire.Int8), want.Base(wire.Int8)) {
		t.Error("something is gone")
	}
	request := &wire.CellsRequest{Codebook: c.hash, Cells: []uint32{1}}
	_, answer := c.Answer(request, wire.Float32)
	_, write := c.WriteAnswer(io.Discard, request, wire.Int8)
	_, hold := c.Hold()
	for _, err := range []error{answer, write, hold, c.Save(t.Context(), filepath.Join(t.TempDir(), "x"))} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("error %v", err)
		}
	}
}

// Every source that NewCells takes comes back from a file, and others are refused.
func TestSource(t *testing.T) {
	x := gallery(t)
	for name, c := range map[string]struct {
		source string
		want   error
	}{
		"longest":  {strings.Repeat("<\x00", maxSource/2), nil},
		"words":    {strings.Repeat("ä", maxSource/2), nil},
		"too long": {strings.Repeat("x", maxSource+1), ErrGallery},
		"no UTF-8": {"\xff", ErrGallery},
	} {
		cells, err := NewCells(t.Context(), x, x, CellsSettings{Cells: 2, Encoded: -1, Source: c.source})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil && reopened(t, saved(t, cells)).Source() != c.source {
			t.Errorf("%s: another source", name)
		}
	}
}
