package report

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

type Roofline struct {
	suites.Options
	SVG string
}

// Run shows the roofline of recordings, or of what it measures.
func (f *Roofline) Run(ctx context.Context, e *cli.Env, names []string) error {
	if err := cli.CheckPlace(f.SVG); err != nil {
		return err
	}
	records, err := f.gather(ctx, e, names)
	if err != nil {
		return err
	}
	rows := rooflines(record.Summarise(records))
	if len(rows) == 0 {
		return fmt.Errorf("no measurement of multiply-adds with limits beside it: use suites spmm, step or iterate")
	}
	if f.SVG != "" {
		if err := formats.WriteFile(ctx, f.SVG, func(w io.Writer) error { return plotRoofline(w, rows) }); err != nil {
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
func (f *Roofline) gather(ctx context.Context, e *cli.Env, names []string) ([]*record.Record, error) {
	if len(names) == 0 {
		if f.Suite == "" {
			f.Suite = "spmm,step"
		}
		records, _, err := f.Measure(ctx, e, func(*record.Record) error { return nil })
		return records, err
	}
	if f.Suite == "" {
		f.Suite = "all"
	}
	wanted, pattern, err := f.Chosen()
	if err != nil {
		return nil, err
	}
	var all []*record.Record
	for _, name := range names {
		records, _, err := record.Read(name)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			in := slices.ContainsFunc(wanted, func(s suites.Suite) bool { return s.Name == r.Suite })
			if in && pattern.MatchString(r.Case) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}
