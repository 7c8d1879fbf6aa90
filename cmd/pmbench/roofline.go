package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

type rooflineFlags struct {
	runFlags
	svg string
}

// run shows the roofline of recordings, or of what it measures.
func (f *rooflineFlags) run(ctx context.Context, e *cli.Env, names []string) error {
	if err := cli.CheckPlace(f.svg); err != nil {
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
	if f.svg != "" {
		if err := formats.WriteFile(ctx, f.svg, func(w io.Writer) error { return plotRoofline(w, rows) }); err != nil {
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

// gather reads recordings, or measures when there are none.
func (f *rooflineFlags) gather(ctx context.Context, e *cli.Env, names []string) ([]*Record, error) {
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
