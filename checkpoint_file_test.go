package privatemail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func sampleCheckpoint() *Checkpoint {
	return &Checkpoint{
		Run: map[string]string{"form": "paper", "features": "3 x 2"},
		State: iterate.State{
			Points: blas32.General{Rows: 3, Cols: 2, Stride: 4, Data: []float32{1, 2, 9, 9, 3, 4, 9, 9, 5, -0.5}},
			Sums:   []float64{0.1, math.Pi, -3},
			Trace:  []iterate.Record{{Step: 1, Objective: 0.3, Scale: 2, Change: math.Inf(1)}, {Step: 2, Objective: 0.1}},
		},
	}
}

func TestCheckpointFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	want := sampleCheckpoint()
	if err := want.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	got, err := OpenCheckpoint(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if !maps.Equal(got.Run, want.Run) || !slices.Equal(got.State.Sums, want.State.Sums) || !slices.Equal(got.State.Trace, want.State.Trace) {
		t.Errorf("got %+v", got)
	}
	if x := got.State.Points; x.Rows != 3 || x.Cols != 2 || !slices.Equal(x.Data, []float32{1, 2, 3, 4, 5, -0.5}) {
		t.Errorf("iterate %+v", x)
	}
	// A file that replaces this one leaves the open checkpoint unchanged.
	other := sampleCheckpoint()
	other.State.Points.Data[0] = 77
	if err := other.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if got.State.Points.Data[0] != 1 {
		t.Error("replacing the file has changed the open checkpoint")
	}
}

// The bytes of a file change only with the version of these files.
func TestGoldenCheckpointFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	if err := sampleCheckpoint().Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = "9d911d22e6072f66d274b756bada9fe7cbce17b1bf1ae29321e0b0e230a9328e"
	if got := fmt.Sprintf("%x", sha256.Sum256(file)); got != want {
		t.Errorf("hash %s, want %s: a file of other bytes needs another checkpointVersion", got, want)
	}
}

// An engine continues from a file to the bits of a run that was not
// interrupted.
func TestResumeFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	x, y := classes(t, 300, 5)
	e := engine(t)
	s := Settings{Graph: Graph{MeanNeighbours: 12}, Form: kernel.Attract, Coefficient: 3, Steps: 6, Normalize: iterate.Centred}
	want, err := e.Embed(t.Context(), x, y, &s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.CheckpointEvery = 2
	s.Checkpoint = func(c *Checkpoint) error {
		if len(c.State.Trace) == 4 {
			defer cancel()
		}
		return c.Save(ctx, path)
	}
	if _, err := e.Embed(ctx, x, y, &s); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	saved, err := OpenCheckpoint(t.Context(), path)
	if err != nil || len(saved.State.Trace) != 4 {
		t.Fatalf("%+v, %v", saved, err)
	}
	defer saved.Close()
	s.Checkpoint, s.Resume = nil, saved
	got, err := e.Embed(t.Context(), x, y, &s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Points.RawMatrix().Data, want.Points.RawMatrix().Data) || !slices.Equal(got.Trace, want.Trace) {
		t.Error("other bits")
	}
}

// A write that fails leaves the previous checkpoint, and no other file.
func TestCheckpointSaveKeepsThePrevious(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "run.checkpoint")
	if err := sampleCheckpoint().Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sampleCheckpoint().Save(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	wrong := sampleCheckpoint()
	wrong.State.Points.Data = wrong.State.Points.Data[:5]
	if err := wrong.Save(t.Context(), path); !errors.Is(err, points.ErrShape) {
		t.Errorf("an iterate that ends early: %v", err)
	}
	after, err := os.ReadFile(path)
	if entries, _ := os.ReadDir(folder); err != nil || !bytes.Equal(before, after) || len(entries) != 1 {
		t.Errorf("%d files, or other bytes; %v", len(entries), err)
	}
}

// openBytes writes bytes to a file and opens it.
func openBytes(t *testing.T, data []byte) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := OpenCheckpoint(t.Context(), path)
	if err == nil {
		s.Close()
	}
	return err
}

// Every changed byte is found, and a file cut anywhere is refused.
func TestDamagedCheckpointFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.checkpoint")
	if err := sampleCheckpoint().Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] ^= 0x10
		if err := openBytes(t, data); !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		data[i] ^= 0x10
	}
	for n := 0; n < len(data); n += 7 {
		if err := openBytes(t, data[:n]); !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Errorf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	if _, err := OpenCheckpoint(t.Context(), path+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Files with right checksums and wrong contents.
func TestHostileCheckpointFiles(t *testing.T) {
	good := map[string]any{
		runSection: map[string]string{"form": "paper"}, sizeSection: checkpointSize{1, 2},
		traceSection: []float64{1, 2, 3}, sumsSection: []float64{1}, pointsSection: []float32{1, 2},
	}
	build := func(kind string, version int, parts map[string]any) []byte {
		var out bytes.Buffer
		err := sections.WriteTo(&out, kind, version, func(w *sections.Writer) error {
			for name, part := range parts {
				var err error
				switch v := part.(type) {
				case []float64:
					err = sections.WriteNumbers(w, name, v)
				case []float32:
					err = sections.WriteNumbers(w, name, v)
				case []byte:
					err = w.Bytes(name, v)
				default:
					err = w.JSON(name, v)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if err := openBytes(t, build(sections.Checkpoint, checkpointVersion, good)); err != nil {
		t.Fatal(err)
	}
	if err := openBytes(t, build("model", checkpointVersion, good)); !errors.Is(err, formats.ErrUnsupported) {
		t.Errorf("another kind: %v", err)
	}
	if err := openBytes(t, build(sections.Checkpoint, checkpointVersion+1, good)); !errors.Is(err, formats.ErrUnsupported) {
		t.Errorf("another version: %v", err)
	}
	for name := range good {
		parts := maps.Clone(good)
		delete(parts, name)
		if err := openBytes(t, build(sections.Checkpoint, checkpointVersion, parts)); !errors.Is(err, formats.ErrFormat) {
			t.Errorf("no section %s: %v", name, err)
		}
	}
	for _, c := range []struct {
		name string
		part any
	}{
		{sizeSection, checkpointSize{2, 2}}, {sizeSection, checkpointSize{0, 2}}, {sizeSection, checkpointSize{-1, -2}}, {sizeSection, checkpointSize{2, 0}},
		{sizeSection, checkpointSize{math.MaxInt, 8}}, {sizeSection, checkpointSize{math.MaxInt/2 + 2, 2}}, {sizeSection, "large"}, {sizeSection, []byte("{")},
		{runSection, []byte(`"` + strings.Repeat("x", longestCheckpointText) + `"`)}, {runSection, []byte("[1]")},
		{traceSection, []float64{}}, {traceSection, []float64{1, 2}}, {traceSection, []byte("odd")},
		{sumsSection, []byte("odd")}, {pointsSection, []byte("odd")}, {pointsSection, []float32{1, 2, 3}},
	} {
		parts := maps.Clone(good)
		parts[c.name] = c.part
		if err := openBytes(t, build(sections.Checkpoint, checkpointVersion, parts)); !errors.Is(err, formats.ErrFormat) {
			t.Errorf("section %s is %.20v: %v", c.name, c.part, err)
		}
	}
}
