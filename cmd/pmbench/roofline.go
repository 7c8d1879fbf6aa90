package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func rooflineVerb() cli.Verb {
	return cli.Verb{
		Name: "roofline", Summary: "hold products and steps against bandwidth and arithmetic",
		Synopsis: []string{"[RECORDING...] [-suite NAMES] [-case PATTERN] [-svg FILE]"},
		About: `
For each case: multiply-adds per byte of the model, the rate reached, and what the
bandwidth of reading and scalar arithmetic would allow at most, each measured in the
same run. Recordings are files of run -json; without one the suites spmm and step are
measured. A share of the bandwidth above 1 means that caches held a part of the data.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench roofline", "pmbench roofline spmm.jsonl -svg roofline.svg"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(runFlags)
			f.define(fs, " (default: spmm,step, or all of the recordings)")
			svg := fs.String("svg", "", "write the picture to `FILE`")
			return func(ctx context.Context, e *cli.Env, names []string) error {
				if err := cli.CheckPlace(*svg); err != nil {
					return err
				}
				records, err := f.gather(ctx, e, names)
				if err != nil {
					return err
				}
				rows := rooflines(summarise(records))
				if len(rows) == 0 {
					return fmt.Errorf("no measurement of multiply-adds with limits beside it: use suites spmm, step or iterate")
				}
				if *svg != "" {
					if err := formats.WriteFile(ctx, *svg, func(w io.Writer) error { return plotRoofline(w, rows) }); err != nil {
						return err
					}
				}
				if e.JSON {
					for _, r := range rows {
						if err := e.Object(r); err != nil {
							return err
						}
					}
					return nil
				}
				return writeRooflines(e.Stdout, rows)
			}
		},
	}
}

// gather reads recordings, or measures when there are none.
func (f *runFlags) gather(ctx context.Context, e *cli.Env, names []string) ([]*Record, error) {
	if len(names) == 0 {
		if f.suite == "" {
			f.suite = "spmm,step"
		}
		records, _, err := f.measure(ctx, e, func(*Record) error { return nil })
		return records, err
	}
	if f.suite == "" {
		f.suite = "all"
	}
	wanted, pattern, err := f.chosen()
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, name := range names {
		records, _, err := readLines(name)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			in := slices.ContainsFunc(wanted, func(s suite) bool { return s.name == r.Suite })
			if in && pattern.MatchString(r.Case) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}
