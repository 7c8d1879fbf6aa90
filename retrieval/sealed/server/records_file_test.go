package server

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// savedRecords returns records and a file that has them.
func savedRecords(t *testing.T) (*Records, string) {
	t.Helper()
	records := newRecords(t, randomRecords(rand.New(rand.NewPCG(1, 1)), 21, 3), RecordsSettings{PerColumn: 2})
	path := filepath.Join(t.TempDir(), "test.records")
	if err := records.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return records, path
}

// Records that are opened have the epoch, hint and answers of those that were saved, and can be
// saved again.
func TestRecordsSaveAndOpen(t *testing.T) {
	records, path := savedRecords(t)
	opened, err := OpenRecords(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	before := readAll(t, path)
	if err := os.Truncate(path, 0); err != nil { // what was read stays
		t.Fatal(err)
	}
	if *opened.Manifest() != *records.Manifest() || opened.Epoch() != records.Epoch() || !slices.Equal(opened.Hint().Words, records.Hint().Words) {
		t.Error("another manifest or hint")
	}
	request := randomRequest(rand.New(rand.NewPCG(2, 2)), records, 2)
	want, err := records.Answer(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	got, err := opened.Answer(t.Context(), request)
	if err != nil || !slices.Equal(got[0].Words, want[0].Words) {
		t.Errorf("another answer, %v", err)
	}
	again := filepath.Join(t.TempDir(), "again.records")
	if err := opened.Save(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, readAll(t, again)) {
		t.Error("the second file differs")
	}

	release, err := opened.Hold()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- opened.Close() }()
	hint := opened.Hint()
	if !slices.Equal(hint.Words, records.Hint().Words) { // whoever holds them may read
		t.Error("another hint while it is held")
	}
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := opened.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	_, answered := opened.Answer(t.Context(), request)
	_, held := opened.Hold()
	for i, err := range []error{answered, held, opened.Save(t.Context(), path)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after Close: %v", i, err)
		}
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRecordsSaveCancelled leaves the file that was there.
func TestRecordsSaveCancelled(t *testing.T) {
	records, path := savedRecords(t)
	before := readAll(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := records.Save(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !bytes.Equal(readAll(t, path), before) {
		t.Error("the file has changed")
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}

// openBytes opens a file of bytes.
func openBytes(t *testing.T, data []byte) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hostile.records")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := OpenRecords(t.Context(), path)
	if err != nil {
		return err
	}
	return records.Close()
}

// A file that was truncated or changed is found.
func TestRecordsDamagedFile(t *testing.T) {
	_, path := savedRecords(t)
	data := readAll(t, path)
	if err := openBytes(t, data); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 8, 63, 64, 65, 200, len(data) / 2, len(data) - 33, len(data) - 1} {
		if err := openBytes(t, data[:n]); !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for range 200 {
		changed := slices.Clone(data)
		at := r.IntN(len(changed))
		changed[at] ^= 1 << r.IntN(8)
		if err := openBytes(t, changed); !errors.Is(err, formats.ErrFormat) && !errors.Is(err, formats.ErrUnsupported) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
}

// A file whose checksums are right may still lie about its sizes, and is refused before memory is
// taken for them.
func TestRecordsHostileFile(t *testing.T) {
	honest := newRecords(t, [][]byte{{1}, {2}, {3}}, RecordsSettings{})
	huge := wire.SealedRecords{Records: 20 * scheme.MaxRecordColumns, Length: scheme.MaxRecord, PerColumn: 20}
	panels := make([]int8, panelBytes(honest.matrix.rows, honest.matrix.columns))
	for name, c := range map[string]struct {
		kind     string
		version  int
		manifest wire.SealedRecords
		hint     []uint32
		panels   []int8
		want     error
	}{
		"another kind":    {"gallery", 1, honest.manifest, honest.hint, panels, sections.ErrKind},
		"another version": {recordsKind, 2, honest.manifest, honest.hint, panels, sections.ErrVersion},
		"huge manifest":   {recordsKind, 1, huge, honest.hint, panels, sections.ErrDamaged},
		"short panels":    {recordsKind, 1, honest.manifest, honest.hint, panels[:len(panels)-1], sections.ErrDamaged},
		"long panels":     {recordsKind, 1, honest.manifest, honest.hint, append(panels, 0), sections.ErrDamaged},
		"no panels":       {recordsKind, 1, honest.manifest, honest.hint, nil, sections.ErrDamaged},
		"short hint":      {recordsKind, 1, honest.manifest, honest.hint[1:], panels, sections.ErrDamaged},
		"no hint":         {recordsKind, 1, honest.manifest, nil, panels, sections.ErrDamaged},
		"honest":          {recordsKind, 1, honest.manifest, honest.hint, panels, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			err := sections.WriteTo(&file, c.kind, c.version, func(w *sections.Writer) error {
				return errors.Join(w.Message(recordsManifest, &c.manifest), sections.WriteNumbers(w, recordsHint, c.hint), sections.WriteNumbers(w, recordsPanels, c.panels))
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := openBytes(t, file.Bytes()); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	var file bytes.Buffer
	if err := sections.WriteTo(&file, recordsKind, recordsVersion, func(w *sections.Writer) error { return w.Bytes(recordsManifest, []byte("no frame")) }); err != nil {
		t.Fatal(err)
	}
	if err := openBytes(t, file.Bytes()); !errors.Is(err, sections.ErrDamaged) {
		t.Errorf("no manifest: %v", err)
	}
	if _, err := OpenRecords(t.Context(), filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
