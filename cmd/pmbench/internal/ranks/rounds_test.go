package ranks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A fakeWorld is a world whose ranks are not there, and whose host takes 5 percent. It fails when it
// is asked for the fail-th time.
func fakeWorld(asked *int, fail int) rankWorld {
	return func(_ context.Context, ranks int, cases []measure.Case) ([]*record.Record, error) {
		if *asked++; *asked == fail {
			return nil, errors.New("lost")
		}
		return []*record.Record{{Case: fmt.Sprint(cases[0].Name, ranks), Stolen: figures.Finite(0.05), Ranks: &record.RankFigures{Ranks: ranks}}}, nil
	}
}

func fakeGroups() []*rankGroup {
	return []*rankGroup{{name: "g", ranks: []int{1, 2}, cases: [][]measure.Case{{{Name: "a"}}, {{Name: "a"}}}}}
}

// Where no round is calm, three times as many are measured and as many kept as wanted, and the
// group is named. Where all are calm there is no round more. An error keeps what was measured: a
// half round does not push out a whole one.
func TestDisturbedRounds(t *testing.T) {
	l := measure.NewLab(&record.Machine{}, measure.NewMeter(&cli.Env{Quiet: true}))
	for _, c := range []struct {
		stolen                               float64
		fail, asked, kept, disturbed, rounds int
	}{
		{100, 0, 4, 4, 0, 2}, {5, 0, 4, 4, 0, 2}, {4.9, 0, 12, 4, 1, 6},
		{100, 2, 2, 1, 0, 0}, {100, 4, 4, 3, 0, 1}, {2, 8, 8, 5, 1, 3}, {2, 9, 9, 4, 1, 4},
	} {
		f, asked := &Options{Count: 2, Stolen: c.stolen}, 0
		records, disturbed, err := f.measure(t.Context(), l, fakeGroups(), fakeWorld(&asked, c.fail))
		if (err != nil) != (c.fail > 0) || asked != c.asked || len(disturbed) != c.disturbed || len(records) != c.kept {
			t.Errorf("%+v: asked %d times, %d records, disturbed %q, %v", c, asked, len(records), disturbed, err)
		}
		if first := records[0].Ranks; first.MeasuredRounds != c.rounds {
			t.Errorf("%+v: %d rounds measured", c, first.MeasuredRounds)
		}
	}
}

// Progress never falls, also where rounds are measured again.
func TestProgressOfDisturbedRounds(t *testing.T) {
	for _, count := range []int{1, 2, 7} {
		f, at := &Options{Count: count}, 0.0
		for round := range mostRounds * count {
			p := f.progress(round)
			if math.Abs(p.At(0)-at) > 1e-12 || p.At(1) <= p.At(0) {
				t.Errorf("round %d of %d begins at %g, the one before ends at %g", round, count, p.At(0), at)
			}
			at = p.At(1)
		}
		if math.Abs(at-1) > 1e-12 {
			t.Errorf("%d rounds end at %g", count, at)
		}
	}
}

// The flags that choose a part are those that leave out cases, or change sizes and ranks.
func TestFlagsOfAPartOfRanks(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&Options{Rows: suites.RankRows, Count: 9}).part(), false},
		{(&Options{Rows: suites.RankRows, Local: true}).part(), true},
		{(&Options{Rows: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}
