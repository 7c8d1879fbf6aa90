package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// runSpectral makes the map and writes it.
func (f *embedFlags) runSpectral(ctx context.Context, e *cli.Env, in input, s *privatemail.Settings) error {
	var d int
	var m *privatemail.SpectralMap
	err := withRows(ctx, e, f.work, true, in, "", func(engine *privatemail.Engine, x blas32.General, y []int32) (err error) {
		d = x.Cols
		if err := f.prepare(ctx, e, in, s, x, y); err != nil {
			return err
		}
		if m, err = engine.Map(ctx, x, s); err == nil && !s.NormalizeRows {
			noteDominantColumn(e, x)
		}
		return err
	})
	if err != nil {
		return err
	}
	x := inSingle(s.Into, m.Points)
	if err := f.write(ctx, e, in, x, false); err != nil {
		return err
	}
	f.graph.warn(e, &m.Graph)
	noteComponents(e, m)
	return f.showSpectral(e, d, x, m)
}

// noteComponents says what parts of the graph that nothing connects mean.
func noteComponents(e *cli.Env, m *privatemail.SpectralMap) {
	if parts := len(m.Components); parts > 1 {
		e.Note("the graph has %d parts that no weight connects, the largest of %d rows: where a part lies in the map, and how far from another, means nothing; more neighbours (-neighbours, -degree or a larger -sigma) connect them", parts, m.Components[0])
		if vectors := len(m.Values); parts > vectors {
			e.Note("a map is made of %d eigenvectors, and %d parts need more: parts shrink to lines or points, and some may lie on top of each other", vectors, parts)
		}
	}
}

// spectralReport is the object of embed -json in form spectral.
type spectralReport struct {
	N    int    `json:"n"`
	D    int    `json:"d"`
	K    int    `json:"k"`
	Form string `json:"form"`
	graphReport
	Components  int       `json:"components"`        // parts that no weight connects, isolated rows apart
	Largest     int       `json:"largest_component"` // rows of the largest
	Eigenvalues []float64 `json:"eigenvalues"`
	Residuals   []float64 `json:"residuals"`
	Products    int       `json:"products"`
	Status      string    `json:"status"`
	Out         string    `json:"out"`
	Names       string    `json:"names,omitempty"` // the file with the names of classes
	Plot        string    `json:"plot,omitempty"`
}

func (f *embedFlags) showSpectral(e *cli.Env, d int, x blas32.General, m *privatemail.SpectralMap) error {
	n, k := x.Rows, x.Cols
	if e.JSON {
		return e.Object(spectralReport{
			n, d, k, spectral, reportGraph(&m.Graph), len(m.Components), m.Components[0],
			m.Values, m.Residuals, m.Products, m.Status.String(), f.out, f.names, f.plot.file,
		})
	}
	writeGraph(e, n, &m.Graph, f.graph.asked())
	t := facts(e.Stdout)
	worst := 0.0
	for _, r := range m.Residuals {
		worst = max(worst, r)
	}
	if len(m.Components) == 1 {
		fmt.Fprintf(t, "parts\tone: the graph is connected\n")
	} else {
		fmt.Fprintf(t, "parts\t%d that no weight connects, the largest of %d rows\n", len(m.Components), m.Components[0])
	}
	if e.Verbose {
		fmt.Fprintf(t, "eigenvectors\t%d (%v after %d products), eigenvalues %.6f to %.6f, residuals up to %.1e\n", len(m.Values), m.Status, m.Products, m.Values[0], m.Values[len(m.Values)-1], worst)
	}
	fmt.Fprintf(t, "time\t%.2f s for the graph, %.2f s for the map\n", m.Graph.BuildTime.Seconds(), m.Graph.StepTime.Seconds())
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, n, k)
	writeNamesFact(t, f.names)
	f.plot.show(t)
	return t.Flush()
}
