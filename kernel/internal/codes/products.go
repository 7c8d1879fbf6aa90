package codes

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// products bound the squared distances of many pairs of rows at a time, by inner products in
// float32. A distance measured alone reads a long row for one sum, and waits for memory; a
// product of two blocks of rows reads each row once for the whole of the other block.
//
// With Y = x - c for a centre c, rounded to y, and N = |Y|^2 in float64, the inner product p
// of y and y' that simd.Dots computes has
//
//	| |Y - Y'|^2 - (N + N' - 2p) | <= b (N + N') + tiny,  b = (d/4 + 9) 2^-24,
//
// as Dots is off by (d/4 + 6) 2^-24 |y||y'|, the rounding of y and y' by 2.1 2^-24 |Y||Y'|, and
// 2 |Y||Y'| <= N + N'. Where products underflow, d 2^-149 comes on top. b is taken a little
// larger for the rounding of N and of the bounds themselves. The centre only makes N small.
type products struct {
	row     func(i int) []float32
	centre  []float32
	norm    []float64 // N of each row
	b, tiny float64
	kernels *simd.Kernels
}

const (
	// mostNorm is the largest N: products of longer rows could overflow.
	mostNorm = 0x1p120
	// Products are made of two tiles where codes leave the share productShare of their pairs
	// or more: then they take less time than the distances of what is left.
	productShare = 0.3
	// productFloats is how many numbers a block of rows has that the points of a tile are
	// multiplied with, about, and leastProducts the least rows of it.
	productFloats = 96 << 10
	leastProducts = 8
)

// newProducts returns products of n rows in d dimensions. It returns nil where the rows are
// short, so that distances cost little, and where a row is too long.
func newProducts(ctx context.Context, row func(i int) []float32, n int, centre []float32, req *rows.Request) (*products, error) {
	d := len(centre)
	if d <= wideColumns {
		return nil, nil
	}
	p := &products{
		row: row, centre: centre, norm: make([]float64, n), kernels: req.Kernels,
		b: float64(d/4+9)*0x1p-24*(1+1e-6) + float64(d+100)*0x1p-51, tiny: float64(d) * 0x1p-148,
	}
	const each = 64
	var long atomic.Bool
	err := req.Workers.Do(ctx, split.Blocks(n, each), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, n, each)
		index := []uint32{0}
		for i := lo; i < hi; i++ {
			x := row(i)
			p.kernels.SqDists64(p.norm[i:i+1], centre, simd.RowsOf(x, d), index)
			if !(p.norm[i] <= mostNorm) {
				long.Store(true)
			}
		}
	}))
	if err != nil || long.Load() {
		return nil, err
	}
	return p, nil
}

// A productScratch is the scratch memory of a worker. It has the images y of the points of a
// tile, and their products with a block of rows.
type productScratch struct {
	tile     int       // whose points have their images here, plus one; 0 for those of no tile
	left     []float32 // images of at most panelColumns rows
	right    []float32 // images of a block of rows
	products []float32 // of each row on the left with the block
}

// scratch returns scratch memory for a worker.
func (p *products) scratch() *productScratch {
	d := len(p.centre)
	return &productScratch{
		left: make([]float32, panelColumns*d), right: make([]float32, productRows(d)*d), products: make([]float32, panelColumns*productRows(d)),
	}
}

// productRows is how many rows a block has at most.
func productRows(d int) int { return min(max(productFloats/d, leastProducts), panelColumns) }

// productBytes is the bytes that products of n rows take, with the scratch memory of workers.
func productBytes(n, d, workers int) int64 {
	if d <= wideColumns {
		return 0
	}
	block := int64(productRows(d))
	return 8*int64(n) + int64(workers)*4*((panelColumns+block)*int64(d)+panelColumns*block)
}

// load puts the image of a row at a place of dst.
func (p *products) load(dst []float32, place, i int) {
	d := len(p.centre)
	p.kernels.Centre(simd.RowsOf(dst[place*d:], d), simd.RowsOf(p.row(i), d), 1, p.centre, 1)
}

// multiply makes the products of that many rows on the left with the rows lo to hi-1, a block at
// a time, and hands them on: those of row r on the left with row i are at r*width + i-from.
func (p *products) multiply(scratch *productScratch, left, lo, hi int, each func(products []float32, width, from, to int)) {
	d := len(p.centre)
	width := productRows(d)
	for from := lo; from < hi; from += width {
		to := min(from+width, hi)
		for i := from; i < to; i++ {
			p.load(scratch.right, i-from, i)
		}
		p.kernels.Dots(simd.RowsOf(scratch.products, width), simd.RowsOf(scratch.left, d), simd.RowsOf(scratch.right, d), left, to-from, d)
		each(scratch.products, width, from, to)
	}
}

// bounds returns what the squared distance of two rows is at least and at most, from their
// norms and their product.
func (p *products) bounds(norm, other float64, product float32) (low, high float64) {
	sum := norm + other
	middle, off := sum-2*float64(product), p.b*sum+p.tiny
	return middle - off, middle + off
}

// sharpen clears bits of a mask: of pairs whose squared distance is above the limit of the
// first point for sure, by rows.Dist2 too. The mask has a row of words for each point of a tile
// that which lists, all where it is nil, and word w of each row is of another tile. limit
// returns the limit of a point of the tile. Where the mask has few pairs of the other tile,
// sharpen leaves it as it is and returns false.
func (p *products) sharpen(scratch *productScratch, t *tiles, tile, other int, which []int, mask []uint64, words, w int, limit func(i int) float64) bool {
	lo, size := t.start[tile], t.start[tile+1]-t.start[tile]
	first, end := t.start[other], t.start[other+1]
	pairs := 0
	for at := w; at < len(mask); at += words {
		pairs += bits.OnesCount64(mask[at])
	}
	if float64(pairs) < productShare*float64(size*(end-first)) {
		return false
	}
	if scratch.tile != tile+1 {
		scratch.tile = tile + 1
		for i := range size {
			p.load(scratch.left, i, lo+i)
		}
	}
	p.multiply(scratch, size, first, end, func(products []float32, width, from, to int) {
		block := (uint64(1)<<(to-from) - 1) << (from - first) // 1 << 64 is 0
		for at, row := w, 0; at < len(mask); at, row = at+words, row+1 {
			i := row
			if which != nil {
				i = which[row]
			}
			norm, most := p.norm[lo+i], limit(i)*(1+0x1p-30)
			for word := mask[at] & block; word != 0; word &= word - 1 {
				j := bits.TrailingZeros64(word) + first
				if low, _ := p.bounds(norm, p.norm[j], products[i*width+j-from]); low > most {
					mask[at] &^= 1 << (j - first)
				}
			}
		}
	})
	return true
}
