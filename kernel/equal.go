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

// rowHash mixes the numbers of a row, two at a time and in four chains, because a
// product takes its time. Zeros of either sign are equal.
func rowHash(row []float32) uint64 {
	const odd = 0x9e3779b97f4a7c15
	// A sum with 0 has the sign of 0 where it is zero.
	word := func(low, high float32) uint64 {
		return uint64(math.Float32bits(low+0)) | uint64(math.Float32bits(high+0))<<32
	}
	mix := func(h, word uint64) uint64 { return (h ^ word ^ h>>29) * odd }
	var h0, h1, h2, h3 uint64
	size := uint64(len(row))
	for len(row) >= 8 {
		r := (*[8]float32)(row)
		h0, h1 = mix(h0, word(r[0], r[1])), mix(h1, word(r[2], r[3]))
		h2, h3 = mix(h2, word(r[4], r[5])), mix(h3, word(r[6], r[7]))
		row = row[8:]
	}
	for _, v := range row {
		h0 = mix(h0, word(v, 0))
	}
	sum := size
	for _, v := range [...]uint64{h0, h1, h2, h3} {
		sum = (sum ^ v ^ sum>>32) * odd
	}
	return sum ^ sum>>31
}
