package parquet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/seed-64e14a55/privatemail/formats"
)

// write makes a file of rows in JSON with columns id, a, b, list and species.
func write(t *testing.T, rows string) string {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "b", Type: arrow.PrimitiveTypes.Int32},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32)},
		{Name: "species", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

const good = `[
	{"id": 7, "a": 0.5, "b": 2, "list": [3, 4], "species": "wren"},
	{"id": 8, "a": -1, "b": 3, "list": [5, 6], "species": null}]`

func TestRead(t *testing.T) {
	path := write(t, good)
	for _, c := range []struct {
		s      formats.TableSettings
		cols   int
		data   []float32
		labels []string
	}{
		{formats.TableSettings{}, 4, []float32{0.5, 2, 3, 4, -1, 3, 5, 6}, []string{"wren", ""}},
		{formats.TableSettings{Columns: "list,a"}, 3, []float32{3, 4, 0.5, 5, 6, -1}, []string{"wren", ""}},
		{formats.TableSettings{Columns: "2..3", Label: "id"}, 2, []float32{0.5, 2, -1, 3}, []string{"7", "8"}},
	} {
		got, err := Read(t.Context(), path, &c.s)
		if err != nil || got.Rows != 2 || got.Cols != c.cols || !slices.Equal(got.Data, c.data) || !slices.Equal(got.Labels, c.labels) {
			t.Errorf("%+v: got %+v, %v", c.s, got, err)
		}
	}
}

func TestReadRefused(t *testing.T) {
	whole, err := os.ReadFile(write(t, good))
	if err != nil {
		t.Fatal(err)
	}
	bad := func(data []byte) string {
		path := filepath.Join(t.TempDir(), "b.parquet")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path, says string
		s          formats.TableSettings
	}{
		{write(t, `[{"id": 1, "a": null, "b": 2, "list": [1], "species": "x"}]`), "row 1, column 2 has no value", formats.TableSettings{}},
		{write(t, `[{"id": 1, "a": 1e300, "b": 2, "list": [1], "species": "x"}]`), "column 2 has a number", formats.TableSettings{}},
		{write(t, `[{"id": 1, "a": 1, "b": 2, "list": [1], "species": "x"}, {"id": 1, "a": 1, "b": 2, "list": [1, 2], "species": "x"}]`), "another length", formats.TableSettings{}},
		{write(t, good), "column 5 holds no numbers", formats.TableSettings{Columns: "a,species"}},
		{write(t, good), "column 4 holds lists", formats.TableSettings{Columns: "a", Label: "list"}},
		{write(t, good), `"nothing"`, formats.TableSettings{Columns: "nothing"}},
		{write(t, good), "more than 16 bytes", formats.TableSettings{Limit: 16}},
		{filepath.Join(t.TempDir(), "none.parquet"), "no such file", formats.TableSettings{}},
		{bad([]byte("PAR1")), "b.parquet", formats.TableSettings{}},
		{bad(nil), "b.parquet", formats.TableSettings{}},
		{bad(whole[:len(whole)-9]), "b.parquet", formats.TableSettings{}},
	} {
		if _, err := Read(t.Context(), c.path, &c.s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.says, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ended, write(t, good), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	for at := range whole { // every byte damaged: an error or a table, never a panic
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x55
		Read(t.Context(), bad(damaged), &formats.TableSettings{Limit: 1 << 20})
	}
}
