package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// study is what evaluate and demo do: measure, print, and write a report.
type study struct {
	title, command, footer string
	data                   []*evaluate.Data
	modes                  []evaluate.Mode
	epsilons               []float64
	seeds                  []uint64
	queries                int
	effects                bool
	workers                int
	out                    string
	resume                 bool
	explain                bool // print what each mode protects
}

// The files of a report.
const (
	ReportPage = "report.html"
	ReportJSON = "report.json"
	RecordsCSV = "records.csv"
	Journal    = "records.jsonl"
)

// open makes the folder, finds out whether everything can be written there, and
// opens the journal.
func (s *study) open() (*evaluate.Journal, error) {
	if s.out == "" {
		return nil, cli.Usagef("-out needs the name of a folder")
	}
	if err := os.MkdirAll(s.out, 0o777); err != nil {
		return nil, fmt.Errorf("-out %s: %w", s.out, err)
	}
	for _, name := range []string{RecordsCSV, ReportJSON, ReportPage} {
		if err := files.CheckPlace(filepath.Join(s.out, name)); err != nil {
			return nil, err
		}
	}
	open := evaluate.OpenJournal
	if !s.resume {
		open = evaluate.CreateJournal
	}
	j, err := open(filepath.Join(s.out, Journal))
	switch {
	case errors.Is(err, evaluate.ErrJournalInUse):
		return nil, fmt.Errorf("%w; wait for it, or name another folder with -out", err)
	case errors.Is(err, evaluate.ErrJournal):
		return nil, fmt.Errorf("%w; remove it, or name another folder with -out", err)
	}
	return j, err
}

// found counts the cells that the journal has.
func found(j *evaluate.Journal, cells []evaluate.Cell) (n int) {
	for _, c := range cells {
		if _, ok := j.Find(c); ok {
			n++
		}
	}
	return n
}

// cells are the modes at their defaults over epsilon, and with the effects one
// parameter at a time, the private ones at the largest epsilon.
func (s *study) cells() ([]evaluate.Cell, error) {
	grid := evaluate.Grid{Data: s.data, Modes: s.modes, Seeds: s.seeds, Queries: s.queries, Epsilons: s.epsilons}
	cells, err := grid.Cells()
	if err != nil || !s.effects {
		return cells, err
	}
	largest := []float64{slices.Max(s.epsilons)}
	for _, g := range []evaluate.Grid{
		{Columns: s.columns()},
		{Alphas: []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{Sigmas: []float64{0.5, 1, 2, 4, 6}},
		{Steps: []int{1, 2, 3, 5, 8, 12, 20}},
	} {
		g.Data, g.Seeds, g.Queries, g.Epsilons = s.data, s.seeds, s.queries, largest
		for _, m := range s.modes {
			if m.Uses.Has(axisOf(g)) && m.Queries == 0 { // one iteration for all queries, not one each
				g.Modes = append(g.Modes, m)
			}
		}
		more, err := g.Cells()
		if err != nil {
			return nil, err
		}
		cells = append(cells, more...)
	}
	cells = evaluate.Unique(cells)
	// Rows are kept in memory as long as cells of their data set and seed come.
	place := make(map[string]int)
	for i, d := range s.data {
		place[d.Name] = i
	}
	slices.SortStableFunc(cells, func(a, b evaluate.Cell) int {
		return cmp.Or(cmp.Compare(place[a.Data], place[b.Data]), cmp.Compare(a.Seed, b.Seed))
	})
	return cells, nil
}

// columns are the dimensions to try, none above that of the features.
func (s *study) columns() []int {
	most := 32
	for _, d := range s.data {
		if d.Generate == nil {
			most = min(most, d.Features.Cols)
		}
	}
	return slices.DeleteFunc([]int{2, 4, 8, 16, 32}, func(k int) bool { return k > most })
}

// axisOf returns the parameter that a grid varies besides epsilon.
func axisOf(g evaluate.Grid) evaluate.Axes {
	switch {
	case g.Columns != nil:
		return evaluate.UsesColumns
	case g.Alphas != nil:
		return evaluate.UsesAlpha
	case g.Sigmas != nil:
		return evaluate.UsesSigma
	}
	return evaluate.UsesSteps
}

func (s *study) measure(ctx context.Context, e *cli.Env, j *evaluate.Journal, cells []evaluate.Cell) ([]evaluate.Record, error) {
	e.NoteLevel()
	m := progress.NewMeter(e)
	defer m.Close()
	sweep := &evaluate.Sweep{
		Data: s.data, Modes: s.modes, Journal: j, Workers: s.workers,
		Progress: func(done, total int) { m.Report(privatemail.Progress{Stage: "measurements", Done: done, Total: total}) },
	}
	return sweep.Run(ctx, cells)
}

func (s *study) write(ctx context.Context, r *report.Report) error {
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{RecordsCSV, func(w io.Writer) error { return report.WriteCSV(w, r.Records) }},
		{ReportJSON, r.WriteJSON},
		{ReportPage, r.WriteHTML},
	} {
		if err := formats.WriteFile(ctx, filepath.Join(s.out, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}
