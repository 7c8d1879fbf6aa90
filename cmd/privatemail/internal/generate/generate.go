// Package generate is the verb generate: it writes synthetic features, or the digits.
package generate

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

func Verb() cli.Verb {
	about := `
Writes a synthetic set; the same flags give the same bytes. OUT is a file (.npy,
.fvecs, .fbin), or a folder (one that exists, or a name ending in /) that gets
features.npy, and labels.npy when the kind has labels. Kinds:
`
	for _, k := range setKinds() {
		about += fmt.Sprintf("  %-10s %s\n", k.Name, k.Law)
	}
	return cli.Verb{
		Name:     "generate",
		Summary:  "write synthetic feature vectors, or the digits of the demo",
		Synopsis: []string{"-kind KIND -n N -d D -out OUT [-classes C] [-seed Q] [-labels-out FILE]"},
		About:    about,
		More:     "-n, -d, -classes and -seed do not apply to -kind digits.",
		Examples: []string{
			"privatemail generate -kind uniform -n 1000000 -d 2 -out points.npy",
			"privatemail generate -kind classes -n 5000 -d 64 -classes 20 -out toy/",
			"privatemail generate -kind digits -out digits/",
		},
		Common: []string{"kind", "n", "d", "classes", "seed", "out", "labels-out", "max-memory", "json"},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: settings.Steered[generateFlags],
	}
}

// digitsKind is the name of the set that is not drawn but comes with the program.
const digitsKind = "digits"

// setKinds lists the sets there are.
func setKinds() []synth.Kind {
	return append(synth.Kinds(), synth.Kind{
		Name: digitsKind, Law: fmt.Sprintf("the %d handwritten digits of the demo, of %d pixels", digits.Images, digits.Pixels),
		Labelled: true,
		Make: func(synth.Request) (blas32.General, []int32, error) {
			x, y := digits.Load()
			return x, y, nil
		},
	})
}

type generateFlags struct {
	kind           string
	n, d, classes  int
	seed           uint64
	out, labelsOut string
	maxMemory      int64
}

func (f *generateFlags) Define(fs *flag.FlagSet) {
	var kinds []string
	for _, k := range setKinds() {
		kinds = append(kinds, k.Name)
	}
	settings.ChoiceVar(fs, &f.kind, "kind", "uniform", kinds, "draw a set of this `KIND`\n"+strings.Join(kinds, ", "))
	cli.CountVar(fs, &f.n, "n", 0, "number of rows `N`; required")
	cli.CountVar(fs, &f.d, "d", 0, "dimension `D`; required")
	cli.CountVar(fs, &f.classes, "classes", 10, "number of classes `C`, for kinds with labels")
	settings.SeedVar(fs, &f.seed, "seed `Q` of the random numbers")
	fs.StringVar(&f.out, "out", "", "write to the file or folder `OUT`; required")
	fs.StringVar(&f.labelsOut, "labels-out", "", "write the labels to `FILE`, .npy, .csv or .ivecs\n(default: next to OUT)")
	settings.SizeVar(fs, &f.maxMemory, "max-memory", settings.MemoryUsage())
}

func (f *generateFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	kind, err := f.check(names, set)
	if err != nil {
		return err
	}
	if err := f.checkMemory(kind); err != nil {
		return err
	}
	t, err := f.targets(kind)
	if err != nil {
		return err
	}
	err = f.write(ctx, kind, t)
	if err != nil {
		t.undo()
		return err
	}
	return f.show(e, t)
}

// check refuses requests that make no sense.
func (f *generateFlags) check(names []string, set map[string]bool) (synth.Kind, error) {
	all := setKinds()
	kind := all[slices.IndexFunc(all, func(k synth.Kind) bool { return k.Name == f.kind })] // the flag takes no other name
	if f.kind == digitsKind {
		for _, name := range []string{"n", "d", "classes", "seed"} {
			if set[name] {
				return kind, cli.Usagef("-kind digits is one fixed set: leave out -%s", name)
			}
		}
		f.n, f.d, f.classes = digits.Images, digits.Pixels, digits.Classes
	}
	switch {
	case len(names) > 0:
		return kind, cli.Usagef("names are not wanted, got %q: the output goes to -out", names[0])
	case f.n == 0 || f.d == 0:
		return kind, cli.Usagef("the size is missing: give the number of rows -n N and the dimension -d D")
	case f.out == "":
		return kind, cli.Usagef("-out is missing: where should the rows go?")
	case !kind.Labelled && set["labels-out"]:
		return kind, cli.Usagef("-kind %s has no labels: leave out -labels-out, or use -kind classes", f.kind)
	case !kind.Labelled && set["classes"]:
		return kind, cli.Usagef("-kind %s has no classes: leave out -classes, or use -kind classes", f.kind)
	}
	return kind, nil
}

// checkMemory refuses a set that does not fit before it is made.
func (f *generateFlags) checkMemory(kind synth.Kind) error {
	n, d := float64(f.n), float64(f.d)
	need, what, advice := 4*n*d, fmt.Sprintf("%d rows of %d values", f.n, f.d), "use a smaller -n or -d, or allow more with -max-memory"
	if kind.Labelled {
		need += 4*n + 8*float64(f.classes)*d // the centres
		what += fmt.Sprintf(" in %d classes", f.classes)
		advice = "use a smaller -n, -d or -classes, or allow more with -max-memory"
	}
	if kind.Name == digitsKind {
		advice = "allow more with -max-memory"
	}
	if _, err := pipeline.Reserve(cmp.Or(f.maxMemory, mem.DefaultLimit()), need, what); err != nil {
		return fmt.Errorf("%w; %s", text.Bare(err), advice)
	}
	return nil
}

// targets are the files to write; labels is empty for a set without.
type targets struct {
	features, labels string
	folder           string // created for them
}

// targets finds where the rows and the labels go, and checks that they can.
func (f *generateFlags) targets(kind synth.Kind) (t targets, err error) {
	if isFolderName(f.out) {
		if t.folder, err = makeFolder(f.out); err != nil {
			return t, err
		}
		t.features, t.labels = filepath.Join(f.out, files.FeaturesName), filepath.Join(f.out, files.LabelsName)
	} else {
		t.features, t.labels = f.out, strings.TrimSuffix(f.out, filepath.Ext(f.out))+".labels.npy"
	}
	if f.labelsOut != "" {
		t.labels = f.labelsOut
	}
	err = files.CheckMatrixFile(t.features)
	if errors.Is(err, formats.ErrUnsupported) {
		err = fmt.Errorf("%w; for a folder end the name with /", err)
	}
	if !kind.Labelled {
		if _, statErr := os.Stat(t.labels); err == nil && statErr == nil && isFolderName(f.out) {
			err = fmt.Errorf("%s: labels of other rows are there; remove them, or choose another folder for rows without labels", t.labels)
		}
		t.labels = ""
	} else if err == nil {
		err = files.CheckLabelFile(t.labels)
	}
	if err == nil && t.labels != "" && (filepath.Clean(t.labels) == filepath.Clean(t.features) || files.SameFile(t.labels, t.features)) {
		err = cli.Usagef("features and labels would both go to %s: name another -labels-out", t.labels)
	}
	if err != nil {
		t.undo()
	}
	return t, err
}

// isFolderName reports whether a name means a folder.
func isFolderName(name string) bool {
	if os.IsPathSeparator(name[len(name)-1]) {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// makeFolder makes sure that a folder exists and returns its name if it did not.
func makeFolder(name string) (created string, err error) {
	err = os.Mkdir(name, 0o777)
	switch {
	case err == nil:
		return name, nil
	case isFolderName(filepath.Clean(name)):
		return "", nil
	case errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("%s: is a file, not a folder", filepath.Clean(name))
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: there is no folder %s to create it in", name, filepath.Dir(filepath.Clean(name)))
	}
	return "", err
}

// undo removes the folder that was created if it is empty.
func (t targets) undo() {
	if t.folder != "" {
		os.Remove(t.folder) // fails, as it should, when there is something in it
	}
}

func (f *generateFlags) write(ctx context.Context, kind synth.Kind, t targets) error {
	type set struct {
		x blas32.General
		y []int32
	}
	s, err := progress.Await(ctx, func() (set, error) {
		x, y, err := kind.Make(synth.Request{N: f.n, D: f.d, Classes: f.classes, Seed: f.seed})
		return set{x, y}, err
	})
	if err != nil {
		return err
	}
	if err := formats.WriteMatrix(ctx, t.features, s.x.Rows, s.x.Cols, s.x.Data); err != nil {
		return err
	}
	if t.labels == "" {
		return nil
	}
	if err := formats.WriteLabels(ctx, t.labels, s.y); err != nil {
		return fmt.Errorf("%w (the features are in %s already)", err, t.features)
	}
	return nil
}

// generateReport is the object of generate -json.
type generateReport struct {
	Kind    string `json:"kind"`
	N       int    `json:"n"`
	D       int    `json:"d"`
	Classes int    `json:"classes,omitempty"`
	Seed    uint64 `json:"seed"`
	Out     string `json:"out"`
	Labels  string `json:"labels,omitempty"`
}

func (f *generateFlags) show(e *cli.Env, t targets) error {
	r := generateReport{Kind: f.kind, N: f.n, D: f.d, Seed: f.seed, Out: t.features, Labels: t.labels}
	if t.labels != "" {
		r.Classes = f.classes
	}
	if e.JSON {
		return e.Object(r)
	}
	w := report.Facts(e.Stdout)
	fmt.Fprintf(w, "wrote\t%s, %d x %d of kind %s\n", t.features, f.n, f.d, f.kind)
	if t.labels != "" {
		fmt.Fprintf(w, "wrote\t%s, their labels: 0 to %d\n", t.labels, f.classes-1)
	}
	return w.Flush()
}
