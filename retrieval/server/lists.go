package server

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
)

// newLists finds centres among the rows of x and lists the rows of each cell, in
// rising order. sent has the rows that are sent, one behind the other.
//
// The list of a centre is the round(Share n / Size) rows nearest to it, so that
// lists overlap and are of one length, and rows that are in no list join one (see
// joining); displaced is how many did not get into that of their nearest centre. A
// partition begins with empty lists, and all rows join.
func newLists[M points.Matrix](ctx context.Context, x M, sent []float32, s CellsSettings) (centres []float32, lists [][]uint32, displaced int, err error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, nil, 0, err
	}
	clusters, err := kmeans.Fit(ctx, x, s.Cells, kmeans.Settings{Seed: s.Seed, Workers: s.Workers, Progress: s.Progress})
	if err != nil {
		return nil, nil, 0, err
	}
	// What is published decides, on both sides.
	centres = points.Single(clusters.Centres.RawMatrix()).Data
	length := int(math.Round(s.Share * float64(n) / float64(s.Size)))
	lists = make([][]uint32, s.Cells)
	if length > 0 && !s.Partition {
		err = s.Workers.Do(ctx, s.Cells, par.Func(func(_, c int) {
			lists[c] = nearestRows(x, n, centres[c*d:(c+1)*d], length)
		}))
		if err != nil {
			return nil, nil, 0, err
		}
	}
	j := &joining[M]{x: x, n: n, d: d, sent: sent, centres: centres, lists: lists, workers: s.Workers}
	if err := j.run(ctx, length); err != nil {
		return nil, nil, 0, err
	}
	for _, list := range lists {
		slices.Sort(list)
	}
	return centres, lists, j.displaced, nil
}

// nearestRows returns the numbers of the rows nearest to a centre.
func nearestRows[M points.Matrix](x M, n int, centre []float32, count int) []uint32 {
	type member struct {
		distance float64
		row      uint32
	}
	all := make([]member, n)
	row := make([]float64, len(centre))
	for i := range all {
		points.ReadRow(row, x, i)
		all[i] = member{kmeans.SquaredDistance(row, centre), uint32(i)}
	}
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	list := make([]uint32, count)
	for i := range list {
		list[i] = all[i].row
	}
	return list
}
