package ranks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// Rounds that were left out, and what the host took, are reported next to a figure.
func TestScalingsOfDisturbedRounds(t *testing.T) {
	line := func(ranks, measured int, stolen *float64) *record.Record {
		return &record.Record{Suite: "ranks", Case: fmt.Sprint("op=step/ranks=", ranks), Seconds: 1, Stolen: stolen, Ranks: &record.RankFigures{Ranks: ranks, MeasuredRounds: measured}}
	}
	got := Scalings([]*record.Record{line(1, 6, figures.Finite(0.01)), line(2, 6, figures.Finite(0)), line(1, 6, figures.Finite(0)), line(2, 6, figures.Finite(0.034))})
	if want := " op=step: 2 ranks are 1.00 times as fast as 1 (1.00 to 1.00), 2 of 6 rounds; of what counts of them the host took at most 3.4%."; ScalingWords(got) != want {
		t.Errorf("%q, want %q", ScalingWords(got), want)
	}
	if got = Scalings([]*record.Record{line(1, 0, nil), line(2, 0, nil)}); got[1].Stolen != nil || got[1].roundWords() != "1" || got[1].stolenWords() != "" {
		t.Errorf("%+v", got[1])
	}
}

// Ratios are those of rounds, whatever the numbers of ranks are called, and files are not
// mixed.
func TestScalings(t *testing.T) {
	line := func(file, ranks int, name string, seconds float64) *record.Record {
		return &record.Record{Suite: "ranks", Case: name, N: 10, Seconds: seconds, Ranks: &record.RankFigures{Ranks: ranks, Exchanged: 5}, File: file}
	}
	one, two := "op=step/d=2/n=10/ranks=1/workers=1", "op=step/d=2/n=20/ranks=2/workers=1"
	got := Scalings([]*record.Record{
		line(1, 1, one, 8), line(1, 1, "op=build/n=10/ranks=1", 3), line(1, 2, two, 4), {Suite: "spmm", Case: "k=8"},
		line(1, 1, one, 30), line(1, 2, two, 10), line(1, 1, one, 9), line(1, 2, two, 9),
		line(1, 2, two, 1), // a round that the first number of ranks has not
		line(2, 2, two, 7),
	})
	type told struct {
		name    string
		ranks   int
		seconds float64
		speedup float64
		rounds  int
	}
	var lines []told
	for _, s := range got {
		lines = append(lines, told{s.Case, s.Ranks, s.Seconds, *s.Speedup, s.Rounds})
	}
	want := []told{
		{"op=step/d=2/workers=1", 1, 9, 1, 3}, {"op=step/d=2/workers=1", 2, 6.5, 2, 4},
		{"op=build", 1, 3, 1, 1}, {"op=step/d=2/workers=1", 2, 7, 1, 1},
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%v, want %v", lines, want)
	}
	if s := got[1]; math.Abs(*s.SpeedupLow-1.5) > 1e-12 || math.Abs(*s.SpeedupHigh-2.5) > 1e-12 || s.Exchanged != 5 {
		t.Errorf("quartiles %g and %g", *s.SpeedupLow, *s.SpeedupHigh)
	}
	if words, want := ScalingWords(got), " op=step/d=2/workers=1: 2 ranks are 2.00 times as fast as 1 (1.50 to 2.50), 4 rounds."; words != want {
		t.Errorf("%q, want %q", words, want)
	}
	var text strings.Builder
	if err := writeScalings(&text, got); err != nil || strings.Count(text.String(), "\n") != 5 || !strings.Contains(text.String(), "1.50 to 2.50") {
		t.Errorf("%s%v", &text, err)
	}
}
