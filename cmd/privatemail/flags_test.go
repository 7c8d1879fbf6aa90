package main

import (
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"4096": 4096, "1": 1, "7b": 7, "512M": 512 << 20, "2GiB": 2 << 30, "2gib": 2 << 30, "1.5G": 3 << 29, "10kB": 10000, "3 MB": 3e6,
		"1T": 1 << 40, "2KiB": 2048,
		"": 0, "M": 0, "-1": 0, "0": 0, "3X": 0, "3iB": 0, "3MM": 0, "NaN": 0, "inf": 0, "1e30": 0, "0.5": 0, "12 apples": 0, "9999999T": 0,
	} {
		got, err := parseSize(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 3 << 19: "1.5 MiB", 5 << 40: "5 TiB", math.MaxInt64: "8 EiB",
	} {
		if got := formatSize(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}

func TestNumberFlags(t *testing.T) {
	for _, c := range []struct {
		flag    string
		good    string
		refused string
	}{
		{"sigma", "1 0.35 1e-3", "0 -1 NaN Inf x 1e999"},
		{"degree", "20", "0 -3 NaN"},
		{"tolerance", "1e-3", "0 1 2"},
		{"cutoff-weight", "0.1", "0 1"},
		{"alpha", "0 -0.6 3", "NaN +Inf"},
		{"beta", "0 3", "-1"},
		{"stop", "0 1e-3", "-1"},
		{"k", "1 64", "0 -1 1.5 99999999999999999999"},
		{"steps", "1", "0"},
		{"seed", "0 1 18446744073709551615", "-1 x 18446744073709551616"},
		{"workers", "1 8", "0 -2"},
		{"convention", "appendix main-text program", "paper"},
		{"isolated", "keep repair fail", "drop"},
		{"normalize", "none frobenius centred", "centered"},
		{"operator", strings.Join(kernel.OperatorNames(), " "), "sparse"},
		{"table", "equal different balanced gaussian centred", "gauss"},
		{"budget", "1 512M", "0 lots"},
	} {
		for value := range strings.FieldsSeq(c.good) {
			fs := flag.NewFlagSet("test", flag.ContinueOnError)
			new(embedFlags).define(fs)
			if _, err := cli.Parse(fs, []string{"-" + c.flag, value}); err != nil {
				t.Errorf("-%s %s: %v", c.flag, value, err)
			}
		}
		for value := range strings.FieldsSeq(c.refused) {
			refuse(t, cli.Usage, []string{"embed", "-" + c.flag, value}, "-"+c.flag, "want ")
		}
	}
}

// TestNames keeps the words of the flags in step with the packages.
func TestNames(t *testing.T) {
	for _, name := range tableNames() {
		if table, err := kernel.TableByName(name, kernel.Sigma(1)); err != nil || table.Name() != name {
			t.Errorf("table %s: %v", name, err)
		}
	}
	for _, name := range normalizeNames() {
		if _, err := iterate.NormalizationByName(name); err != nil {
			t.Error(err)
		}
	}
}

func TestBandwidth(t *testing.T) {
	for convention, gamma := range map[string]float64{"appendix": 1. / 8, "main-text": 1. / 2, "program": 1. / 4} {
		if got := bandwidth(convention, 2).Gamma(); got != gamma {
			t.Errorf("%s: gamma %g, want %g", convention, got, gamma)
		}
	}
}
