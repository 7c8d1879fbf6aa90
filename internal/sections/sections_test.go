package sections

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/formats"
)

type facts struct {
	Rows int
	Name string
}

// sample writes a file with sections of every sort and returns its path.
func sample(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample")
	err := Write(t.Context(), path, "sample", 3, func(w *Writer) error {
		return errors.Join(
			w.JSON("facts", facts{2, "two"}),
			w.Bytes("none", nil),
			WriteNumbers(w, "floats", []float32{1, -2.5, float32(math.Inf(1))}),
			WriteNumbers(w, "words", []uint64{1, 1 << 63}),
			w.Bytes("exactly-64", bytes.Repeat([]byte{7}, 64)),
			w.Section("parts", func(to io.Writer) error {
				return errors.Join(PutNumbers(to, []int16{-1}), PutNumbers(to, []int16{2, 300}))
			}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path, kind string) *File {
	t.Helper()
	f, err := Open(path, kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Sections read back as written.
func TestRoundTrip(t *testing.T) {
	f := open(t, sample(t), "sample")
	if f.Kind() != "sample" || f.Version() != 3 || f.CheckVersion(3) != nil || !errors.Is(f.CheckVersion(4), ErrVersion) {
		t.Errorf("%s %d", f.Kind(), f.Version())
	}
	if want := strings.Fields("facts none floats words exactly-64 parts"); !slices.Equal(f.Names(), want) {
		t.Errorf("sections %q", f.Names())
	}
	for _, name := range f.Names() {
		if raw, err := f.Raw(name); err != nil || cap(raw) != len(raw) || !f.Has(name) {
			t.Errorf("%s: %d of %d bytes, %v", name, len(raw), cap(raw), err)
		}
		if err := f.Verify(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	var got facts
	if err := f.JSON("facts", &got); err != nil || got != (facts{2, "two"}) {
		t.Errorf("%v, %v", got, err)
	}
	floats, err := Numbers[float32](f, "floats")
	if err != nil || !slices.Equal(floats, []float32{1, -2.5, float32(math.Inf(1))}) {
		t.Errorf("%v, %v", floats, err)
	}
	if words, err := Numbers[uint64](f, "words"); err != nil || !slices.Equal(words, []uint64{1, 1 << 63}) {
		t.Errorf("%v, %v", words, err)
	}
	if parts, err := Numbers[int16](f, "parts"); err != nil || !slices.Equal(parts, []int16{-1, 2, 300}) {
		t.Errorf("%v, %v", parts, err)
	}
	if none, err := Numbers[float64](f, "none"); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := Numbers[float64](f, "floats"); !errors.Is(err, ErrDamaged) {
		t.Errorf("12 bytes as float64: %v", err)
	}
	if _, err := f.Bytes("absent"); !errors.Is(err, ErrDamaged) || f.Has("absent") {
		t.Errorf("a section that is not there: %v", err)
	}
	if err := f.JSON("words", &got); !errors.Is(err, ErrDamaged) {
		t.Errorf("numbers as JSON: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Verify(ended, "floats"); !errors.Is(err, context.Canceled) {
		t.Errorf("verified after the end: %v", err)
	}
	if open(t, f.path, "").Kind() != "sample" {
		t.Error("another kind")
	}
}

// The bytes of a file are as the package comment says, on any machine.
func TestBytesOfTheFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(t.Context(), path, "k", 1, func(w *Writer) error { return WriteNumbers(w, "n", []uint16{0x0102}) }); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head := "\x89PMFILE\n\x01\x00\x00\x00\x01\x00\x00\x00k" + strings.Repeat("\x00", 47)
	body := "\x02\x01" + strings.Repeat("\x00", 62)
	table := "\x01n" + "\x40\x00\x00\x00\x00\x00\x00\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00"
	want := head + body + table
	if !strings.HasPrefix(string(data), want) || len(data) != len(want)+8+32 || !strings.HasSuffix(string(data), "\x89PMTAIL\n") {
		t.Errorf("%q", data)
	}
}

// After Close no data is returned.
func TestClose(t *testing.T) {
	f := open(t, sample(t), "sample")
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Raw("facts"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := f.JSON("facts", new(facts)); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func TestWriteRefuses(t *testing.T) {
	fine := func(*Writer) error { return nil }
	failed := errors.New("it failed")
	for name, c := range map[string]struct {
		kind    string
		version int
		fill    func(*Writer) error
	}{
		"no kind":       {"", 1, fine},
		"a long kind":   {"seventeen-letters", 1, fine},
		"large letters": {"Model", 1, fine},
		"version 0":     {"k", 0, fine},
		"an error":      {"k", 1, func(*Writer) error { return failed }},
		"twice": {"k", 1, func(w *Writer) error {
			w.Bytes("a", nil)
			w.Bytes("a", nil) // its error is kept
			return nil
		}},
		"no name":     {"k", 1, func(w *Writer) error { return w.Bytes("", nil) }},
		"a long name": {"k", 1, func(w *Writer) error { return w.Bytes(strings.Repeat("a", 65), nil) }},
		"a path":      {"k", 1, func(w *Writer) error { return w.Bytes("a/b", nil) }},
		"no JSON":     {"k", 1, func(w *Writer) error { return w.JSON("a", math.NaN()) }},
		"one in another": {"k", 1, func(w *Writer) error {
			return w.Section("a", func(io.Writer) error { w.Bytes("b", nil); return nil })
		}},
		"a section that fails": {"k", 1, func(w *Writer) error {
			w.Section("a", func(io.Writer) error { return failed })
			return w.Bytes("b", nil)
		}},
		"too late": {"k", 1, func(w *Writer) error {
			var kept io.Writer
			w.Section("a", func(to io.Writer) error { kept = to; return nil })
			_, err := kept.Write([]byte{1})
			return err
		}},
		"too many": {"k", 1, func(w *Writer) (err error) {
			for i := 0; i <= mostSections && err == nil; i++ {
				err = w.Bytes(fmt.Sprint(i), nil)
			}
			return err
		}},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Write(t.Context(), path, c.kind, c.version, c.fill); err == nil {
			t.Errorf("%s: no error", name)
		}
		if text, err := os.ReadFile(path); string(text) != "old" {
			t.Errorf("%s: the old file is %q, %v", name, text, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(ended, filepath.Join(t.TempDir(), "file"), "k", 1, fine); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestErrorsMatchThoseOfFormats(t *testing.T) {
	for _, kind := range []error{ErrForeign, ErrKind, ErrVersion} {
		if !errors.Is(kind, formats.ErrUnsupported) {
			t.Error(kind)
		}
	}
	if !errors.Is(ErrDamaged, formats.ErrFormat) {
		t.Error(ErrDamaged)
	}
}

// Bytes that are not aligned are copied.
func TestNumbersNotAligned(t *testing.T) {
	data, err := os.ReadFile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	shifted := append(make([]byte, 1, 1+len(data)), data...)[1:]
	f, err := Parse("file", shifted)
	if err != nil {
		t.Fatal(err)
	}
	words, err := Numbers[uint64](f, "words")
	if err != nil || !slices.Equal(words, []uint64{1, 1 << 63}) {
		t.Errorf("%v, %v", words, err)
	}
	// Many processors can read unaligned numbers, so the address is compared.
	if raw, err := f.Raw("words"); err != nil || len(words) == 0 || unsafe.Pointer(&words[0]) == unsafe.Pointer(&raw[0]) {
		t.Errorf("a view of bytes that are not aligned: %v", err)
	}
}
