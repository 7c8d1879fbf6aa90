package main

import (
	"context"
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/compare"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func abVerb() cli.Verb {
	return cli.Verb{
		Name: "ab", Summary: "compare the working tree with a revision, interleaved",
		Synopsis: []string{"REV -suite NAME [-case PATTERN] [-count N] [-threshold PERCENT]"},
		About: `
Builds pmbench from the revision REV, in a separate worktree in a temporary folder,
and from the working tree, and lets them take turns: REV, working tree, REV, ... Then
compares as compare does, with the same exit codes; where the two sides take different
levels of processor instructions ab says so. The choice between loops that gather and
loops that load is measured once, and both sides take it; PM_SIMD goes before. The worktree
is removed in the end, after Ctrl-C too. A revision from before there was a pmbench is
measured with the present one.

Each side takes 10 turns. Where these do not decide, ab goes on to 20 and to 40: while a metric
is likely worse, and while one that is unclear could be worse by a third, by its time and by
its processor time. It ends as soon as one is worse. The three looks share the chance of
an alarm about nothing: p is three times what one look has. -count N takes N turns and looks
once.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench ab HEAD -suite spmm -case 'k=8/'", "pmbench ab v1.0 -suite step -count 20 -keep runs/"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(compare.AB)
			fs.StringVar(&f.Suite, "suite", "", "measure the suite `NAME`; required")
			fs.StringVar(&f.Pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			cli.CountVar(fs, &f.Count, "count", 0, "take `N` turns each, at least 10 (default: 10, and up to 40 while they do not decide)")
			fs.StringVar(&f.Keep, "keep", "", "keep the recordings old.txt and new.txt in `FOLDER`")
			compareVar(fs, &f.Compare)
			return func(ctx context.Context, e *cli.Env, names []string) error {
				if err := checkAB(f, names); err != nil {
					return err
				}
				return f.Run(ctx, e, names[0])
			}
		},
	}
}

// checkAB refuses flags and names before anything is built: the sides would say the
// same minutes later.
func checkAB(f *compare.AB, names []string) error {
	switch {
	case len(names) != 1:
		return cli.Usagef("one revision is wanted, got %d names", len(names))
	case f.Count > 0 && f.Count < compare.MinRuns:
		return cli.Usagef("-count %d is too few to compare: want at least %d", f.Count, compare.MinRuns)
	}
	if _, err := suites.Choose(f.Suite); err != nil {
		return err
	}
	_, err := suites.ChoosePattern(f.Pattern)
	return err
}
