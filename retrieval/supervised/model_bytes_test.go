package supervised_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Write and Save make the same bytes, and Read takes what both have made.
func TestWriteAndRead(t *testing.T) {
	for _, text := range []string{"raw", "classic", "whiten,ridge=0.1,steps=2"} {
		m, path := saved(t, text, 80, 6)
		about := supervised.About{Features: "x.npy", Rows: 80, ColumnNames: []string{"a", "b"}}
		var to bytes.Buffer
		if err := m.Write(&to, about); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file, to.Bytes()) {
			t.Errorf("%s: Write and Save differ", text)
		}
		s, err := supervised.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.Model.X.Data, m.X.Data) || s.Model.Recipe != m.Recipe || s.About.Rows != 80 {
			t.Errorf("%s: another model came back", text)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := new(supervised.Model).Write(new(bytes.Buffer), supervised.About{}); !errors.Is(err, points.ErrShape) {
		t.Errorf("an empty model: %v", err)
	}
}

// Bytes that were truncated, changed anywhere, or that are those of another kind are refused.
func TestReadRefusals(t *testing.T) {
	_, path := saved(t, "classic", 30, 4)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := range file {
		if _, err := supervised.Read(file[:size]); !errors.Is(err, supervised.ErrFile) {
			t.Fatalf("%d of %d bytes: %v", size, len(file), err)
		}
	}
	for at := range file {
		changed := slices.Clone(file)
		changed[at] ^= 0x10
		if _, err := supervised.Read(changed); !errors.Is(err, supervised.ErrFile) {
			t.Fatalf("byte %d of %d changed: %v", at, len(file), err)
		}
	}
	for kind, version := range map[string]int{"gallery": 1, sections.Model: 2} {
		var other bytes.Buffer
		if err := sections.WriteTo(&other, kind, version, func(w *sections.Writer) error { return w.JSON("about", 1) }); err != nil {
			t.Fatal(err)
		}
		if _, err := supervised.Read(other.Bytes()); !errors.Is(err, supervised.ErrFile) {
			t.Errorf("%s %d: %v", kind, version, err)
		}
	}
}
