package suites

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// writeLatency prints a line for each case whose latency was measured.
func writeLatency(w io.Writer, all []record.Summary) error {
	for _, s := range all {
		if s.SecondsP99 == nil || s.HeapBytes == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: p50 %s, p99 %s, %.0f bytes of the heap for each\n", s.Case, figures.Duration(s.Seconds), figures.Duration(*s.SecondsP99), *s.HeapBytes); err != nil {
			return err
		}
	}
	return nil
}

// writeTraffic prints the bytes that ranks receive in the cases of suite ranks.
func writeTraffic(w io.Writer, all []record.Summary) error {
	for _, s := range all {
		if s.Ranks == nil || s.Ranks.Ranks == 1 {
			continue
		}
		line := fmt.Sprintf("%s: ranks exchange %s and gather %s", s.Case, figures.Decimal(float64(s.Ranks.Exchanged)), figures.Decimal(float64(s.Ranks.Gathered)))
		if s.Ranks.Allgatherv > 0 {
			line += fmt.Sprintf(", where the whole iterate is %s", figures.Decimal(float64(s.Ranks.Allgatherv)))
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// writeTable prints a line per case, and the table of suite levels.
func writeTable(w io.Writer, all []record.Summary) error {
	rest := slices.DeleteFunc(slices.Clone(all), func(s record.Summary) bool { return s.Settings != nil })
	if len(rest) > 0 {
		if err := writeCases(w, rest); err != nil {
			return err
		}
	}
	return writeLevels(w, all)
}

// writeCases prints a line per case.
func writeCases(w io.Writer, all []record.Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "suite\tcase\tmedian\tquartiles\trounds\trate\tns/nnz\tof limit\teta p99\tpeak\tB/nnz\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s..%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", s.Suite, s.Case,
			figures.Duration(s.Seconds), figures.Duration(s.Low), figures.Duration(s.High), s.RoundsWords(), s.RateWords(), figures.Optional(s.NsPerNNZ, "%.2f"),
			s.RoofWords(), figures.Optional(s.EtaP99, "%.1e"), figures.Size(s.PeakBytes), figures.Optional(s.PeakPerNNZ, "%.1f"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Products > 0 {
			if _, err := fmt.Fprintf(w, "%s: %d products, %s for each\n", s.Case, s.Products, figures.Duration(s.Seconds/float64(s.Products))); err != nil {
				return err
			}
		}
	}
	if err := writeLatency(w, all); err != nil {
		return err
	}
	for _, s := range all {
		if s.Compared != nil {
			if _, err := fmt.Fprintf(w, "%s: of all pairs %.3g%% compared by codes of %d bytes, %.3g%% measured, %.3g%% found\n", s.Case, 100**s.Compared, s.Depth, 100**s.Measured, 100**s.Found); err != nil {
				return err
			}
		}
		for _, e := range s.Equal {
			if _, err := fmt.Fprintf(w, "%s: %d pairs within %.6g, %.4g neighbours on average: equal to those of all float64 distances\n", s.Case, e.Pairs, e.Radius, e.Degree); err != nil {
				return err
			}
		}
	}
	if err := writeStepRatios(w, all); err != nil {
		return err
	}
	if err := writeServiceRatios(w, all); err != nil {
		return err
	}
	if err := writeSealed(w, all); err != nil {
		return err
	}
	if err := writeTraffic(w, all); err != nil {
		return err
	}
	if err := writeCopyRatios(w, all); err != nil {
		return err
	}
	return writeChoices(w, all)
}

// writeStepRatios prints what a fused step costs relative to its product.
func writeStepRatios(w io.Writer, all []record.Summary) error {
	for _, r := range StepRatios(all) {
		if _, err := fmt.Fprintf(w, "step / product at %s: %.2f\n", r.Name, r.Ratio); err != nil {
			return err
		}
	}
	return nil
}

// A StepRatio is what a fused step costs relative to its product, of a case.
type StepRatio struct {
	Name  string
	Ratio float64
}

// StepRatios pairs the steps of suite step with their products.
func StepRatios(all []record.Summary) (out []StepRatio) {
	product := map[string]float64{}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Case, "op=product/"); ok && s.Suite == "step" {
			product[name] = s.Seconds
		}
	}
	for _, s := range all {
		if name, ok := strings.CutPrefix(s.Case, "op=step/"); ok && s.Suite == "step" && product[name] > 0 {
			out = append(out, StepRatio{name, s.Seconds / product[name]})
		}
	}
	return out
}
