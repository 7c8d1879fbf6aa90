package graph

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// tuningNeighbour is the neighbour whose distance is the scale of a point (Zelnik-Manor
	// and Perona 2004). Where there are fewer, it is the last.
	tuningNeighbour = 7
	// leastTuned is the least weight of two neighbours. A point far from all others lies
	// many scales of its neighbours away from them, and without a least weight it would
	// have none that counts.
	leastTuned = 1e-3
)

// selfTune divides the squared distance d2 of every two neighbours by s_i s_j, their
// scales, so that exp(-Gamma d2) is the weight of a graph that tunes itself. A quotient
// whose weight would be below leastTuned is set to the one that has this weight.
//
// A point with tuningNeighbour points equal to it has the distance of its first other
// neighbour for a scale. Where it has none, the scale of the other point of a pair counts
// for both.
func selfTune(ctx context.Context, found *rows.Neighbours, b base.Bandwidth, o *base.Options) error {
	k := found.K
	n := len(found.Place) / k
	scale := make([]float64, n)
	for i := range scale {
		scale[i] = tuningScale(found.Dist2[i*k:][:k])
	}
	most := -math.Log(leastTuned) / b.Gamma()
	const rowsPerPiece = 1024
	return o.Workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			for e, j := range found.Place[i*k:][:k] {
				d2 := &found.Dist2[i*k+e]
				if *d2 == 0 {
					continue
				}
				s, t := scale[i], scale[j]
				if s == 0 {
					s = t
				} else if t == 0 {
					t = s
				}
				*d2 = min(*d2/(s*t), most)
			}
		}
	}))
}

// tuningScale returns the scale of a point from the squared distances of its neighbours,
// nearest first; 0 where all are equal to it.
func tuningScale(d2 []float64) float64 {
	for _, v := range d2[min(tuningNeighbour, len(d2))-1:] {
		if v > 0 {
			return math.Sqrt(v)
		}
	}
	return 0
}
