package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

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
