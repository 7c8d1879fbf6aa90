package profile

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// SampleRows returns how many rows are sampled: as many as give good averages,
// fewer where each is dear.
func SampleRows(n, d int) int {
	const work = 1e9 // less than a second
	rows := work / (float64(n) * (8 + float64(d)/10))
	return min(n, int(max(64, min(256, rows))))
}

const (
	// In more than plainDimensions dimensions a point has the more neighbours the nearer it
	// is to the middle of all points, by a factor of ten and more. A sample of a hundred
	// rows would meet more or fewer of those near the middle than there are, and the mean
	// number of neighbours would be off by a tenth or more. So rows are sampled evenly by
	// their distance from the middle.
	plainDimensions = 4
	// mostRanked rows are ranked by that distance.
	mostRanked = 1 << 14
)

// sampledRows returns count rows to sample, ascending.
func sampledRows(q *distance.Distancer, count int) []int {
	if q.P.D <= plainDimensions || count == q.N {
		return rows.Spread(count, q.N)
	}
	ranked := rows.Spread(min(q.N, mostRanked), q.N)
	distance := fromMiddle(q, ranked)
	order := make([]int, len(ranked))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b)) })
	// Of the rows of a rank take one that is near to a place of its own, since rows next to
	// each other may be of one kind. The places are spread as those of rows.Spread are.
	out := make([]int, count)
	for k := range out {
		_, place := math.Modf(float64(k) * (math.Sqrt(5) - 1) / 2)
		rank := order[k*len(order)/count : (k+1)*len(order)/count]
		off := func(i int) float64 { return math.Abs(float64(i) - place*float64(len(ranked))) }
		out[k] = ranked[slices.MinFunc(rank, func(a, b int) int { return cmp.Compare(off(a), off(b)) })]
	}
	slices.Sort(out)
	return out
}

// fromMiddle returns the squared distances of some rows from the middle of the box of the
// points.
func fromMiddle(q *distance.Distancer, list []int) []float64 {
	out := make([]float64, len(list))
	if !q.Direct {
		for at, i := range list {
			out[at] = q.Norm2[i]
		}
		return out
	}
	row := make([]float64, q.P.D)
	for at, i := range list {
		q.P.CopyRow(row, i)
		for c, v := range row {
			e := v - (q.P.Lo[c] + (q.P.Hi[c]-q.P.Lo[c])/2)
			out[at] += float64(e * e)
		}
	}
	return out
}
