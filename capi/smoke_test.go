//go:build cgo

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// written writes rows and labels in the form that the programs of testdata read.
func written(t *testing.T, x blas32.General, labels []int32) (path string) {
	t.Helper()
	var b bytes.Buffer
	for _, part := range []any{[]int64{int64(x.Rows), int64(x.Cols)}, x.Data, labels} {
		if err := binary.Write(&b, binary.NativeEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// C and C++ programs get the same bits as Go programs.
func TestSameBitsAsGo(t *testing.T) {
	x, y := digits.Load()
	e, err := privatemail.New(privatemail.WithWorkers(1), privatemail.WithCalibration(kernel.Calibration{}))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	into := func(columns int) blas32.General {
		return blas32.General{Rows: x.Rows, Cols: columns, Stride: columns, Data: make([]float32, x.Rows*columns)}
	}
	attract, paper, converged, mapped := into(x.Cols), into(3), into(2), into(2)
	embedding, err := e.Embed(t.Context(), x, y, &privatemail.Settings{Graph: privatemail.Graph{MeanNeighbours: 20}, Form: kernel.Attract, Coefficient: 3, Into: attract})
	if err == nil {
		_, err = e.Embed(t.Context(), x, y, &privatemail.Settings{
			Graph: privatemail.Graph{Bandwidth: kernel.Sigma(20)}, Coefficient: 0.5, Dim: 3, Steps: 4, Seed: 7, Table: kernel.DifferentTable(), Into: paper,
		})
	}
	if err == nil {
		_, err = e.Converge(t.Context(), x, nil, &privatemail.ConvergeSettings{Graph: privatemail.Graph{Neighbours: 10}, Into: converged})
	}
	if err == nil {
		_, err = e.Map(t.Context(), x, &privatemail.MapSettings{Graph: privatemail.Graph{Neighbours: 10}, Into: mapped})
	}
	if err != nil {
		t.Fatal(err)
	}
	var first, all bytes.Buffer
	for i, part := range [][]float32{attract.Data, paper.Data, converged.Data, mapped.Data} {
		if i == 0 {
			binary.Write(&first, binary.NativeEndian, part)
		}
		binary.Write(&all, binary.NativeEndian, part)
	}

	in := written(t, x, y)
	for _, c := range []struct {
		name, source string
		link         []string
		want         []byte
	}{
		{"C", "smoke.c", dynamic, all.Bytes()},
		{"C, the archive", "smoke.c", archived, all.Bytes()},
		{"C++", "smoke.cpp", dynamic, first.Bytes()},
	} {
		if c.source == "smoke.cpp" && !compilesCpp(t) {
			continue
		}
		out := filepath.Join(t.TempDir(), "points")
		printed, err := run(t, compile(t, c.source, c.link), in, out)
		if err != nil {
			t.Errorf("%s: %v: %s", c.name, err, printed)
			continue
		}
		got, err := os.ReadFile(out)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s: %v; %d bytes, not those %d of Go", c.name, err, len(got), len(c.want))
		}
		if c.source != "smoke.c" {
			continue
		}
		var report struct{ Graph struct{ Sigma float64 } }
		if err := json.Unmarshal([]byte(printed), &report); err != nil || report.Graph.Sigma != embedding.Graph.Bandwidth.Sigma() {
			t.Errorf("%s: %v; the report %s", c.name, err, printed)
		}
	}
}
