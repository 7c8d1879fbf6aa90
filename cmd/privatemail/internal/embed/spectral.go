package embed

import (
	"context"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// runSpectral makes the map and writes it.
func (f *Flags) runSpectral(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Settings) error {
	f.time.Names = []string{report.TimeReading, report.TimeGraph, report.TimeMap, report.TimeWriting}
	var d int
	var m *privatemail.SpectralMap
	err := files.WithRows(ctx, e, f.work, true, in, "", func(engine *privatemail.Engine, x blas32.General, y []int32) (err error) {
		d = x.Cols
		f.time.Lap(report.TimeReading)
		if err := f.prepare(ctx, e, in, s, x, y); err != nil {
			return err
		}
		if m, err = engine.Map(ctx, x, mapSettings(s)); err != nil {
			return err
		}
		f.time.Split(report.TimeGraph, report.TimeMap, m.Graph.StepTime)
		files.NoteDominantColumns(&f.graph, e, x, in)
		return nil
	})
	if err != nil {
		return err
	}
	x := files.InSingle(s.Into, m.Points)
	if err := f.write(ctx, e, in, x, false); err != nil {
		return err
	}
	f.graph.Warn(e, &m.Graph)
	noteComponents(e, m)
	return f.showSpectral(e, d, x, m)
}

// mapSettings returns those of the settings that a map has.
func mapSettings(s *privatemail.Settings) *privatemail.MapSettings {
	return &privatemail.MapSettings{Graph: s.Graph, Dim: s.Dim, StopTolerance: s.StopTolerance, Into: s.Into}
}

// noteComponents says what parts of the graph that nothing connects mean.
func noteComponents(e *cli.Env, m *privatemail.SpectralMap) {
	if parts := len(m.Components); parts > 1 {
		e.Note("the graph has %d parts that no weight connects, the largest of %d rows: where a part lies in the map, and how far from another, means nothing; more neighbours (-neighbours, -mean-neighbours or a larger -sigma) connect them", parts, m.Components[0])
		if vectors := len(m.Values); parts > vectors {
			e.Note("a map is made of %d eigenvectors, and %d parts need more: parts shrink to lines or points, and some may lie on top of each other", vectors, parts)
		}
	}
}

// connectedRows returns how many rows the parts of the graph have.
func connectedRows(m *privatemail.SpectralMap) (rows int) {
	for _, size := range m.Components {
		rows += size
	}
	return rows
}

// listedParts is how many parts of a graph have their rows listed one by one.
const listedParts = 4

// partsOf says which parts the graph of n rows has. The rows of parts, and those in none, add
// up to n.
func partsOf(n int, m *privatemail.SpectralMap) string {
	words := "one: the graph is connected"
	alone := n - connectedRows(m)
	switch count := len(m.Components); {
	case count == 1 && alone > 0:
		words = fmt.Sprintf("one of %d rows", n-alone)
	case count > 1:
		sizes := make([]string, 0, listedParts+1)
		rest := n - alone
		for _, size := range m.Components[:min(count, listedParts)] {
			sizes, rest = append(sizes, strconv.Itoa(size)), rest-size
		}
		words = fmt.Sprintf("%d that no weight connects, of %s rows", count, text.InWords(sizes))
		if count > listedParts {
			words = fmt.Sprintf("%d that no weight connects: the largest of %s rows, and the others of %d rows together", count, text.InWords(sizes), rest)
		}
	}
	if alone > 0 {
		words += fmt.Sprintf("; rows without neighbours: %d", alone)
	}
	return words
}

// spectralReport is the object of embed -json in form spectral.
type spectralReport struct {
	N    int    `json:"n"`
	D    int    `json:"d"`
	K    int    `json:"dim"`
	Form string `json:"form"`

	Standardize bool `json:"standardize,omitempty"`
	report.Graph
	report.Times
	Connected   int       `json:"connected"`         // rows of all parts: with the isolated ones they are all rows
	Components  int       `json:"components"`        // parts that no weight connects, without isolated rows
	Largest     int       `json:"largest_component"` // rows of the largest
	Eigenvalues []float64 `json:"eigenvalues"`
	Residuals   []float64 `json:"residuals"`
	Products    int       `json:"products"`
	Status      string    `json:"status"`
	Out         string    `json:"out"`
	Names       string    `json:"names,omitempty"` // the file with the names of classes
	Plot        string    `json:"plot,omitempty"`
}

func (f *Flags) showSpectral(e *cli.Env, d int, x blas32.General, m *privatemail.SpectralMap) error {
	n, k := x.Rows, x.Cols
	f.time.Lap(report.TimeWriting)
	if e.JSON {
		graph := report.GraphOf(&m.Graph)
		times := f.time.Report(&graph)
		return e.Object(spectralReport{
			n, d, k, settings.Spectral, f.graph.Standardize, graph, times, connectedRows(m), len(m.Components), m.Components[0],
			m.Values, m.Residuals, m.Products, m.Status.String(), f.out, f.names, f.plot.File,
		})
	}
	report.WriteGraph(e, n, &m.Graph, f.graph.Asked())
	t := report.Facts(e.Stdout)
	f.graph.ShowStandardized(t)
	worst := 0.0
	for _, r := range m.Residuals {
		worst = max(worst, r)
	}
	fmt.Fprintf(t, "parts\t%s\n", partsOf(n, m))
	if e.Verbose {
		fmt.Fprintf(t, "eigenvectors\t%d (%v after %d products), eigenvalues %.6f to %.6f, residuals up to %.1e\n", len(m.Values), m.Status, m.Products, m.Values[0], m.Values[len(m.Values)-1], worst)
	}
	fmt.Fprintf(t, "time\t%v\n", f.time)
	fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, n, k)
	files.WriteNamesFact(t, f.names)
	f.plot.Show(t)
	return t.Flush()
}
