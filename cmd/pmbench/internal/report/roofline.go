package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Roofline is what verb roofline is asked for.
type Roofline struct {
	suites.Options        // what is measured where there are no recordings, and chosen from these
	SVG            string // the file of the picture; "": none
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
		return fmt.Errorf("no measurement of multiply-adds with limits: use suites spmm, step or iterate")
	}
	if f.SVG != "" {
		if err := formats.WriteFile(ctx, f.SVG, rooflinePlot(rows).Write); err != nil {
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

// A roofPoint is a case in the roofline's terms, the object of roofline -json.
type roofPoint struct {
	Suite     string  `json:"suite"`
	Case      string  `json:"case"`
	Workers   int     `json:"workers"`
	Intensity float64 `json:"madd_per_byte"`
	Reached   float64 `json:"madd_per_s"`
	ByRead    float64 `json:"read_limit_madd_per_s"`
	ByMadd    float64 `json:"scalar_limit_madd_per_s"`
	// Fraction is what was reached of the bandwidth's limit.
	Fraction float64 `json:"read_fraction"`
	all      bool    // workers
	machine  *record.Machine
}

func rooflines(all []record.Summary) (out []*roofPoint) {
	for _, s := range all {
		if s.MaddPerS == nil || s.Bytes == 0 || s.Machine == nil || s.Machine.Limits.Read[0] == 0 {
			continue
		}
		at := 0
		if s.Workers > 1 {
			at = 1
		}
		p := &roofPoint{Suite: s.Suite, Case: s.Case, Workers: s.Workers, Reached: *s.MaddPerS, all: at == 1, machine: s.Machine}
		p.Intensity = p.Reached * s.Seconds / float64(s.Bytes)
		p.ByRead = p.Intensity * s.Machine.Limits.Read[at]
		p.ByMadd = s.Machine.Limits.Madd[at]
		p.Fraction = p.Reached / p.ByRead
		out = append(out, p)
	}
	return out
}

func writeRooflines(w io.Writer, rows []*roofPoint) error {
	fmt.Fprintln(w, rows[0].machine)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "suite\tcase\tmadd/B\treached G/s\tby bandwidth\tby scalar madd\tof bandwidth\tbound by\t")
	for _, r := range rows {
		bound := "bandwidth"
		if r.ByMadd < r.ByRead {
			bound = "arithmetic"
		}
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%.3g\t%.3g\t%.3g\t%.2f\t%s\t\n", r.Suite, r.Case, r.Intensity, r.Reached/1e9, r.ByRead/1e9, r.ByMadd/1e9, r.Fraction, bound)
	}
	return t.Flush()
}
