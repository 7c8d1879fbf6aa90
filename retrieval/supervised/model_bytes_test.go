package supervised_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/sparse"
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
	for kind, version := range map[string]int{"gallery": 1, supervised.FileKind: 2} {
		var other bytes.Buffer
		if err := sections.WriteTo(&other, kind, version, func(w *sections.Writer) error { return w.JSON("about", 1) }); err != nil {
			t.Fatal(err)
		}
		if _, err := supervised.Read(other.Bytes()); !errors.Is(err, supervised.ErrFile) {
			t.Errorf("%s %d: %v", kind, version, err)
		}
	}
}

// Images that go to a buffer have the bits of Apply, and leave what is behind the rows alone.
func TestPlaceInto(t *testing.T) {
	x, labels := labelledRows(300, 6, 5)
	rows := single(x)
	e := newEngine(t)
	for _, text := range []string{"raw", "scaled", "classic", "deep", "columns=3,unit-images"} {
		m, err := supervised.Fit(t.Context(), e, rows, labels, fixed(text))
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Map.Apply(rows)
		if err != nil {
			t.Fatal(err)
		}
		k := m.Map.Columns()
		dst := blas32.General{Rows: 300, Cols: k, Stride: k + 1, Data: slices.Repeat([]float32{-7}, 300*(k+1))}
		if err := m.Map.PlaceInto(t.Context(), e, dst, rows); err != nil {
			t.Fatal(err)
		}
		for i := range 300 {
			if got := dst.Data[i*dst.Stride:][:k+1]; !slices.Equal(got[:k], want.Data[i*want.Stride:][:k]) || got[k] != -7 {
				t.Fatalf("%s: row %d differs", text, i)
			}
		}
		narrow, other := dst, rows
		narrow.Rows--
		other.Cols--
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		small := newEngine(t, privatemail.WithBudget(8))
		for name, c := range map[string]struct{ err, want error }{
			"rows of dst": {m.Map.PlaceInto(t.Context(), e, narrow, rows), points.ErrShape},
			"columns":     {m.Map.PlaceInto(t.Context(), e, dst, other), points.ErrShape},
			"shared":      {m.Map.PlaceInto(t.Context(), e, blas32.General{Rows: 300, Cols: k, Stride: 6, Data: rows.Data}, rows), sparse.ErrAlias},
			"cancelled":   {m.Map.PlaceInto(cancelled, e, dst, rows), context.Canceled},
			"no memory":   {m.Map.PlaceInto(t.Context(), small, dst, rows), kernel.ErrMemory},
		} {
			if name == "no memory" && m.Map.A == nil {
				c.want = nil // there is no matrix
			}
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s, %s: %v, want %v", text, name, c.err, c.want)
			}
		}
	}
}

// Without a function of its own Fit tells the one of the context.
func TestFitReportsToTheContext(t *testing.T) {
	x, labels := labelledRows(100, 4, 5)
	stages := map[string]bool{}
	ctx := privatemail.ReportProgress(t.Context(), func(p privatemail.Progress) { stages[p.Stage] = true })
	if _, err := supervised.Fit(ctx, newEngine(t), single(x), labels, fixed("classic")); err != nil {
		t.Fatal(err)
	}
	if !stages["map"] || !stages["steps"] {
		t.Errorf("told of %v", stages)
	}
}

// The JSON form says what the model is and has no rows.
func TestModelJSON(t *testing.T) {
	m, _ := saved(t, "classic", 80, 6)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got["rows"] != 80.0 || got["input"] != 6.0 || got["output"] != float64(m.X.Cols) || got["recipe"] != m.Recipe.String() {
		t.Errorf("%s", text)
	}
	for _, key := range []string{"graph", "trace", "seconds"} {
		if got[key] == nil {
			t.Errorf("no %s in %s", key, text)
		}
	}
	if len(got) > 8 || got["x"] != nil || got["map"] != nil {
		t.Errorf("%d keys: %s", len(got), text)
	}
}
