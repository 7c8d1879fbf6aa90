//go:build cgo

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// testEngine returns an engine that makes the same choices as one from C.
func testEngine(t *testing.T) *privatemail.Engine {
	t.Helper()
	e, err := privatemail.New(privatemail.WithWorkers(2), privatemail.WithCalibration(kernel.Calibration{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// some returns the first rows of the digits.
func some(rows int) (blas32.General, []int32) {
	x, y := digits.Load()
	x.Rows, x.Data = rows, x.Data[:rows*x.Stride]
	return x, y[:rows]
}

// partsOfGo returns what parts.c writes, up to the model, and the reports it prints.
func partsOfGo(t *testing.T, e *privatemail.Engine, x blas32.General) (all []byte, reports []any) {
	t.Helper()
	const k, wide = 5, 3
	var out bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&out, binary.NativeEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	queries := x
	queries.Rows = 30
	for _, asked := range []blas32.General{{}, queries} {
		n := asked.Rows
		if n == 0 {
			n = x.Rows
		}
		ids, distances := make([]int64, n*k), make([]float32, n*k)
		if err := e.Nearest(t.Context(), x, asked, k, ids, distances); err != nil {
			t.Fatal(err)
		}
		put(ids, distances)
	}
	small, distances := make([]int32, x.Rows*k), make([]float32, x.Rows*k)
	if err := e.Nearest32(t.Context(), x, blas32.General{}, k, small, distances); err != nil {
		t.Fatal(err)
	}
	put(small, distances)
	small = small[:queries.Rows*k]
	if err := e.Nearest32(t.Context(), x, queries, k, small, nil); err != nil {
		t.Fatal(err)
	}
	put(small)
	g, err := e.NeighbourGraph(t.Context(), x, &privatemail.Graph{CutoffRadius: 20})
	if err != nil {
		t.Fatal(err)
	}
	ptr, ind, weights := g.Weights.Arrays()
	distances = make([]float32, len(ind))
	columns := make([]int64, len(ind))
	for i, j := range ind {
		columns[i] = int64(j)
	}
	if err := e.Distances(t.Context(), g, x, distances); err != nil {
		t.Fatal(err)
	}
	put(ptr, columns, weights, distances)

	op, err := e.Kernel(t.Context(), x, &privatemail.KernelSettings{Graph: privatemail.Graph{Bandwidth: kernel.Sigma(12), Tolerance: 1e-3}})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	v := x
	v.Cols = wide
	product := blas32.General{Rows: x.Rows, Cols: wide, Stride: wide, Data: make([]float32, x.Rows*wide)}
	if err := op.Apply(t.Context(), product, v); err != nil {
		t.Fatal(err)
	}
	placed := blas32.General{Rows: queries.Rows, Cols: wide, Stride: wide, Data: make([]float32, queries.Rows*wide)}
	if err := e.Extend(t.Context(), x, v, queries, 10, placed); err != nil {
		t.Fatal(err)
	}
	put(product.Data, placed.Data)
	return out.Bytes(), []any{graphReport{g.Graph}, graphReport{op.Graph()}}
}

// Neighbours, graphs, products, extensions and models from C are those of Go, bit for bit.
func TestPartsInC(t *testing.T) {
	x, y := some(400)
	e := testEngine(t)
	want, reports := partsOfGo(t, e, x)

	folder := t.TempDir()
	out, path := filepath.Join(folder, "out"), filepath.Join(folder, "model")
	printed, err := run(t, compile(t, "parts.c", dynamic), written(t, x, y), out, path)
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < len(want) || !bytes.Equal(got[:len(want)], want) {
		t.Fatalf("%d bytes, not those %d of Go", len(got), len(want))
	}
	got = got[len(want):]

	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(got, file) {
		t.Error("the bytes of the model differ from its file")
	}
	got = got[len(file):]
	saved, err := supervised.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	recipe := supervised.Classic()
	fit, err := supervised.Fit(t.Context(), e, x, y, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		t.Fatal(err)
	}
	if a := saved.About; a.Rows != 400 || a.Columns != x.Cols || a.Labelled != 400 || a.Classes != 10 {
		t.Errorf("%+v", a)
	}
	images, err := fit.Map.Apply(x)
	if err != nil {
		t.Fatal(err)
	}
	var rows bytes.Buffer
	binary.Write(&rows, binary.NativeEndian, fit.X.Data)
	binary.Write(&rows, binary.NativeEndian, images.Data)
	voter, err := fit.Voter(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{5, 0} {
		to := supervised.Votes{Labels: make([]int32, x.Rows), Shares: make([]float32, x.Rows), Table: blas32.General{Rows: x.Rows, Cols: 10, Stride: 10, Data: make([]float32, 10*x.Rows)}}
		if err := voter.Vote(t.Context(), e, images, k, to); err != nil {
			t.Fatal(err)
		}
		binary.Write(&rows, binary.NativeEndian, to.Labels)
		if k > 0 {
			binary.Write(&rows, binary.NativeEndian, to.Shares)
			binary.Write(&rows, binary.NativeEndian, to.Table.Data)
		}
	}
	if !bytes.Equal(got, bytes.Repeat(rows.Bytes(), 3)) { // fitted, opened and read
		t.Errorf("%d bytes of rows and images, not those %d of Go", len(got), 3*rows.Len())
	}
	checkReports(t, strings.Split(strings.TrimSpace(printed), "\n"), append(reports, fit, fit, fit, fit))
}

// plain returns a report without times and without fields that only C has.
func plain(t *testing.T, text []byte) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	delete(v, "seconds")
	delete(v, "about")
	if graph, ok := v["graph"].(map[string]any); ok {
		for _, key := range []string{"build_seconds", "steps_seconds", "peak_bytes"} { // a model from a file has no peak
			delete(graph, key)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkReports compares reports with those of Go, except for times and fields that only C has.
func checkReports(t *testing.T, lines []string, want []any) {
	t.Helper()
	if len(lines) != len(want) {
		t.Fatalf("%d reports, want %d:\n%s", len(lines), len(want), strings.Join(lines, "\n"))
	}
	for i, line := range lines {
		text, err := json.Marshal(want[i])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := plain(t, []byte(line)), plain(t, text); got != want {
			t.Errorf("report %d: %s\nwant %s", i, got, want)
		}
	}
}

// Wrong arguments of the same functions give statuses and texts.
func TestPartsRefusedInC(t *testing.T) {
	if out, err := run(t, compile(t, "parts_refused.c", dynamic), t.TempDir()); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
