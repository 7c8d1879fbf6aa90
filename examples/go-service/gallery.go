package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A gallery has the rows that queries are compared with. It does not change, so requests may
// share it.
type gallery struct {
	model  *supervised.Model
	labels []int32
}

// rows are the rows, placed by the map, among which queries search.
func (g *gallery) rows() blas32.General { return g.model.X }

// openGallery opens the model of an earlier run, or fits one and saves it.
func openGallery(ctx context.Context, engine *privatemail.Engine, o options) (*gallery, error) {
	features, labels, err := readRows(o)
	if err != nil {
		return nil, err
	}
	if o.model != "" {
		saved, err := supervised.Open(ctx, o.model, nil) // compares its checksums
		switch {
		case err == nil:
			return reuse(ctx, saved, labels)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	log.Print("fitting a model")
	model, err := supervised.Fit(ctx, engine, features, labels, &supervised.Settings{OnlyX: true, Seed: 1})
	if err != nil {
		return nil, err
	}
	if o.model != "" {
		if err := model.Save(ctx, o.model, supervised.About{Rows: features.Rows, Columns: features.Cols}); err != nil {
			return nil, err
		}
	}
	return &gallery{model: model, labels: labels}, nil
}

// reuse takes a model from a file. It copies the rows, so later changes of the file change no
// answer.
func reuse(ctx context.Context, saved *supervised.Saved, labels []int32) (*gallery, error) {
	defer saved.Close() // only read from
	model := &supervised.Model{Map: saved.Model.Map, Recipe: saved.Model.Recipe, X: saved.Model.X}
	if rows := model.X.Rows; rows != len(labels) {
		return nil, fmt.Errorf("the model has %d rows but there are %d labels: remove the file of the model to fit a new one", rows, len(labels))
	}
	err := saved.Reading(ctx, func() error { // and verified
		model.X.Data = slices.Clone(model.X.Data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &gallery{model: model, labels: labels}, nil
}

// readRows reads the gallery, or generates one.
func readRows(o options) (blas32.General, []int32, error) {
	if o.features == "" {
		x, labels := madeUp(600, 8, 6)
		return x, labels, nil
	}
	m, err := formats.ReadMatrix(o.features) // mapped if possible, until the process ends
	if err != nil {
		return blas32.General{}, nil, err
	}
	labels, err := formats.ReadLabels(o.labels)
	return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: m.Data}, labels, err
}

// madeUp generates rows of several classes, each around a corner of a cube, always the same.
func madeUp(n, d, classes int) (blas32.General, []int32) {
	random := rand.New(rand.NewPCG(1, 2))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	labels := make([]int32, n)
	for i := range n {
		class := i % classes
		labels[i] = int32(class)
		for j := range d {
			corner := float64((class+1)>>(j%3)) * 0.5
			x.Data[i*d+j] = float32(math.Mod(corner, 1) + 0.2*random.NormFloat64())
		}
	}
	return x, labels
}
