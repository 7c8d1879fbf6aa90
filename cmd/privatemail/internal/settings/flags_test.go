package settings

import (
	"testing"

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
