package privatemail

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// decoded is the JSON of a result as another program decodes it.
type decoded struct {
	Points, Coefficients *struct {
		Rows, Columns int
		Data          []float64
	}
	Graph struct {
		Operator   string
		Sigma      *float64
		Radius     *float64
		Nearest    int
		Neighbours float64
		PeakBytes  int64 `json:"peak_bytes"`
	}
	Status     string
	Trace      []struct{ Step int }
	Values     []float64
	Components []int
	Weights    struct {
		Rows int
		Ptr  []uint64
		Ind  []uint32
		Val  []float32
	}
}

func decode(t *testing.T, v any) (out decoded) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "{}") {
		t.Errorf("something is written as {}: %.200s", text)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func samePoints(d decoded, m *mat.Dense) bool {
	rows, cols := m.Dims()
	return d.Points != nil && d.Points.Rows == rows && d.Points.Columns == cols && slices.Equal(d.Points.Data, m.RawMatrix().Data)
}

// Results become JSON with their numbers, infinite ones as null.
func TestResultsAsJSON(t *testing.T) {
	x, y := classes(t, 60, 4)
	e := engine(t)
	ctx := t.Context()
	embedding, err := e.Embed(ctx, x, y, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(2), Operator: "dense"}, Steps: 3})
	if err != nil {
		t.Fatal(err)
	}
	d := decode(t, embedding)
	if !samePoints(d, embedding.Points) || len(d.Trace) != 3 || d.Trace[2].Step != 3 || d.Status != "step limit" ||
		d.Graph.Operator != "dense" || d.Graph.Radius != nil || d.Graph.Sigma == nil || d.Graph.Neighbours != 59 || d.Graph.PeakBytes != embedding.Graph.Cost.PeakBytes {
		t.Errorf("embedding: %+v", d)
	}
	into := blas32.General{Rows: 60, Cols: 2, Stride: 2, Data: make([]float32, 120)}
	if embedding, err = e.Embed(ctx, x, nil, &Settings{Graph: Graph{Bandwidth: kernel.Sigma(2)}, Into: into}); err != nil || decode(t, *embedding).Points != nil {
		t.Errorf("points in a buffer: %v", err)
	}
	eigenmap, err := e.Converge(ctx, x, nil, &ConvergeSettings{Graph: Graph{Neighbours: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if d := decode(t, eigenmap); !samePoints(d, eigenmap.Points) || !slices.Equal(d.Values, eigenmap.Values) || d.Graph.Sigma != nil || d.Graph.Nearest != 5 || d.Status != eigenmap.Status.String() {
		t.Errorf("eigenmap: %+v", d)
	}
	m, err := e.Map(ctx, x, &MapSettings{Graph: Graph{Neighbours: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if d := decode(t, m); !samePoints(d, m.Points) || !slices.Equal(d.Components, m.Components) || d.Coefficients == nil || len(d.Coefficients.Data) != 2*len(m.Values) {
		t.Errorf("map: %+v", d)
	}
	g, err := e.NeighbourGraph(ctx, x, &Graph{Neighbours: 5})
	if err != nil {
		t.Fatal(err)
	}
	ptr, ind, val := g.Weights.Arrays()
	if d := decode(t, g); d.Weights.Rows != 60 || !slices.Equal(d.Weights.Ptr, ptr) || !slices.Equal(d.Weights.Ind, ind) || !slices.Equal(d.Weights.Val, val) {
		t.Errorf("graph: %+v", d.Weights)
	}
}
