package report

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The bound of a cut graph is an error only where no flag asked for the cut.
func TestGraphInWords(t *testing.T) {
	cut := kernel.Certificate{Kind: kernel.DroppedMass, RowMax: 8.7}
	const bound = "Worst row: weights cut off could total 8.7 times those kept"
	for flags, want := range map[settings.Graph]string{
		{MeanNeighbours: 20}:            "The cut graph is what -mean-neighbours 20 asked for. " + bound,
		{Sigma: 1, CutoffWeight: 0.001}: "The cut graph is what -cutoff-weight 0.001 asked for. " + bound,
		{Sigma: 1}:                      bound,
	} {
		if got := certificateWords(&cut, flags.Asked()); got != want {
			t.Errorf("%+v: %q, want %q", flags, got, want)
		}
	}
	full := kernel.Certificate{Kind: kernel.Relative, RowMax: 2e-6}
	if got := certificateWords(&full, "-mean-neighbours 20"); got != "Worst row: errors of its weights could total 2e-06 times their sum" {
		t.Errorf("%q", got)
	}
	some, none := cut, full
	some.Isolated, none.Isolated = 3, 2
	for _, c := range []struct {
		certificate kernel.Certificate
		want        string
	}{
		{cut, "18.5 neighbours a row on average; every one of the 40 rows has some"},
		{some, "18.5 neighbours a row on average; rows without any: 3 of 40"},
		{full, "every pair of the 40 rows has a weight"},
		{none, "every pair of the 40 rows has a weight; those of 2 rows are all too small to count"},
	} {
		if got := NeighboursOf(40, &iterate.Graph{MeanNeighbours: 18.5, Certificate: c.certificate}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
