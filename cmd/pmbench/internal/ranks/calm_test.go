package ranks

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// roundsOf are rounds with these percentages of stolen time, whose records have the number of
// the round as their seconds.
func roundsOf(percent ...float64) (out []rankRound) {
	for i, p := range percent {
		out = append(out, rankRound{{Case: "a", Seconds: float64(i), Stolen: figures.Finite(p / 100), Ranks: &record.RankFigures{Ranks: 1}}})
	}
	return out
}

// Calm rounds are chosen in the order of their measurement, and then the calmest of the others.
func TestChooseRounds(t *testing.T) {
	calm := newCalmness(2)
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
		for _, r := range calm.choose(rounds, 3) {
			got = append(got, r[0].Seconds)
		}
		if !slices.Equal(got, c.want) || calm.count(rounds) != c.calm {
			t.Errorf("%v: rounds %v, of which %d are calm, want %v and %d", c.percent, got, calm.count(rounds), c.want, c.calm)
		}
	}
}

// Of each case the record with the median time is kept.
func TestMedians(t *testing.T) {
	var in []*record.Record
	for _, r := range []struct {
		name    string
		seconds float64
	}{{"b", 9}, {"a", 2}, {"b", 1}, {"a", 1}, {"b", 5}, {"a", 3}, {"c", 7}} {
		in = append(in, &record.Record{Case: r.name, Seconds: r.seconds})
	}
	var got []string
	for _, r := range newCalmness(100).medians(in) {
		got = append(got, fmt.Sprint(r.Case, r.Seconds))
	}
	if want := []string{"b5", "a2", "c7"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The median is that of the calm measurements of a case, and where none is calm it is the calmest,
// whatever these have measured.
func TestMediansOfCalmRecords(t *testing.T) {
	for _, c := range []struct {
		stolen, seconds []float64
		want            float64
	}{
		{[]float64{0, 0, 0}, []float64{3, 1, 2}, 2},
		{[]float64{0.02, 0.01, 0}, []float64{3, 1, 2}, 2},
		{[]float64{0, 0.5, 0, 0.03}, []float64{3, 1, 2, 4}, 3}, // the first of two
		{[]float64{0, 0, 0, 0}, []float64{4, 1, 3, 0}, 3},      // the median of the first three
		{[]float64{0.5, 0.5, 0, 0.5, 0.5}, []float64{1, 1, 9, 2, 2}, 9},
		{[]float64{0.5, 0.1, 0.3}, []float64{1, 9, 2}, 9},
		{[]float64{0.1, 0.1, 0.1}, []float64{2, 1, 3}, 2}, // the first of equals
		{[]float64{math.NaN(), math.NaN(), math.NaN()}, []float64{4, 3, 2}, 3},
	} {
		var records []*record.Record
		for i, share := range c.stolen {
			records = append(records, &record.Record{Case: "a", Seconds: c.seconds[i], Stolen: figures.Finite(share)}, &record.Record{Case: "b", Seconds: 7})
		}
		got := newCalmness(2).medians(records)
		if len(got) != 2 || got[0].Case != "a" || got[0].Seconds != c.want || got[1].Seconds != 7 {
			t.Errorf("%+v: %+v", c, got[0])
		}
	}
}

// A reading of the yardstick is held against the least one with as many ranks, in all processes:
// one that has only known a slow machine takes everything for calm.
func TestCalmReadings(t *testing.T) {
	measured := func(ranks int, yard, least float64) *record.Record {
		return &record.Record{Case: fmt.Sprint(ranks), YardSeconds: figures.Finite(yard), LeastYardSeconds: figures.Finite(least), Ranks: &record.RankFigures{Ranks: ranks}}
	}
	slow, quick, two := rankRound{measured(1, 1.7, 1.7)}, rankRound{measured(1, 1.05, 1)}, rankRound{measured(2, 1.4, 1.3)}
	c := newCalmness(2)
	if c.count([]rankRound{slow, quick, two}) != 3 {
		t.Error("without any reading something is disturbed")
	}
	c.see(slow)
	c.see(two)
	if got := c.count([]rankRound{slow, two}); got != 2 {
		t.Errorf("%d of 2 rounds are calm", got)
	}
	c.see(quick)
	c.see(rankRound{{Ranks: &record.RankFigures{Ranks: 1}}}) // has no readings
	if got := c.choose([]rankRound{slow, quick, two}, 2); c.worst(slow) < 0.5 || &got[0][0] != &quick[0] || &got[1][0] != &two[0] {
		t.Errorf("disturbed by %g; %v are chosen", c.worst(slow), got)
	}
	c.stolen = 1
	if c.worst(slow) != 0 {
		t.Error("not everything is calm")
	}
}
