package suites

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// SealedLines says what the cases of suite sealed came to.
func SealedLines(all []record.Summary) (out []string) {
	reading := map[string]float64{} // seconds of op=read, by the rest of the name
	for _, s := range all {
		if rest, ok := strings.CutPrefix(s.Case, "op=read/"); ok && s.Sealed != nil {
			reading[rest] = s.Seconds
		}
	}
	for _, s := range all {
		f := s.Sealed
		if f == nil {
			continue
		}
		op, rest, _ := strings.Cut(strings.TrimPrefix(s.Case, "op="), "/")
		switch {
		case f.Overlap != nil:
			out = append(out, fmt.Sprintf("%s: %d probes of %d cells find %.4f of the %d nearest rows, %d queries", s.Case, f.Probes, f.Cells, *f.Overlap, nearestOverlap, f.Queries))
		case op == "one" || strings.HasPrefix(op, "waiting"):
			out = append(out, fmt.Sprintf("%s: %.4g queries a second and core", s.Case, float64(f.Queries)/s.Seconds/float64(s.Workers)))
			if read := reading[rest]; read > 0 && op == "one" {
				out = append(out, fmt.Sprintf("%s: reading as many bytes takes %.2f of its time, in the same rounds", s.Case, read/s.Seconds))
			}
		case op == "bytes":
			out = append(out, fmt.Sprintf("%s: %d bytes up and %d down a query; once a hint of %d bytes, and %d of norms and centres", s.Case, f.UpBytes, f.DownBytes, f.HintBytes, f.ManifestBytes))
			out = append(out, fmt.Sprintf("%s: laid out in %s with %d workers, of which the hint took %s", s.Case, figures.Duration(f.BuildSeconds), f.BuildWorkers, figures.Duration(f.HintSeconds)))
		}
	}
	return out
}

// writeSealed prints the figures of suite sealed.
func writeSealed(w io.Writer, all []record.Summary) error {
	for _, line := range SealedLines(all) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
