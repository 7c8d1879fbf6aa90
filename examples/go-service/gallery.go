package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A gallery is what queries are compared with. It does not change, so that requests may share it.
type gallery struct {
	model  *supervised.Model
	labels []int32
	saved  *supervised.Saved // owns the rows of a model that was opened; nil for one that was fitted
}

// rows are those that queries are searched in, once the map has placed them.
func (g *gallery) rows() blas32.General { return g.model.X }

// close gives the file of the model back. No request may be running.
func (g *gallery) close() {
	if g.saved != nil {
		g.saved.Close() // it was only read
	}
}

// openGallery opens the model of an earlier run, or fits one and keeps it.
func openGallery(ctx context.Context, engine *privatemail.Engine, o options) (*gallery, error) {
	features, labels, err := readRows(o)
	if err != nil {
		return nil, err
	}
	if o.model != "" {
		saved, err := supervised.Open(o.model)
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

// reuse takes a model from a file. Its checksums are compared here, once, and not by a request.
func reuse(ctx context.Context, saved *supervised.Saved, labels []int32) (*gallery, error) {
	err := saved.Verify(ctx)
	if rows := saved.Model.X.Rows; err == nil && rows != len(labels) {
		err = fmt.Errorf("the model has %d rows and there are %d labels: remove the file of the model to fit a new one", rows, len(labels))
	}
	if err != nil {
		return nil, errors.Join(err, saved.Close())
	}
	return &gallery{model: saved.Model, labels: labels, saved: saved}, nil
}

// readRows reads the gallery, or makes one up.
func readRows(o options) (blas32.General, []int32, error) {
	if o.features == "" {
		x, labels := madeUp(600, 8, 6)
		return x, labels, nil
	}
	m, err := formats.ReadMatrix(o.features) // mapped where it can be, until the process ends
	if err != nil {
		return blas32.General{}, nil, err
	}
	labels, err := formats.ReadLabels(o.labels)
	return blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: m.Data}, labels, err
}

// madeUp makes rows of some classes, each around a corner of a cube, always the same.
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
