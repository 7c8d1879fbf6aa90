package dense

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

const (
	// sumRows is how many rows are summed in float32. These sums are added in float64.
	sumRows = 256
	// gramStride is the distance between the columns of a block of sumRows rows: not a
	// power of two, at which columns would compete for the same places of the cache.
	gramStride = sumRows + 16
	// roundBlocks is how many blocks of rows are transposed before they are multiplied.
	roundBlocks = 8
	// gramTile is the side of the square tiles in which the scatter matrix is computed.
	gramTile = 64
)

// Gram returns the scatter matrix of rows about the centres of their classes,
//
//	S = sum_i (x_i - c(i)) (x_i - c(i))'
//
// where c(i) is row class[i] of centres. A row of class -1 is left out. If class is nil,
// row 0 of centres is the centre of all rows.
//
// Columns are scaled by powers of two, differences are rounded to float32, and float32
// sums run over 256 rows. With u = 2^-24 the error of entry (j, k) is at most
//
//	(256/4 + 9) u sqrt(S_jj S_kk),
//
// 4.4e-6 of the square root, for any scale and mean of a column; 1e-7 is usual. It
// takes 11 MB at d = 1280 in addition to the result.
//
// Errors: points.ErrShape for sizes that do not fit and class numbers without a centre,
// *points.NonFiniteError, and that of ctx.
func (c *Core) Gram(ctx context.Context, x blas32.General, class []int32, centres *mat.Dense) (*mat.SymDense, error) {
	g := &gram{Core: c, k: c.Loops(), x: x, class: class, centres: centres}
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("dense: gram: %w", err)
	}
	if err := g.run(ctx); err != nil {
		return nil, fmt.Errorf("dense: gram: %w", err)
	}
	return g.sum, nil
}

// gram is one call of Gram. Blocks of rows are handled in rounds: workers centre and
// transpose the blocks of a round, then each takes tiles of the result and adds the blocks
// to them in order.
type gram struct {
	*Core
	k       *simd.Kernels
	x       blas32.General
	class   []int32
	centres *mat.Dense
	scale   []float64 // of a column, a power of two
	columns []float32 // roundBlocks blocks: d columns of gramStride numbers
	sum     *mat.SymDense
}

func (g *gram) check() error {
	if err := checkRows(g.k, g.x); err != nil {
		return err
	}
	count, err := classSizes(g.x.Rows, g.class)
	if err != nil {
		return err
	}
	if g.centres == nil || g.centres.IsEmpty() {
		return fmt.Errorf("%w: no centres", points.ErrShape)
	}
	if rows, cols := g.centres.Dims(); rows < len(count) || cols != g.x.Cols {
		return fmt.Errorf("%w: %d x %d centres for %d classes of rows with %d columns", points.ErrShape, rows, cols, len(count), g.x.Cols)
	}
	return points.CheckFinite(g.centres.RawMatrix())
}

func (g *gram) run(ctx context.Context) error {
	n, d := g.x.Rows, g.x.Cols
	if err := g.setScale(ctx); err != nil {
		return err
	}
	blocks := split.Blocks(n, sumRows)
	g.columns = make([]float32, min(roundBlocks, blocks)*d*gramStride)
	g.sum = mat.NewSymDense(d, nil)
	tiles := tilesOf(split.Blocks(d, gramTile))
	products := make([][]float32, g.Workers.Count())
	for first := 0; first < blocks; first += roundBlocks {
		round := min(roundBlocks, blocks-first)
		if err := g.do(ctx, round, func(_, piece int) { g.transpose(first+piece, g.block(piece)) }); err != nil {
			return err
		}
		err := g.do(ctx, len(tiles), func(worker, piece int) {
			if products[worker] == nil {
				products[worker] = make([]float32, gramTile*gramTile)
			}
			for b := range round {
				g.add(products[worker], tiles[piece], b)
			}
		})
		if err != nil {
			return err
		}
		g.report(first+round, blocks)
	}
	return g.unscale()
}

// block returns the columns of block b of a round.
func (g *gram) block(b int) []float32 {
	size := g.x.Cols * gramStride
	return g.columns[b*size:][:size]
}

// setScale finds for each column the power of two that brings its largest difference
// from the centres to between 1/2 and 1, so that no product overflows, and none that
// matters underflows.
func (g *gram) setScale(ctx context.Context) error {
	d := g.x.Cols
	g.scale = make([]float64, d)
	const columns = 128
	return g.do(ctx, split.Blocks(d, columns), func(_, piece int) {
		lo, hi := split.Block(piece, d, columns)
		most := g.scale[lo:hi]
		for i := range g.x.Rows {
			at := classOf(g.class, i)
			if at < 0 {
				continue
			}
			centre := g.centres.RawRowView(at)[lo:hi]
			for j, v := range rowOf(g.x, i)[lo:hi] {
				most[j] = max(most[j], math.Abs(float64(v)-centre[j]))
			}
		}
		for j, v := range most {
			most[j] = downTo1(v)
		}
	})
}

// transpose writes the rows of a block, less their centres and scaled, to its columns. Rows
// that are left out and rows beyond the last are zero.
func (g *gram) transpose(block int, to []float32) {
	const atOnce = 16 // a cache line of every column
	d := g.x.Cols
	for first := 0; first < sumRows; first += atOnce {
		for r := first; r < first+atOnce; r++ {
			i, at := block*sumRows+r, -1
			if i < g.x.Rows {
				at = classOf(g.class, i)
			}
			if at < 0 {
				for j := range d {
					to[j*gramStride+r] = 0
				}
				continue
			}
			centre, scale := g.centres.RawRowView(at)[:d], g.scale[:d]
			for j, v := range rowOf(g.x, i) {
				to[j*gramStride+r] = float32((float64(v) - centre[j]) * scale[j])
			}
		}
	}
}

// add adds to a tile of the sum the products of block b.
func (g *gram) add(products []float32, tile [2]int, b int) {
	d, columns, out := g.x.Cols, g.block(b), g.sum.RawSymmetric()
	top, bottom := split.Block(tile[0], d, gramTile)
	left, right := split.Block(tile[1], d, gramTile)
	g.k.Dots(simd.RowsOf(products, gramTile),
		simd.RowsOf(columns[top*gramStride:], gramStride), simd.RowsOf(columns[left*gramStride:], gramStride),
		bottom-top, right-left, sumRows)
	for i := top; i < bottom; i++ {
		from := max(i, left) // only the upper triangle counts
		to := out.Data[i*out.Stride+from:][:right-from]
		for j, v := range products[(i-top)*gramTile+from-left:][:len(to)] {
			to[j] += float64(v)
		}
	}
}

// unscale removes the scale of the columns from the sum, which is exact where the entry
// is a normal float64.
func (g *gram) unscale() error {
	out := g.sum.RawSymmetric()
	for i := range out.N {
		row := out.Data[i*out.Stride:][:out.N]
		for j := i; j < out.N; j++ {
			row[j] = row[j] / g.scale[i] / g.scale[j]
			if row[j]-row[j] != 0 {
				return &points.NonFiniteError{What: "scatter", Row: i, Col: j}
			}
		}
	}
	return nil
}

// tilesOf returns the tiles of the upper triangle of a square of n x n tiles.
func tilesOf(n int) (tiles [][2]int) {
	for i := range n {
		for j := i; j < n; j++ {
			tiles = append(tiles, [2]int{i, j})
		}
	}
	return tiles
}
