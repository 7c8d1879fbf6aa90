// Package search is the verb search: it finds the nearest rows of a gallery exactly.
package search

import (
	"context"
	"flag"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/predictions"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:    "search",
		Summary: "find the nearest rows of a gallery for every query, exactly",
		Synopsis: []string{
			"GALLERY QUERIES [-k K] [-out FILE] [-distances-out FILE] [-labels FILE -queries-labels FILE [-predict FILE]] [FLAGS]",
			"GALLERY [-self] [-k K] [-out FILE] [-distances-out FILE] [-labels FILE [-predict FILE]] [FLAGS]",
		},
		About: `
Compares every query with every row of GALLERY and finds the K nearest, by
Euclidean distance. GALLERY and QUERIES are files or folders as for embed, such
as the two that fit writes. Without QUERIES each row of GALLERY is a query, and
is not its own neighbour. -out gets the row numbers, -predict the classes that
the labels of GALLERY predict. Without -out the first answers are printed.`,
		More: `
Rows with equal distances come in the order of their numbers. With -normalize-rows all rows are
divided by their norm first, which orders them by cosine: the cosine of two rows at distance d is
1 - d^2/2.

-out has a line or row for each query with the numbers of its nearest rows, counted from 0 and
nearest first: int32 in .npy, .ivecs or .ibin, or .csv. -distances-out has their distances: float32
in .npy, .fvecs, .fbin or .idx, or .csv. Files are replaced as a whole or not at all. Without -out
the answers of the first queries are printed, with -json those of all queries.

Where both sides have labels, R@1 and R@K are printed: the share of queries with a row of their
class as the nearest row, and among the nearest K. Queries without a label (-1) do not count.

-predict needs labels of GALLERY. It writes the class that the rows of GALLERY predict for every
query, by name where labels are names, and the share of votes: a .csv with the columns class and
share. The K nearest rows vote if they have a label: of n voters the nearest has n votes, the next
n - 1 and the last one 1. The class with most votes wins; between classes with equal votes the
nearest row decides; -k 1 is the nearest row alone. Where no row votes, class is empty. With labels
of the queries the output has the accuracy, the share of queries with a label for which that class
was predicted.

Where both files have names of columns, those of QUERIES are taken by name, in any order, and a
column that is missing or too much is reported. Names come from a header, from columns.csv in a
folder, or from the array columns, column_names or feature_names of a .npz.`,
		Examples: []string{
			"privatemail search gallery.npy queries.npy -k 8 -out ids.npy -distances-out d.npy",
			"privatemail search birds/ -normalize-rows -k 1",
			"privatemail search gallery.csv new.csv -predict new-classes.csv",
		},
		Common: []string{"k", "out", "distances-out", "labels", "queries-labels", "predict", "self", "normalize-rows", "columns", "label-column", "json"},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(searchFlags)
			f.Define(fs)
			return f.Run
		},
	}
}

type searchFlags struct {
	work                settings.Work
	k                   int
	self, normalizeRows bool
	files               files.Flags
	queriesLabels       string
	out, distancesOut   string
	predict             string
}

func (f *searchFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	cli.CountVar(fs, &f.k, "k", 8, "find the `K` nearest rows")
	fs.BoolVar(&f.self, "self", false, "search within GALLERY, each row among the others\nthe default without QUERIES")
	fs.BoolVar(&f.normalizeRows, "normalize-rows", false, "divide every row by its norm first\nof GALLERY and of QUERIES")
	f.files.Define(fs)
	fs.StringVar(&f.queriesLabels, "queries-labels", "", "read a label per row of QUERIES from `FILE`\n(default: labels.npy of a QUERIES folder)")
	fs.StringVar(&f.out, "out", "", "write the numbers of the nearest rows to `FILE`")
	fs.StringVar(&f.distancesOut, "distances-out", "", "write their distances to `FILE`")
	fs.StringVar(&f.predict, "predict", "", "write the predicted class of each query to `FILE`, a .csv\nby the labels of GALLERY, with its share of votes")
}

func (f *searchFlags) Run(ctx context.Context, e *cli.Env, names []string) error {
	gallery, queries, err := f.inputs(e, names)
	if err != nil {
		return err
	}
	if err := files.CheckAnswerFiles(f.out, f.distancesOut, gallery, queries); err != nil {
		return err
	}
	if err := f.checkPredict(gallery, queries); err != nil {
		return err
	}
	s, err := openSearch(ctx, f, gallery, queries)
	if err != nil {
		return err
	}
	defer s.release()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.find(ctx, e); err != nil {
		return err
	}
	if err := s.write(ctx); err != nil {
		return err
	}
	if s.recallMissing() {
		e.Note("no R@1: labels are known of one side only; -labels names those of GALLERY, -queries-labels those of QUERIES")
	}
	return s.show(e)
}

// checkPredict checks before long work whether classes can be predicted and written.
func (f *searchFlags) checkPredict(gallery, queries files.Input) error {
	if f.predict != "" && gallery.Labels == "" {
		return cli.Usagef("-predict needs labels of GALLERY: add -labels FILE, or -label-column NAME for a column of text")
	}
	return predictions.Check("-predict", f.predict, []files.Input{gallery, queries}, f.out, f.distancesOut)
}

// inputs finds the files of GALLERY and QUERIES; both are the same where a gallery is
// searched for its own rows.
func (f *searchFlags) inputs(e *cli.Env, names []string) (gallery, queries files.Input, err error) {
	switch {
	case len(names) == 0:
		return gallery, queries, cli.Usagef("GALLERY is missing: name a file, or a folder with %s", files.FeaturesName)
	case len(names) > 2:
		return gallery, queries, cli.Usagef("want GALLERY and QUERIES, got %d names: %s", len(names), strings.Join(names, " "))
	case len(names) == 2 && f.self:
		return gallery, queries, cli.Usagef("-self searches within GALLERY: leave out -self, or %s", names[1])
	case len(names) == 1 && f.queriesLabels != "":
		return gallery, queries, cli.Usagef("-queries-labels needs QUERIES: without them the labels of both sides are those of -labels")
	}
	if gallery, err = f.files.Resolve(e, names[0]); err != nil || len(names) == 1 {
		f.self = err == nil
		return gallery, gallery, err
	}
	queries, err = f.files.Further(e, names[1], f.queriesLabels)
	return gallery, queries, err
}
