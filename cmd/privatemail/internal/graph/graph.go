// Package graph is the verb graph: it writes the neighbour graph of a file.
package graph

import (
	"context"
	"flag"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "graph",
		Summary:  "write the neighbour graph of a file as a sparse matrix",
		Synopsis: []string{"FEATURES -out FILE (-neighbours N | -sigma S | -mean-neighbours G) [-values weights|distances] [FLAGS]"},
		About: `
Builds the graph that embed uses with the same flags and writes it as a sparse
matrix: entry (i, j) is the weight between rows i and j of FEATURES, where the
two are neighbours. The matrix is symmetric and has no diagonal. A .npz opens
with scipy.sparse.load_npz; .mtx is Matrix Market, as text.`,
		More: `
Rows are in the order of FEATURES. They count from 0 in .npz and from 1 in .mtx. With -values
distances an entry is the Euclidean distance and not the weight; equal rows have the distance 0,
which is stored. The file is replaced as a whole or not at all.

The certificate says what the graph leaves out: weights beyond the distance it is cut at.`,
		Examples: []string{
			"privatemail graph birds/ -normalize-rows -mean-neighbours 20 -out birds.npz",
			"privatemail graph x.npy -sigma 0.35 -values distances -out x.mtx",
		},
		Common: []string{"mean-neighbours", "sigma", "neighbours", "cutoff-weight", "values", "out", "columns", "standardize", "normalize-rows", "isolated", "json", "v"},
		Prints: cli.PrintsJSON | cli.PrintsProgress | cli.PrintsDetails,
		Define: settings.Steered[graphFlags],
	}
}

type graphFlags struct {
	work        settings.Work
	graph       settings.Graph
	files       files.Flags
	out, values string
	time        *report.Stopwatch
}

// What the entries of a written graph are.
const (
	valueWeights   = "weights"
	valueDistances = "distances"
)

func (f *graphFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.graph.Define(fs, "this, -mean-neighbours or -neighbours is required")
	f.files.DefineColumns(fs)
	fs.StringVar(&f.out, "out", "", "write the graph to `FILE`, .npz or .mtx; required")
	settings.ChoiceVar(fs, &f.values, "values", valueWeights, []string{valueWeights, valueDistances}, "entries are `WHAT`: weights or distances")
}

// settings checks the flags against each other and translates them.
func (f *graphFlags) settings(set map[string]bool) (*privatemail.Graph, error) {
	if err := f.graph.Need(set, ""); err != nil {
		return nil, err
	}
	if err := f.graph.Check(set); err != nil {
		return nil, err
	}
	if f.out == "" {
		return nil, cli.Usagef("-out FILE is missing: where should the graph go?")
	}
	if !kernel.Truncates(f.graph.Operator) {
		return nil, cli.Usagef("-operator %s has a weight for every pair, and a graph of neighbours does not: leave it out, or take csr", f.graph.Operator)
	}
	s := new(privatemail.Graph)
	return s, f.graph.Apply(s)
}

func (f *graphFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	f.time = report.NewStopwatch(report.TimeReading, report.TimeGraph, report.TimeWriting)
	name, err := embed.OneFeatures(names)
	if err != nil {
		return err
	}
	s, err := f.settings(set)
	if err != nil {
		return err
	}
	in, err := f.files.Queries(e, name)
	if err != nil {
		return err
	}
	if err := files.RefuseInput("-out", f.out, in); err != nil {
		return err
	}
	if err := checkSparseFile(f.out); err != nil {
		return err
	}
	d, g, m, err := f.build(ctx, e, in, s)
	if err != nil {
		return err
	}
	if err := formats.WriteCSR(ctx, f.out, m); err != nil {
		return err
	}
	f.graph.Warn(e, &g.Graph)
	return f.show(e, d, g, m)
}

// checkSparseFile is CheckMatrixFile for a sparse matrix.
func checkSparseFile(path string) error {
	return files.CheckFile(path, func(ended context.Context) error {
		return formats.WriteCSR(ended, path, &formats.CSR{Ptr: []uint64{0}})
	})
}

// build reads the rows and makes the graph; d is the dimension of the rows.
func (f *graphFlags) build(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.Graph) (d int, g *privatemail.NeighbourGraph, m *formats.CSR, err error) {
	err = files.WithRows(ctx, e, f.work, true, in, "", func(engine *privatemail.Engine, x blas32.General, _ []int32) (err error) {
		d = x.Cols
		f.time.Lap(report.TimeReading)
		if g, err = engine.NeighbourGraph(ctx, x, s); err != nil {
			return err
		}
		files.NoteDominantColumns(&f.graph, e, x, in)
		m = new(formats.CSR)
		m.Rows, m.Cols = g.Weights.Dims()
		m.Ptr, m.Ind, m.Val = g.Weights.Arrays()
		if f.values == valueDistances {
			m.Val = make([]float32, len(m.Ind)) // the engine's own graph is gone by now: this takes no more memory
			err = engine.Distances(ctx, g, x, m.Val)
		}
		f.time.Lap(report.TimeGraph)
		return err
	})
	return d, g, m, err
}

// graphVerbReport is the object of graph -json.
type graphVerbReport struct {
	N int `json:"n"`
	D int `json:"d"`

	Standardize bool `json:"standardize,omitempty"`
	report.Graph
	report.Times
	Entries int    `json:"entries"`
	Values  string `json:"values"`
	Out     string `json:"out"`
}

func (f *graphFlags) show(e *cli.Env, d int, g *privatemail.NeighbourGraph, m *formats.CSR) error {
	f.time.Lap(report.TimeWriting)
	if e.JSON {
		graph := report.GraphOf(&g.Graph)
		times := f.time.Report(&graph)
		return e.Object(graphVerbReport{m.Rows, d, f.graph.Standardize, graph, times, len(m.Val), f.values, f.out})
	}
	report.WriteGraph(e, m.Rows, &g.Graph, f.graph.Asked())
	t := report.Facts(e.Stdout)
	f.graph.ShowStandardized(t)
	fmt.Fprintf(t, "time\t%v\n", f.time)
	fmt.Fprintf(t, "wrote\t%s, %d x %d with %d %s\n", f.out, m.Rows, m.Cols, len(m.Val), f.values)
	return t.Flush()
}
