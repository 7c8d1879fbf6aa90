// Package evaluation has the verbs evaluate and demo: studies of retrieval under privacy, with their report.
package evaluation

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/modes"
)

func Evaluate() cli.Verb {
	return cli.Verb{
		Name:     "evaluate",
		Summary:  "measure retrieval under privacy: modes against epsilon",
		Synopsis: []string{"[FOLDER...] [-modes LIST] [-epsilon LIST] [-seeds LIST] [-queries N] [-out FOLDER] [FLAGS]"},
		About: fmt.Sprintf(`
Measures how well queries find their class and their neighbours, for each mode,
epsilon and seed. A FOLDER has %s and %s, or is a .csv or .npz
that has both; without one the embedded digits are used. Tables and pictures go
to report.html in the folder -out, figures to report.json, records.csv and
records.jsonl. A run that is repeated skips what is in records.jsonl.`, files.FeaturesName, files.LabelsName),
		More: fmt.Sprintf(`
report.json has an entry per configuration, with its confidence intervals; records.csv has a line
per measurement, and records.jsonl the same in the order in which they were finished.

Rows are divided into public rows, gallery and queries by a shuffle of the seed: by default 30 %%,
60 %% and 10 %%, for the folders digits, cifar100-mobilenetv2 and cub200-mobilenetv2 as in the
published figures, or as -split says. Epsilon has default values here because nothing is released:
the study measures what each of them would cost. A mode that has no answer, such as 32 dimensions of
rows with 4 columns, is left out and reported as not available, with the reason. The name %s
stands for generated rows of the size of Cars196.

Mode raw searches the rows as the file has them, by Euclidean distance. All other modes work on
prepared rows: the square root of each entry, its sign kept; rows of unit length; principal
components of the public rows, 64 or as many as there are columns; unit length again.

Modes:
%s`, modes.CarsName, modeList()),
		Common: []string{"modes", "epsilon", "seeds", "queries", "split", "out", "resume", "effects", "dim", "sigma", "alpha", "steps", "workers", "json"},
		Examples: []string{
			"privatemail evaluate -out digits-report",
			"privatemail evaluate birds/ -modes raw,prepared,gaussian -epsilon 1,4,16 -seeds 1..5 -out birds-report",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(evaluateFlags)
			f.Define(fs)
			return f.Run
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
	division evaluate.Division // none: that of the data
	out      string
	resume   bool
	effects  bool
	params   evaluate.Params // in place of the defaults of modes, where not 0
}

func (f *evaluateFlags) Define(fs *flag.FlagSet) {
	const byMode = "\n(default: that of the mode)"
	fs.Func("data", "measure on `FOLDER`, as a name without -data does\nmay be repeated (default: the digits in the program)", func(s string) error {
		f.data = append(f.data, s)
		return nil
	})
	fs.StringVar(&f.modes, "modes", everyMode, "measure the modes of `LIST`\nnames with commas between, or "+everyMode)
	settings.EpsilonsVar(fs, &f.epsilons, "epsilon", []float64{0.5, 1, 2, 4, 8}, "measure at each epsilon of `LIST`")
	settings.SeedsVar(fs, &f.seeds, "seeds", []uint64{1, 2, 3, 4, 5}, "measure under each seed of `LIST`\nsuch as 1..5 or 1,7")
	cli.CountVar(fs, &f.params.Dim, "dim", 0, "`K` dimensions, of modes that have them"+byMode)
	settings.NumberVar(fs, &f.params.Sigma, "sigma", 0, settings.Positive(), "bandwidth `S` of modes that have one"+byMode)
	settings.NumberVar(fs, &f.params.Alpha, "alpha", 0, settings.Positive(), "coefficient `A` of the label term of modes that have one"+byMode)
	cli.CountVar(fs, &f.params.Steps, "steps", 0, "number of steps `T` of modes that have them"+byMode)
	settings.WholeVar(fs, &f.queries, "queries", 0, "ask the first `N` queries\n(default: as many as the mode is made for)")
	cli.CountVar(fs, &f.workers, "workers", 0, "measure `W` cells of the table at a time\n(default: one per processor)")
	settings.SplitVar(fs, &f.division, "divide the rows: `P,G` public and gallery rows\nthe others are queries; P,Q,C is zero-shot with C known classes and Q queries")
	fs.StringVar(&f.out, "out", "privatemail-report", "write to `FOLDER`\nwhich is made if it does not exist")
	fs.BoolVar(&f.resume, "resume", true, "keep what records.jsonl of the output folder has\n-resume=false begins again")
	fs.BoolVar(&f.effects, "effects", true, "also vary k, alpha, sigma and the steps of modes")
}

func (f *evaluateFlags) Run(ctx context.Context, e *cli.Env, names []string) error {
	chosen, err := chooseModes(f.modes)
	if err != nil {
		return err
	}
	for _, p := range f.parameters() {
		if p.value > 0 && !slices.ContainsFunc(chosen, func(m evaluate.Mode) bool { return m.Uses.Has(p.axis) }) {
			return cli.Usagef("%s: none of the modes %s has it", p.flag, f.modes)
		}
	}
	for i, m := range chosen {
		chosen[i] = m.With(f.params)
	}
	folders := append(f.data, names...)
	if err := f.checkNames(folders); err != nil {
		return err
	}
	data, err := f.read(ctx, e, folders)
	if err != nil {
		return err
	}
	s := &study{
		title: "Private retrieval, measured", command: f.command(names),
		data: data, modes: chosen, epsilons: f.epsilons, seeds: f.seeds, queries: f.queries,
		effects: f.effects, workers: f.workers, out: f.out, resume: f.resume,
	}
	return s.Run(ctx, e)
}

// parameter is a flag that takes the place of a default of modes, 0 when it was
// not given.
type parameter struct {
	flag  string
	axis  evaluate.Axes
	value float64
}

func (f *evaluateFlags) parameters() []parameter {
	p := &f.params
	return []parameter{
		{"-dim", evaluate.UsesColumns, float64(p.Dim)},
		{"-sigma", evaluate.UsesSigma, p.Sigma},
		{"-alpha", evaluate.UsesAlpha, p.Alpha},
		{"-steps", evaluate.UsesSteps, float64(p.Steps)},
	}
}

// command is how to make the report again.
func (f *evaluateFlags) command(names []string) string {
	words := []string{"privatemail evaluate"}
	for _, d := range append(f.data, names...) {
		if d != modes.CarsName {
			d = shownName(d)
		}
		words = append(words, d)
	}
	words = append(words, "-modes", f.modes, "-epsilon", settings.Join(f.epsilons), "-seeds", settings.Join(f.seeds))
	for _, p := range f.parameters() {
		if p.value > 0 {
			words = append(words, p.flag, fmt.Sprint(p.value))
		}
	}
	if f.queries > 0 {
		words = append(words, "-queries", strconv.Itoa(f.queries))
	}
	if split := settings.ShowSplit(f.division); split != "" {
		words = append(words, "-split", split)
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

// modeList is a line for each mode, for the help.
func modeList() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range modes.All() {
		fmt.Fprintf(t, "  %s\t%s\n", m.Name, m.Title)
	}
	t.Flush()
	return b.String()
}

// everyMode stands for all modes in -modes.
const everyMode = "every"

// chooseModes returns the modes of a list in the order of tables.
func chooseModes(list string) ([]evaluate.Mode, error) {
	all := modes.All()
	if list == everyMode {
		return all, nil
	}
	wanted := make(map[string]bool)
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(modeNames(), name) {
			return nil, cli.Usagef("-modes: there is no mode %q%s", name, cli.DidYouMean(name, modeNames(), ""))
		}
		wanted[name] = true
	}
	return slices.DeleteFunc(all, func(m evaluate.Mode) bool { return !wanted[m.Name] }), nil
}

// dataName is what the rows of a folder are called.
func dataName(folder string) string { return filepath.Base(filepath.Clean(folder)) }

// shownName is how a report calls a file or folder: without the path, which is private.
func shownName(path string) string {
	file, _ := formats.SplitArray(path)
	if info, err := os.Stat(file); err == nil && !info.IsDir() {
		return dataName(path)
	}
	return dataName(path) + "/"
}

// labelledRows copies the rows that have a label: the file may be mapped, and a change of it
// must not end hours of measuring.
func labelledRows(x blas32.General, y []int32) (blas32.General, []int32) {
	own := blas32.General{Cols: x.Cols, Stride: x.Stride}
	var labels []int32
	for i, label := range y {
		if label != -1 {
			own.Data = append(own.Data, x.Data[i*x.Stride:][:x.Cols]...)
			labels = append(labels, label)
		}
	}
	own.Rows = len(labels)
	return own, labels
}

// checkNames refuses folders whose figures would have the same name, and a division of
// rows that come divided.
func (f *evaluateFlags) checkNames(folders []string) error {
	seen := make(map[string]bool)
	for _, folder := range folders {
		name := dataName(folder)
		if seen[name] {
			return cli.Usagef("two folders are called %s: rename one, so that their figures can be distinguished", name)
		}
		seen[name] = true
		if folder == modes.CarsName && f.division != (evaluate.Division{}) {
			return cli.Usagef("-split: the rows of %s are made as public rows, gallery and queries; leave out one of them", modes.CarsName)
		}
	}
	return nil
}

// read returns the data sets, the embedded digits when none is named.
func (f *evaluateFlags) read(ctx context.Context, e *cli.Env, folders []string) ([]*evaluate.Data, error) {
	if len(folders) == 0 {
		d := embeddedDigits()
		f.divide(d)
		return []*evaluate.Data{d}, nil
	}
	var all []*evaluate.Data
	for _, folder := range folders {
		if folder == modes.CarsName {
			all = append(all, modes.Cars())
			continue
		}
		d, err := readData(ctx, e, folder)
		if err != nil {
			return nil, err
		}
		f.divide(d)
		all = append(all, d)
	}
	return all, nil
}

func embeddedDigits() *evaluate.Data {
	x, y := digits.Load()
	return &evaluate.Data{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}
}

func readData(ctx context.Context, e *cli.Env, folder string) (*evaluate.Data, error) {
	in, err := new(files.Flags).Resolve(e, folder)
	if err != nil {
		return nil, err
	}
	if err := files.RefuseOneRow(in.Features, in.Read.Rows); err != nil {
		return nil, err
	}
	if in.Labels == "" {
		return nil, fmt.Errorf("%s: want a folder with %s and %s, or a .csv or .npz with labels in it", folder, files.FeaturesName, files.LabelsName)
	}
	x, y, release, err := files.ReadRows(ctx, in, "")
	if err != nil {
		return nil, err
	}
	defer release()
	if err := files.RefuseOneRow(in.Features, x.Rows); err != nil {
		return nil, err
	}
	files.AskRegression(e, in, y)
	name := dataName(folder)
	own, y := labelledRows(x, y)
	if own.Rows < x.Rows {
		e.Note("%s: only the %d rows with a label are measured", folder, own.Rows)
	}
	return &evaluate.Data{Name: name, Features: own, Labels: y, Division: evaluate.DivisionOf(name, own.Rows)}, nil
}

// divide follows -split.
func (f *evaluateFlags) divide(d *evaluate.Data) {
	if f.division != (evaluate.Division{}) {
		d.Division = f.division
	}
}
