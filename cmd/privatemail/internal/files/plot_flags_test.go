package files

import (
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/plot"
)

func TestWordsOfPlots(t *testing.T) {
	for want, p := range map[string]*plot.Plane{
		"horizontal: the only column; heights have no meaning":                            {Columns: 1},
		"horizontal: column 1, vertical: column 2":                                        {Columns: 2},
		"5 columns, and all rows are equal":                                               {Columns: 5},
		"first two principal components of 64 columns: 100.0 % and 0.0 % of the variance": {Columns: 64, Share: [2]float64{1, 0}},
	} {
		if got := axes(p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f := &PlotFlags{rows: make([]int, 5), total: 9}
	if got := f.caption(false); !strings.HasPrefix(got, "5 of 9 rows are drawn, a fixed sample") {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]string{"a/birds/features.npy": "birds", "x/birds.npy": "birds.npy"} {
		if got := plotTitle(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}
