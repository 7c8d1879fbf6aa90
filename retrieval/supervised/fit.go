package supervised

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/points"
)

// Settings steer Fit. The zero value of each field, and a nil pointer,
// mean the default.
type Settings struct {
	// Columns is the dimension k of the embedding. Default: that of the rows.
	// Half of it costs about .03 of R@1, an eighth .2.
	Columns int
	// MeanNeighbours is the mean number of neighbours in the graph of the rows.
	// Default 20; all others if they are fewer. 5 to 60 change little.
	MeanNeighbours float64
	// Beta is the weight of the labels against the neighbours. Default 3.
	Beta float64
	// Steps is how many steps are taken. Default 1; 2 make purer lists and
	// lose a little recall.
	Steps int
}

// A Model is what Fit makes of the server's rows.
type Model struct {
	// Map is published; it takes a query to where X is searched.
	Map *Map
	// Z are the images of the rows under the map and X is where the steps have
	// moved them, unit rows both, in the order of the rows.
	Z, X *mat.Dense
	// Graph describes the graph of the rows of Z.
	Graph iterate.Graph
	// Trace has a record of each step, with the objective before it.
	Trace []iterate.Record
}

// Fit makes the map and the embedding of rows, n x d, with a label for each, -1
// where there is none: those of the gallery and whatever public rows there are.
// A row without neighbours moves by its label alone, one without a label by its
// neighbours alone, one without both stays.
//
// Errors: those of NewMap and Map.Apply, kernel.ErrLabels for a label below -1,
// privatemail.ErrSettings, those of Engine.Embed, points.ErrZeroRow for a row
// that ends at zero, and that of ctx.
func Fit(ctx context.Context, e *privatemail.Engine, rows blas64.General, labels []int32, settings *Settings) (*Model, error) {
	var s Settings
	if settings != nil {
		s = *settings
	}
	if s.MeanNeighbours == 0 {
		s.MeanNeighbours = 20
	}
	s.MeanNeighbours = min(s.MeanNeighbours, float64(rows.Rows-1))
	if s.Beta == 0 {
		s.Beta = 3
	}
	for i, label := range labels {
		if label < -1 {
			return nil, fmt.Errorf("supervised: fit: %w: the label of row %d is below -1, want 0 or more, or -1 for none", kernel.ErrLabels, i)
		}
	}
	m, err := NewMap(rows, labels, s.Columns)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // of many rows a map takes seconds
		return nil, fmt.Errorf("supervised: fit: %w", err)
	}
	z, err := m.Apply(rows)
	if err != nil {
		return nil, err
	}
	out, err := e.Embed(ctx, points.Single(z.RawMatrix()), labels, &privatemail.Settings{
		MeanNeighbours: s.MeanNeighbours, Form: kernel.Attract, Coefficient: s.Beta, AllowUnlabelled: true, Steps: s.Steps,
	})
	if err != nil {
		return nil, fmt.Errorf("supervised: fit: %w", err)
	}
	if err := normalizeRows(out.Points); err != nil {
		return nil, fmt.Errorf("supervised: fit: %w", err)
	}
	return &Model{Map: m, Z: z, X: out.Points, Graph: out.Graph, Trace: out.Trace}, nil
}

func normalizeRows(x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		switch norm := points.Normalize(x.RawRowView(i)); {
		case norm == 0:
			return &points.ZeroRowError{Row: i}
		case norm-norm != 0:
			return &points.NonFiniteError{What: "image", Row: i}
		}
	}
	return nil
}
