package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestNumberFlags(t *testing.T) {
	for _, c := range []struct {
		flag    string
		good    string
		refused string
	}{
		{"sigma", "1 0.35 1e-3", "0 -1 NaN Inf x 1e999"},
		{"mean-neighbours", "20", "0 -3 NaN"},
		{"tolerance", "1e-3", "0 1 2"},
		{"cutoff-weight", "0.1", "0 1"},
		{"alpha", "0 -0.6 3", "NaN +Inf"},
		{"beta", "0 3", "-1"},
		{"stop", "0 1e-3", "-1"},
		{"dim", "1 64", "0 -1 1.5 99999999999999999999"},
		{"steps", "1", "0"},
		{"seed", "0 1 18446744073709551615", "-1 x 18446744073709551616"},
		{"workers", "1 8", "0 -2"},
		{"convention", "appendix main-text program", "paper"},
		{"isolated", "keep repair fail", "drop"},
		{"normalize", "none frobenius centred", "centered"},
		{"operator", strings.Join(kernel.OperatorNames(), " "), "sparse"},
		{"table", "equal different balanced gaussian centred", "gauss"},
		{"max-memory", "1 512M", "0 lots"},
	} {
		for value := range strings.FieldsSeq(c.good) {
			fs := flag.NewFlagSet("test", flag.ContinueOnError)
			new(embed.Flags).Define(fs)
			if _, err := cli.Parse(fs, []string{"-" + c.flag, value}); err != nil {
				t.Errorf("-%s %s: %v", c.flag, value, err)
			}
		}
		for value := range strings.FieldsSeq(c.refused) {
			refuse(t, cli.Usage, []string{"embed", "-" + c.flag, value}, "-"+c.flag, "want ")
		}
	}
}
