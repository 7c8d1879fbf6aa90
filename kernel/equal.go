package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

// distinctRows finds equal rows. It returns the given row of each distinct
// point, the first of those that are equal, in ascending order, and, if some are
// equal, all rows ordered by point and the bounds of the points in that order;
// otherwise three nils.
//
// Rows are sorted by a hash of their numbers, which equal rows share; only rows of
// one hash are compared.
func distinctRows(ctx context.Context, p *pointSet, set *par.Set) (rows, order, group []uint32, err error) {
	keyBits := min(2*bits.Len(uint(p.n))+4, 63)
	keys, sorted := make([]uint64, p.n), make([]uint32, p.n)
	const rowsPerPiece = 1024
	if err := set.Do(ctx, par.Blocks(p.n, rowsPerPiece), par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, p.n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			keys[i], sorted[i] = rowHash(p.single.row(i))>>(64-keyBits), uint32(i)
		}
	})); err != nil {
		return nil, nil, nil, err
	}
	if keys, err = radixSort(ctx, keys, sorted, keyBits, set); err != nil {
		return nil, nil, nil, err
	}
	row := func(i uint32) []float32 { return p.single.row(int(i)) }
	first := make([]uint32, 0) // of the rows that are equal to an earlier one: that, and themselves
	var again []uint32
	for lo := 0; lo < p.n; {
		hi := lo + 1
		for hi < p.n && keys[hi] == keys[lo] {
			hi++
		}
		if run := sorted[lo:hi]; len(run) > 1 {
			// Ascending before: the sort was stable, and so is this one.
			slices.SortStableFunc(run, func(a, b uint32) int { return slices.Compare(row(a), row(b)) })
			leader := run[0]
			for _, i := range run[1:] {
				if slices.Equal(row(leader), row(i)) {
					first, again = append(first, leader), append(again, i)
				} else {
					leader = i
				}
			}
		}
		lo = hi
	}
	if len(again) == 0 {
		return nil, nil, nil, nil
	}
	// leader of every row, then a counting sort by it.
	leader := sorted
	for i := range leader {
		leader[i] = uint32(i)
	}
	for e, i := range again {
		leader[i] = first[e]
	}
	counts := make([]uint32, p.n)
	for _, l := range leader {
		counts[l]++
	}
	next := uint32(0)
	for i, count := range counts {
		if count > 0 {
			rows, group = append(rows, uint32(i)), append(group, next)
			counts[i], next = next, next+count
		}
	}
	order = make([]uint32, p.n)
	for i, l := range leader {
		order[counts[l]] = uint32(i)
		counts[l]++
	}
	return rows, order, append(group, uint32(p.n)), nil
}

// rowHash mixes the numbers of a row, in four chains because a product takes its
// time. Zeros of either sign are equal.
func rowHash(row []float32) uint64 {
	const odd = 0x9e3779b97f4a7c15
	var h [4]uint64
	for c, v := range row {
		word := uint64(math.Float32bits(v))
		if v == 0 {
			word = 0
		}
		lane := &h[c&3]
		*lane = (*lane ^ word ^ *lane>>29) * odd
	}
	sum := uint64(len(row))
	for _, v := range h {
		sum = (sum ^ v ^ sum>>32) * odd
	}
	return sum ^ sum>>31
}
