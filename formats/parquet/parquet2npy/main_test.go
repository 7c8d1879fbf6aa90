package main

import (
	"bytes"
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

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64},
		{Name: "species", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	rows := `[{"a": 1, "species": "wren, small"}, {"a": 2, "species": null}, {"a": 3, "species": "owl"}]`
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &file, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("a.parquet", file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-out", "set", "a.parquet"}, &stdout, &stderr); code != 0 {
		t.Fatalf("code %d: %s", code, stderr.String())
	}
	x, err := formats.ReadMatrix(filepath.Join("set", "features.npy"))
	if err != nil || x.Rows != 3 || x.Cols != 1 || !slices.Equal(x.Data, []float32{1, 2, 3}) {
		t.Errorf("%+v, %v", x, err)
	}
	names, err := formats.ReadColumnNames(t.Context(), filepath.Join("set", "columns.csv"))
	if err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("%q, %v", names, err)
	}
	y, err := formats.ReadNamedLabels(t.Context(), filepath.Join("set", "labels.csv"), nil)
	if err != nil || !slices.Equal(y.Class, []int32{1, -1, 0}) || !slices.Equal(y.Names, []string{"owl", "wren, small"}) {
		t.Errorf("%+v, %v", y, err)
	}
	for args, want := range map[string]int{"": 2, "a.parquet": 2, "-wrong": 2, "-h": 0, "-out set none.parquet": 1, "-out set -columns z a.parquet": 1} {
		if code := run(t.Context(), strings.Fields(args), &stdout, &stderr); code != want {
			t.Errorf("%q: code %d", args, code)
		}
	}
}
