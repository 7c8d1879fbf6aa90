package fit

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/margin"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// fitDiagnosis is what -diagnose asks for and gets.
type fitDiagnosis struct {
	wanted bool
	report *margin.Report
	took   time.Duration
}

// check refuses labels that nothing can be said of, before the long work.
func (d *fitDiagnosis) check(in files.Input, y []int32) error {
	if !d.wanted {
		return nil
	}
	if err := margin.CheckLabels(y); err != nil {
		return fmt.Errorf("%s: %w: -diagnose has nothing to say", in.Labels, margin.ErrClasses)
	}
	return nil
}

// Run diagnoses a model on the first of the ranks, which have the same rows.
func (d *fitDiagnosis) Run(ctx context.Context, e *cli.Env, engine *privatemail.Engine, fit *supervised.Model, x blas32.General, y []int32) error {
	if !d.wanted {
		return nil
	}
	began := time.Now()
	defer func() { d.took = time.Since(began) }()
	return files.OnFirst(ctx, e.Ranks(), func() (err error) {
		d.report, err = margin.OfMap(ctx, engine, fit.Map, x, fit.X, y, nil)
		return err
	})
}

// time is what the diagnosis adds to the line of times.
func (d *fitDiagnosis) time() string {
	if !d.wanted {
		return ""
	}
	return fmt.Sprintf(", diagnosis %.2f", d.took.Seconds())
}

// write prints the diagnosis, if there is one.
func (d *fitDiagnosis) write(w io.Writer) {
	r := d.report
	if r == nil {
		return
	}
	t := report.Facts(w)
	fmt.Fprintf(t, "gamma\t%.4g, the least distance between classes; rows have %s\n", r.Gamma, gapsInWords(r.Gaps))
	fmt.Fprintf(t, "map\t%s\n", constantInWords(r))
	if r.Off > 0 {
		fmt.Fprintf(t, "places\tup to %.4g off the images of their rows\n", r.Off)
	}
	t.Flush()
	if len(r.Scales) > 0 {
		spread := "A_delta"
		if !r.ExactSpread {
			spread = "A_delta at most"
		}
		fmt.Fprintf(t, "delta\tholds another row\tL delta\t%s\tgamma/2\n", spread)
		for _, s := range r.Scales {
			fmt.Fprintf(t, "%.4g\tof %.0f %% of rows\t%.4g\t%.4g\t%.4g\n", s.Delta, 100*s.Share, s.Carry, s.Spread, r.Gamma/2)
		}
		t.Flush()
	}
	if r.ScalesError > 0 {
		fmt.Fprintf(w, "These shares are those of %d rows, and are off by %.2g at most, with a confidence of %.4g %%.\n", r.ScalesRows, r.ScalesError, 100*r.Confidence)
	}
	fmt.Fprintln(w, strings.Join(text.Wrap(r.Sentence(), text.LineWidth), "\n"))
}

// gapsInWords says how far rows are from other classes.
func gapsInWords(gaps []margin.Quantile) (text string) {
	for i, q := range gaps[1:] { // the first is gamma
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.4g (%.0f %%)", q.Distance, 100*q.Share)
	}
	return text + " or less"
}

// constantInWords says what the Lipschitz constant of a map is, and where it holds.
func constantInWords(r *margin.Report) string {
	text := fmt.Sprintf("L is %.4g", r.Lipschitz)
	switch {
	case math.IsInf(r.Lipschitz, 1):
		text = "no L is finite: a row has an image of zeros, which has no direction"
	case r.Floor > 0:
		text += fmt.Sprintf(", for images of norm %.4g or more before their division, which those of all rows have", r.Floor)
	}
	if r.Space != "" {
		text += fmt.Sprintf("; distances are those after %s, before which no L is finite", r.Space)
	}
	return text
}
