package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/evaluate/modes"
	"github.com/seed-64e14a55/privatemail/evaluate/report"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/digits"
)

func evaluateVerb() verb {
	return verb{
		name:     "evaluate",
		summary:  "measure retrieval under privacy: modes against epsilon, with a report",
		synopsis: []string{"[FOLDER...] [-modes LIST] [-epsilon LIST] [-seeds LIST] [-queries N] [-out FOLDER] [FLAGS]"},
		about: fmt.Sprintf(`
Measures how well queries find their class and their neighbours, for each mode, epsilon and
seed, and writes to the output folder

  report.html     tables and pictures, in one file
  report.json     a configuration with its confidence intervals per entry
  records.csv     a measurement per line
  records.jsonl   the same as it was finished; a run that is repeated skips what is there

A FOLDER has %s and %s, features not negative; without one the embedded
digits are used. Rows are divided into public rows, gallery and queries by a shuffle of the
seed: by default 30 %%, 60 %% and 10 %%, for the folders digits, cifar100-mobilenetv2 and
cub200-mobilenetv2 as in the published figures, or as -split says. Epsilon has values here
because nothing is released: it is measured what each of them would cost. The name %s stands
for generated rows of the size of Cars196.

Modes: %s.`, featuresName, labelsName, modes.CarsSize, strings.Join(modeNames(), ", ")),
		examples: []string{
			"privatemail evaluate -out digits-report",
			"privatemail evaluate birds/ -modes raw,gaussian,pca -epsilon 1,4,16 -seeds 1..5 -out birds-report",
		},
		prints: printsJSON | printsProgress,
		define: func(fs *flag.FlagSet) action {
			f := new(evaluateFlags)
			f.define(fs)
			return f.run
		},
	}
}

type evaluateFlags struct {
	data     []string
	modes    string
	epsilons []float64
	seeds    []uint64
	queries  int
	workers  int
	split    string
	out      string
	resume   bool
	effects  bool
}

func (f *evaluateFlags) define(fs *flag.FlagSet) {
	fs.Func("data", "measure on `FOLDER`; may be repeated, and a name without -data means the same (default: the embedded digits)", func(s string) error {
		f.data = append(f.data, s)
		return nil
	})
	fs.StringVar(&f.modes, "modes", "all", "measure the modes of `LIST`, names with commas between")
	numbersVar(fs, &f.epsilons, "epsilon", []float64{0.5, 1, 2, 4, 8}, "measure at each epsilon of `LIST`")
	seedsVar(fs, &f.seeds, "seeds", []uint64{1, 2, 3, 4, 5}, "measure under each seed of `LIST`, such as 1..5 or 1,7")
	wholeVar(fs, &f.queries, "queries", 0, "ask the first `N` queries, 0 for as many as the mode is made for")
	countVar(fs, &f.workers, "workers", 0, "measure `W` cells at a time (default: one per processor)")
	fs.StringVar(&f.split, "split", "", "divide the rows: `P,G` are the public and gallery rows, the rest are queries; P,Q,C is zero-shot with C known classes and Q queries")
	fs.StringVar(&f.out, "out", "privatemail-report", "write to `FOLDER`, which is made if it does not exist")
	fs.BoolVar(&f.resume, "resume", true, "keep what records.jsonl of the output folder has; -resume=false begins again")
	fs.BoolVar(&f.effects, "effects", true, "also vary k, alpha, sigma and the steps of modes that have them")
}

func (f *evaluateFlags) run(ctx context.Context, e *env, names []string) error {
	chosen, err := chooseModes(f.modes)
	if err != nil {
		return err
	}
	data, err := f.read(ctx, append(f.data, names...))
	if err != nil {
		return err
	}
	s := &study{
		title: "Private retrieval, measured", command: f.command(names),
		data: data, modes: chosen, epsilons: f.epsilons, seeds: f.seeds, queries: f.queries,
		effects: f.effects, workers: f.workers, out: f.out, resume: f.resume,
	}
	return s.run(ctx, e)
}

// command is how to make the report again.
func (f *evaluateFlags) command(names []string) string {
	words := []string{"privatemail evaluate"}
	for _, d := range append(f.data, names...) {
		words = append(words, filepath.Base(filepath.Clean(d))+"/") // where it lies is nobody's business
	}
	words = append(words, "-modes", f.modes, "-epsilon", join(f.epsilons), "-seeds", join(f.seeds))
	if f.queries > 0 {
		words = append(words, "-queries", strconv.Itoa(f.queries))
	}
	if f.split != "" {
		words = append(words, "-split", f.split)
	}
	if !f.effects {
		words = append(words, "-effects=false")
	}
	return strings.Join(words, " ")
}

func modeNames() (names []string) {
	for _, m := range modes.All() {
		names = append(names, m.Name)
	}
	return names
}

// chooseModes returns the modes of a list in the order of tables.
func chooseModes(list string) ([]evaluate.Mode, error) {
	all := modes.All()
	if list == "all" {
		return all, nil
	}
	wanted := make(map[string]bool)
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(modeNames(), name) {
			return nil, usagef("-modes: there is no mode %q%s", name, didYouMean(name, modeNames(), ""))
		}
		wanted[name] = true
	}
	return slices.DeleteFunc(all, func(m evaluate.Mode) bool { return !wanted[m.Name] }), nil
}

// read returns the data sets, the embedded digits when none is named.
func (f *evaluateFlags) read(ctx context.Context, folders []string) ([]*evaluate.Data, error) {
	if len(folders) == 0 {
		d := embeddedDigits()
		return []*evaluate.Data{d}, f.divide(d)
	}
	var all []*evaluate.Data
	for _, folder := range folders {
		if folder == modes.CarsSize {
			all = append(all, modes.Cars())
			continue
		}
		d, err := readData(ctx, folder)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o *evaluate.Data) bool { return o.Name == d.Name }) {
			return nil, usagef("two folders are called %s: their figures could not be told apart", d.Name)
		}
		if err := f.divide(d); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func embeddedDigits() *evaluate.Data {
	x, y := digits.Load()
	return &evaluate.Data{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}
}

func readData(ctx context.Context, folder string) (*evaluate.Data, error) {
	in, err := resolve(folder)
	if err != nil {
		return nil, err
	}
	if in.labels == "" {
		return nil, fmt.Errorf("%s: a folder with %s and %s is wanted", folder, featuresName, labelsName)
	}
	x, release, err := readFeatures(ctx, in.features)
	if err != nil {
		return nil, err
	}
	defer release()
	y, err := readLabels(ctx, in, x.Rows, "")
	if err != nil {
		return nil, err
	}
	name := filepath.Base(filepath.Clean(folder))
	// The file may be mapped into memory and is released here.
	own := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: slices.Clone(x.Data)}
	return &evaluate.Data{Name: name, Features: own, Labels: y, Division: evaluate.DivisionOf(name, x.Rows)}, nil
}

// divide follows -split.
func (f *evaluateFlags) divide(d *evaluate.Data) error {
	if f.split == "" {
		return nil
	}
	var n []int
	for _, word := range strings.Split(f.split, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || v < 1 || v > 1<<30 {
			return usagef("-split %s: want two or three whole numbers above 0", f.split)
		}
		n = append(n, v)
	}
	switch len(n) {
	case 2:
		d.Division = evaluate.Division{Public: n[0], Gallery: n[1]}
	case 3:
		d.Division = evaluate.Division{Public: n[0], Queries: n[1], KnownClasses: int32(n[2])}
	default:
		return usagef("-split %s: want two or three whole numbers above 0", f.split)
	}
	return nil
}

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
	reportPage = "report.html"
	reportJSON = "report.json"
	recordsCSV = "records.csv"
	journal    = "records.jsonl"
)

func (s *study) run(ctx context.Context, e *env) error {
	began := time.Now()
	cells, err := s.cells()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // before a folder is made
	}
	if err := os.MkdirAll(s.out, 0o777); err != nil {
		return fmt.Errorf("-out %s: %w", s.out, err)
	}
	r := &report.Report{Title: s.title, Command: s.command, Modes: s.modes, Footer: s.footer}
	if r.Records, err = s.measure(ctx, e, cells); err != nil {
		return err
	}
	if r.Groups, err = s.pictures(ctx); err != nil {
		return err
	}
	if err := s.write(ctx, r); err != nil {
		return err
	}
	return s.show(e, r, time.Since(began))
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

// axisOf returns the parameter that a grid varies beside epsilon.
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

func (s *study) measure(ctx context.Context, e *env, cells []evaluate.Cell) (_ []evaluate.Record, err error) {
	e.noteLevel()
	path := filepath.Join(s.out, journal)
	if !s.resume {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	j, err := evaluate.OpenJournal(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	m := newMeter(e)
	defer m.close()
	sweep := &evaluate.Sweep{
		Data: s.data, Modes: s.modes, Journal: j, Workers: s.workers,
		Progress: func(done, total int) { m.report(privatemail.Progress{Stage: "measurements", Done: done, Total: total}) },
	}
	return sweep.Run(ctx, cells)
}

func (s *study) write(ctx context.Context, r *report.Report) error {
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{recordsCSV, func(w io.Writer) error { return report.WriteCSV(w, r.Records) }},
		{reportJSON, r.WriteJSON},
		{reportPage, r.WriteHTML},
	} {
		if err := formats.WriteFile(ctx, filepath.Join(s.out, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

// show prints the lines for programs, or the tables of R@8 and overlap for
// people.
func (s *study) show(e *env, r *report.Report, took time.Duration) error {
	lines := r.Lines()
	if e.json {
		for _, l := range lines {
			if err := e.object(l); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range s.data {
		s.showData(e.stdout, d.Name, lines)
	}
	if s.explain {
		s.protection(e)
	}
	if !e.quiet {
		fmt.Fprintf(e.stdout, "\n%d measurements, %.1f s; see %s\n", len(r.Records), took.Seconds(), filepath.Join(s.out, reportPage))
	}
	return nil
}

func (s *study) showData(w io.Writer, name string, lines []report.Line) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l report.Line) bool { return l.Data != name || !s.isDefault(l) })
	if len(lines) == 0 {
		return
	}
	first := lines[0]
	fmt.Fprintf(w, "\n%s: %d gallery rows of %d classes, %d seeds; R@8\n\n", name, first.Gallery, first.Classes, first.Seeds)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  \tno epsilon")
	for _, epsilon := range s.epsilons {
		fmt.Fprintf(t, "\tepsilon %g", epsilon)
	}
	fmt.Fprint(t, "\n  ceiling, 8 rows sent\t1.000")
	for _, epsilon := range s.epsilons {
		fmt.Fprintf(t, "\t%.3f", evaluate.Ceiling(first.Classes, epsilon, largestDelta(lines)))
	}
	fmt.Fprintln(t)
	for _, m := range s.modes {
		s.showMode(t, m, lines)
	}
	t.Flush()
}

// isDefault tells whether a line has its mode's defaults but for epsilon.
func (s *study) isDefault(l report.Line) bool {
	i := slices.IndexFunc(s.modes, func(m evaluate.Mode) bool { return m.Name == l.Mode })
	return l.Params == s.modes[i].At(l.Epsilon)
}

func largestDelta(lines []report.Line) (delta float64) {
	for _, l := range lines {
		delta = max(delta, l.Delta)
	}
	return delta
}

// showMode prints R@8 of a mode and, where more rows are sent than kept, what
// they give without a query, and overlap@8 with its own such column.
func (s *study) showMode(w io.Writer, m evaluate.Mode, lines []report.Line) {
	row := func(title string, metric evaluate.Metric) {
		text, any := "  "+title, false
		for _, epsilon := range append([]float64{0}, s.epsilons...) {
			cell := ""
			for _, l := range lines {
				if v, ok := l.Figures[string(metric)]; ok && l.Mode == m.Name && l.Epsilon == epsilon {
					cell, any = fmt.Sprintf("%.3f", v.Mean), true
				}
			}
			text += "\t" + cell
		}
		if any {
			fmt.Fprintln(w, text)
		}
	}
	row(m.Title, evaluate.RecallAt8)
	row("  the same download, no query", evaluate.NoQueryRecall8)
	if slices.ContainsFunc(lines, func(l report.Line) bool { return l.Mode == m.Name && l.Download > 0 }) {
		row("  overlap@8 of "+m.Name, evaluate.OverlapAt8)
		row("  the same download, no query", evaluate.NoQueryOverlap8)
	}
}
