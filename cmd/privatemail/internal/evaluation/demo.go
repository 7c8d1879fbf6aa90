package evaluation

import (
	"context"
	"flag"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

func Demo() cli.Verb {
	return cli.Verb{
		Name:     "demo",
		Summary:  "private retrieval on handwritten digits; no files needed",
		Synopsis: []string{"[-out FOLDER] [-epsilon LIST] [-seeds LIST] [FLAGS]"},
		About: fmt.Sprintf(`
Cuts the %d images of the embedded UCI digits into public rows, a gallery and
queries. Every query looks for its digit and its neighbours in the gallery, once
for each mode, epsilon and seed. Tables say how well it found them and what each
mode protects; report.html in FOLDER has them with pictures. A second run goes
on where the first one stopped. 'evaluate' measures other data and more modes.`, digits.Images),
		More: `
The columns of the tables are

  R@1, R@8    share of queries with their digit in the first row, or the first 8, that come back
  overlap@8   share of the 8 nearest rows that came back
  ceiling     the most that R@8 can be where 8 rows are picked from a private request alone

with what 8 random rows find for comparison. Modes with an epsilon, and the mode that hides its
queries by encryption under an assumption, have tables of their own. All modes but raw work on
prepared rows: square root of each pixel, rows of unit length, principal components of the public
rows, unit length again. The output says what the words of its tables mean and what the ceiling
holds for.

Data: E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits (1998), UCI Machine
Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0.`,
		Examples: []string{"privatemail demo", "privatemail demo -epsilon 1,3 -seeds 1..5 -out more"},
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(demoFlags)
			f.Define(fs)
			return f.Run
		},
	}
}

// demoModes are the modes of the demo, which take less than a minute.
const demoModes = "raw,prepared,supervised,tsne,cells,cells-prepared,all,sealed,paper,gaussian,pca,projection,authors"

type demoFlags struct {
	epsilons []float64
	seeds    []uint64
	workers  int
	out      string
}

func (f *demoFlags) Define(fs *flag.FlagSet) {
	settings.EpsilonsVar(fs, &f.epsilons, "epsilon", []float64{1, 2, 4, 8}, "measure at each epsilon of `LIST`")
	settings.SeedsVar(fs, &f.seeds, "seeds", []uint64{1, 2, 3}, "measure under each seed of `LIST`\nsuch as 1..5 or 1,7")
	cli.CountVar(fs, &f.workers, "workers", 0, "use `W` worker goroutines\n(default: one per processor)")
	fs.StringVar(&f.out, "out", "privatemail-demo", "write to `FOLDER`\nwhich is made if it does not exist")
}

func (f *demoFlags) Run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q: the demo brings its own data; use evaluate or embed for files", names[0])
	}
	modes, err := chooseModes(demoModes)
	if err != nil {
		return err
	}
	s := &study{
		title:   "Private retrieval of handwritten digits",
		command: fmt.Sprintf("privatemail demo -epsilon %s -seeds %s", settings.Join(f.epsilons), settings.Join(f.seeds)),
		footer:  "Data: E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits (1998), UCI Machine Learning Repository, doi 10.24432/C50P49, CC BY 4.0.",
		data:    []*evaluate.Data{embeddedDigits()}, modes: modes, epsilons: f.epsilons, seeds: f.seeds,
		workers: f.workers, out: f.out, resume: true, explain: true,
	}
	return s.Run(ctx, e)
}
