package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// roundsOf are rounds with these percentages of stolen time, whose records have the number of
// the round as their seconds.
func roundsOf(percent ...float64) (out []rankRound) {
	for i, p := range percent {
		out = append(out, rankRound{records: []*Record{{Seconds: float64(i)}}, stolen: p / 100})
	}
	return out
}

// Calm rounds are chosen in the order of their measurement, and then the calmest of the others.
func TestChooseRounds(t *testing.T) {
	f := &ranksFlags{count: 3, stolen: 2}
	for _, c := range []struct {
		percent []float64
		want    []float64
		calm    int
	}{
		{[]float64{0, 0, 0}, []float64{0, 1, 2}, 3},
		{[]float64{1.9, 0, 1, 0.5}, []float64{0, 1, 2}, 4},
		{[]float64{50, 0, 30, 1, 2}, []float64{1, 3, 4}, 3},
		{[]float64{50, 0, 30, 40, 20, 35, 60, 70, 80}, []float64{1, 2, 4}, 1},
		{[]float64{9}, []float64{0}, 0},
		{nil, nil, 0},
	} {
		rounds := roundsOf(c.percent...)
		var got []float64
		for _, r := range f.choose(rounds) {
			got = append(got, r.records[0].Seconds)
		}
		if !slices.Equal(got, c.want) || f.calm(rounds) != c.calm {
			t.Errorf("%v: rounds %v, of which %d are calm, want %v and %d", c.percent, got, f.calm(rounds), c.want, c.calm)
		}
	}
}

// Where no round is calm, three times as many are measured and as many kept as wanted, and the
// group is named. Where all are calm there is no round more. An error keeps what was measured.
func TestDisturbedRounds(t *testing.T) {
	l := newLab(&Machine{}, newMeter(&cli.Env{Quiet: true}))
	groups := []*rankGroup{{name: "g", ranks: []int{1, 2}, cases: [][]benchCase{{{name: "a"}}, {{name: "a"}}}}}
	for _, c := range []struct {
		stolen             float64
		fail, worlds, kept int
		disturbed          int
	}{
		{100, 0, 4, 4, 0}, {-1, 0, 12, 4, 1}, {100, 2, 2, 1, 0}, {100, 4, 4, 2, 0},
	} {
		f, worlds := &ranksFlags{count: 2, stolen: c.stolen}, 0
		records, disturbed, err := f.measure(t.Context(), l, groups, func(_ context.Context, ranks int, cases []benchCase) ([]*Record, error) {
			if worlds++; worlds == c.fail {
				return nil, errors.New("lost")
			}
			return []*Record{{Case: fmt.Sprint(cases[0].name, ranks), Ranks: &RankFigures{Ranks: ranks}}}, nil
		})
		if (err != nil) != (c.fail > 0) || worlds != c.worlds || len(disturbed) != c.disturbed {
			t.Errorf("%+v: %d measured, disturbed %q, %v", c, worlds, disturbed, err)
		}
		if whole := len(records) / 2 * 2; c.fail == 0 && whole != c.kept || c.fail > 0 && len(records) != c.fail-1 {
			t.Errorf("%+v: %d records", c, len(records))
		}
	}
	refuse(t, cli.Usage, strings.Fields("ranks -steal -1"), "-steal")
	refuse(t, cli.Usage, strings.Fields("ranks -steal NaN"), "-steal")
}
