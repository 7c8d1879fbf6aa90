package client

import (
	"embed"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// plainNearest sorts everything.
func plainNearest(row []float64, k int, ids []uint32, rows []float32) (out []Match) {
	all := make([]Match, len(ids))
	for i, id := range ids {
		all[i] = Match{int64(id), kmeans.SquaredDistance(row, rows[i*len(row):][:len(row)])}
	}
	slices.SortFunc(all, compare)
	for _, m := range all {
		if len(out) < k && !slices.ContainsFunc(out, func(o Match) bool { return o.ID == m.ID }) {
			out = append(out, m)
		}
	}
	for i := range out {
		out[i].Distance = math.Sqrt(out[i].Distance)
	}
	return out
}

// The nearest are those of all rows sorted, with numbers that come again, at the same
// distance or another, and with many rows at one distance.
func TestNearest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{0, 1, 100, 3000} {
		for _, k := range []int{1, 2, 100, 700, 5000, math.MaxInt} {
			for _, numbers := range []int{10, 2000} {
				for _, steps := range []int{3, 1 << 20} {
					row := []float64{random.NormFloat64(), random.NormFloat64()}
					var ids []uint32
					var rows []float32
					for range count {
						ids = append(ids, uint32(random.IntN(numbers)))
						rows = append(rows, float32(random.IntN(steps)), float32(random.IntN(steps)))
					}
					best := nearest{k: k}
					for i, id := range ids {
						best.take(Match{int64(id), kmeans.SquaredDistance(row, rows[2*i:][:2])})
					}
					if got, want := best.matches(), plainNearest(row, k, ids, rows); !slices.Equal(got, want) {
						t.Errorf("%d nearest of %d with %d numbers and %d steps: %v, want %v", k, count, numbers, steps, got, want)
					}
				}
			}
		}
	}
}

// The nearest of runs whose numbers rise are those of all rows sorted, whatever the number of
// runs.
func TestNearestOfRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{0, 1, 7, 300} {
		for _, k := range []int{1, 2, 100, 700, math.MaxInt} {
			for lists := range 6 {
				for _, steps := range []int{3, 1 << 20} {
					row := []float64{random.NormFloat64(), random.NormFloat64()}
					var ids []uint32
					var rows []float32
					var runs [][]sametime.Slot
					for range lists {
						numbers := random.Perm(2*count + 1)[:count]
						slices.Sort(numbers)
						at := len(ids)
						for _, id := range numbers {
							ids = append(ids, uint32(id))
							rows = append(rows, float32(random.IntN(steps)), float32(random.IntN(steps)))
						}
						runs = append(runs, slotsOf(row, ids[at:], rows[2*at:]))
					}
					got := matches(sametime.Least(merged(runs), k))
					if want := plainNearest(row, k, ids, rows); !slices.Equal(got, want) {
						t.Errorf("%d nearest of %d lists of %d with %d steps: %v, want %v", k, lists, count, steps, got, want)
					}
				}
			}
		}
	}
}

//go:embed *.go
var sources embed.FS

// Between the answer to a request and the next one no branch and no place in memory depends on
// the record or on distances.
func TestRankByMasks(t *testing.T) {
	for _, problem := range inspect.Files(sources, inspect.Functions{
		"distances.go": {
			"dropSmall": {"row"}, "slotOf": {"squared"}, "slotsOf": {"row"}, "fourSquaredDistances": {"row"}, "merged": {"Key"}, "matches": {"slots"},
		},
		"compact.go": {"rotate": {"dst", "row"}, "squaredDistance": {"away"}, "slots": {"dst"}},
		"rank.go":    {"Rank": {"runs", "compact"}},
	}) {
		t.Error(problem)
	}
}

// subnormal reports whether a number is one that processors take longer for.
func subnormal(x float64) bool { return x != 0 && math.Abs(x) < 0x1p-1022 }

// Neither a record nor centres, anchors or rows of the server make subnormal numbers: how long
// they take would tell how small the record is.
func TestDistancesNoSubnormalNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		d := 1 + random.IntN(20)
		row, other := make([]float64, d), make([]float32, d)
		lowest := -1074 + random.IntN(1100)
		for i := range row {
			row[i] = math.Ldexp(1-2*random.Float64(), lowest+random.IntN(200))
			other[i] = []float32{0, math.SmallestNonzeroFloat32, -0x1p-126, 0x1.000002p-100, 1, math.MaxFloat32}[random.IntN(6)]
		}
		given := slices.Clone(row)
		dropSmall(row)
		for i, v := range row {
			if small := math.Abs(given[i]) < smallestEntry; small != (v == 0) || !small && v != given[i] {
				t.Fatalf("%g becomes %g", given[i], v)
			}
		}
		check := func(v []float64, other []float32) {
			for i, x := range v {
				if e := x - float64(other[i]); subnormal(x) || subnormal(e) || subnormal(e*e) || e != 0 && e*e == 0 {
					t.Fatalf("%g from %g", x, other[i])
				}
			}
		}
		check(row, other)
		for range limits.Turns {
			rotate(row, row)
			check(row, other)
		}
	}
}

// Whoever changes a sample after NewBase changes nothing for Rank.
func TestBaseIsACopy(t *testing.T) {
	c := newClient(t, 1, 1, mechanism.NoLedger, NewMemory())
	request, answer, sample := answerTo(c.settings.Codebook)
	base := newBase(t, c, sample)
	want, err := c.Rank([]float64{48}, 9, request, answer, base)
	if err != nil {
		t.Fatal(err)
	}
	sample.IDs[0], sample.Rows[1], sample.Codebook[0] = 999, float32(math.NaN()), 77
	if got, err := c.Rank([]float64{48}, 9, request, answer, base); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
