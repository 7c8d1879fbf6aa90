package client

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/mechanism"
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
					cut := count / 3
					best.offer(row, ids[:cut], rows[:2*cut])
					best.offer(row, ids[cut:], rows[2*cut:])
					if got, want := best.matches(), plainNearest(row, k, ids, rows); !slices.Equal(got, want) {
						t.Errorf("%d nearest of %d with %d numbers and %d steps: %v, want %v", k, count, numbers, steps, got, want)
					}
				}
			}
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
