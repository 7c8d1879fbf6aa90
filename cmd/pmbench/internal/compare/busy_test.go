package compare

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// busyTurns are the turns that two programs took on a busy machine, one of them a third
// slower; testdata/busy/notes.md says how they were recorded.
type busyTurns struct {
	same, slow *recording
	turns      int
}

func readBusyTurns(t *testing.T) (b busyTurns) {
	t.Helper()
	for _, side := range []struct {
		name string
		into **recording
	}{{"same.txt", &b.same}, {"slow.txt", &b.slow}} {
		rec, err := readBenchmarks(filepath.Join("..", "..", "testdata", "busy", side.name))
		if err != nil {
			t.Fatal(err)
		}
		*side.into = rec
		for _, name := range rec.order {
			for _, unit := range []string{record.YardsUnit, record.YardUnit, record.LeastYardUnit, record.CPUYardsUnit, record.CPUYardUnit} {
				turns := len(rec.cases[name][unit])
				if b.turns == 0 {
					b.turns = turns
				}
				if turns != b.turns || turns < 2*MinRuns {
					t.Fatalf("%s: %s has %d values of %s, others %d", side.name, name, turns, unit, b.turns)
				}
			}
		}
	}
	return b
}

// drawn returns what a recording has of its first cases at some turns.
func drawn(rec *recording, turns []int, cases int) *recording {
	out := &recording{path: "drawn", order: rec.order[:cases], cases: map[string]map[string][]float64{}}
	for _, name := range out.order {
		out.cases[name] = map[string][]float64{}
		for unit, v := range rec.cases[name] {
			for _, turn := range turns {
				out.cases[name][unit] = append(out.cases[name][unit], v[turn])
			}
		}
	}
	return out
}

// A busyTally counts comparisons by their verdict; turns are those of all together.
type busyTally struct{ worse, likely, unclear, turns int }

// compare draws comparisons as ab makes them, of the program with itself or with the slow one.
// The program takes a turn against itself in two that followed each other, whichever was first.
func (b busyTurns) compare(t *testing.T, tries, cases int, slower bool, metrics []string, looks []int) (sum busyTally) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	for range tries {
		var old, now []int
		for _, turns := range looks {
			for len(old) < turns {
				turn := rng.IntN(b.turns &^ 1)
				old = append(old, turn)
				if !slower {
					turn ^= 1
				}
				now = append(now, turn)
			}
			other := b.same
			if slower {
				other = b.slow
			}
			all, err := compareRecordings(drawn(b.same, old, cases), drawn(other, now, cases), metrics, 0.05, true, len(looks))
			if err != nil {
				t.Fatal(err)
			}
			all = withoutSettled(all)
			if turns < looks[len(looks)-1] && wantsMore(all) != "" {
				continue
			}
			sum.turns += turns
			any := func(verdict string) bool {
				return slices.ContainsFunc(all, func(c *comparison) bool { return verdictOf(c) == verdict })
			}
			switch {
			case any("worse"):
				sum.worse++
			case any("likely"):
				sum.likely++
			case any("unclear"):
				sum.unclear++
			}
			break
		}
	}
	return sum
}

// On a machine that others keep busy ab finds a slowdown by a third in nine of ten tries, and
// in a program that did not change it finds one in one of twenty at most. The time alone does
// not tell.
func TestBusyMachine(t *testing.T) {
	b := readBusyTurns(t)
	const tries = 150
	usual := []string{record.YardsUnit, record.CPUYardsUnit, "peak-B"}
	for _, cases := range []int{1, 4} {
		same, slow := b.compare(t, tries, cases, false, usual, turnsOfLooks), b.compare(t, tries, cases, true, usual, turnsOfLooks)
		t.Logf("%d cases of %d tries: the same %+v, slower %+v", cases, tries, same, slow)
		if metrics := 2 * cases; same.worse*20 > tries || same.likely*40 > tries*metrics {
			t.Errorf("%d cases: of %d tries %+v are alarms about nothing", cases, tries, same)
		}
		if slow.worse*10 < tries*9 {
			t.Errorf("%d cases: of %d tries %+v find a third", cases, tries, slow)
		}
		if same.turns > tries*2*MinRuns || slow.turns > tries*3*MinRuns {
			t.Errorf("%d cases: %d tries take %d turns, and %d where there is a slowdown", cases, tries, same.turns, slow.turns)
		}
	}
	if time := b.compare(t, tries, 1, true, []string{record.YardsUnit}, []int{MinRuns}); time.worse*3 > tries {
		t.Errorf("time alone finds %+v of %d: processor time is not needed", time, tries)
	}
}
