package spectral

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// blocks are the operations of the subspace iteration on its blocks, matrices of n rows
// and m columns, in the inner product <x, y> = x'D y. Rows are split into pieces that do
// not depend on the workers, and sums of pieces are added up in order.
type blocks struct {
	workers *par.Workers
	kernels *simd.Kernels
	degree  []float64
	root    []float32 // sqrt of degree
	volume  float64   // sum of degree
	m       int
	size    int // rows of a piece
	partial []float64
	tiles   [][]float32 // of each worker: two transposed tiles, and their product
	coeff   []float32   // a rotation, transposed
}

// mostPieces bounds the memory of partial sums; workers need fewer pieces to
// share the work evenly.
const mostPieces = 64

func newBlocks(w *walk, m int, kernels *simd.Kernels) *blocks {
	n := len(w.degree)
	b := &blocks{workers: w.workers, kernels: kernels, degree: w.degree, root: w.root, m: m, coeff: make([]float32, m*m)}
	for _, d := range w.degree {
		b.volume += d
	}
	b.size = split.Blocks(split.Blocks(n, mostPieces), passRows) * passRows
	b.partial = make([]float64, split.Blocks(n, b.size)*m*m)
	b.tiles = make([][]float32, w.workers.Count())
	for i := range b.tiles {
		b.tiles[i] = make([]float32, 2*m*passRows+m*m)
	}
	return b
}

// gram returns x'D y, made symmetric. Sums over a tile of rows are float32, over
// tiles float64.
func (b *blocks) gram(ctx context.Context, x, y blas32.General) (*mat.SymDense, error) {
	m, pieces := b.m, split.Blocks(x.Rows, b.size)
	err := b.workers.Do(ctx, pieces, par.Func(func(worker, piece int) {
		sum := b.partial[piece*m*m:][:m*m]
		clear(sum)
		tiles := b.tiles[worker]
		xt, yt, product := tiles[:m*passRows], tiles[m*passRows:2*m*passRows], tiles[2*m*passRows:]
		lo, hi := split.Block(piece, x.Rows, b.size)
		for from := lo; from < hi; from += passRows {
			to := min(from+passRows, hi)
			b.transpose(xt, x, from, to)
			if &x.Data[0] == &y.Data[0] {
				yt = xt
			} else {
				b.transpose(yt, y, from, to)
			}
			b.kernels.Dots(simd.RowsOf(product, m), simd.RowsOf(xt, passRows), simd.RowsOf(yt, passRows), m, m, to-from)
			for e, v := range product {
				sum[e] += float64(v)
			}
		}
	}))
	if err != nil {
		return nil, err
	}
	total := b.partial[:m*m]
	for piece := 1; piece < pieces; piece++ {
		for e, v := range b.partial[piece*m*m:][:m*m] {
			total[e] += v
		}
	}
	g := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			g.SetSym(i, j, (total[i*m+j]+total[j*m+i])/2)
		}
	}
	return g, nil
}

// transpose writes the rows from .. to-1 of D^(1/2) x to dst, each column as a
// row.
func (b *blocks) transpose(dst []float32, x blas32.General, from, to int) {
	for i := from; i < to; i++ {
		root, at := b.root[i], i-from
		for c, v := range row(x, i) {
			dst[c*passRows+at] = root * v
		}
	}
}

// rotateTo sets dst = x c.
func (b *blocks) rotateTo(ctx context.Context, dst, x blas32.General, c *mat.Dense) error {
	m := b.m
	for i := range m {
		for j := range m {
			b.coeff[j*m+i] = float32(c.At(i, j))
		}
	}
	return b.workers.Do(ctx, split.Blocks(x.Rows, passRows), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, x.Rows, passRows)
		b.kernels.Dots(simd.RowsOf(dst.Data[lo*dst.Stride:], dst.Stride), simd.RowsOf(x.Data[lo*x.Stride:], x.Stride), simd.RowsOf(b.coeff, m), hi-lo, m, m)
	}))
}

// combine sets dst = a dst + f x.
func (b *blocks) combine(ctx context.Context, dst, x blas32.General, a, f float64) error {
	a32, f32 := float32(a), float32(f)
	return b.workers.Do(ctx, split.Blocks(x.Rows, passRows), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, x.Rows, passRows)
		for i := lo; i < hi; i++ {
			values := row(dst, i)
			for c, v := range row(x, i) {
				values[c] = a32*values[c] + f32*v
			}
		}
	}))
}

// centre removes the constant: x <- x - 1 (1'D x)/(1'D 1) where D is not zero.
func (b *blocks) centre(ctx context.Context, x blas32.General) error {
	sums, err := b.columnSums(ctx, x.Rows, func(sum []float64, i int) {
		for c, v := range row(x, i) {
			sum[c] += b.degree[i] * float64(v)
		}
	})
	if err != nil {
		return err
	}
	shift := make([]float32, b.m)
	for c, s := range sums {
		shift[c] = float32(s / b.volume)
	}
	return b.workers.Do(ctx, split.Blocks(x.Rows, passRows), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, x.Rows, passRows)
		for i := lo; i < hi; i++ {
			values := row(x, i)
			if b.degree[i] == 0 {
				clear(values)
				continue
			}
			for c, s := range shift {
				values[c] -= s
			}
		}
	}))
}

// residuals returns the norms of the columns of px - x diag(values).
func (b *blocks) residuals(ctx context.Context, px, x blas32.General, values []float64) ([]float64, error) {
	sums, err := b.columnSums(ctx, x.Rows, func(sum []float64, i int) {
		y, d := row(x, i), b.degree[i]
		for c, v := range row(px, i) {
			e := float64(v) - values[c]*float64(y[c])
			sum[c] += d * (e * e)
		}
	})
	if err != nil {
		return nil, err
	}
	for c, s := range sums {
		sums[c] = math.Sqrt(s)
	}
	return sums, nil
}

// columnSums adds up the results of add for all rows.
func (b *blocks) columnSums(ctx context.Context, rows int, add func(sum []float64, i int)) ([]float64, error) {
	pieces := split.Blocks(rows, b.size)
	err := b.workers.Do(ctx, pieces, par.Func(func(_, piece int) {
		sum := b.partial[piece*b.m:][:b.m]
		clear(sum)
		lo, hi := split.Block(piece, rows, b.size)
		for i := lo; i < hi; i++ {
			add(sum, i)
		}
	}))
	if err != nil {
		return nil, err
	}
	total := make([]float64, b.m)
	for piece := range pieces {
		for c, v := range b.partial[piece*b.m:][:b.m] {
			total[c] += v
		}
	}
	return total, nil
}
