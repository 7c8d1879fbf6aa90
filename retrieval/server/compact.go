package server

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Anchors of compact rows. With more of them rows are nearer to their anchors, and codebooks
// are longer.
const (
	mostAnchors  = 128
	anchorRows   = 32      // rows for each anchor, at least
	anchorSample = 1 << 16 // rows that anchors are looked for in, at most
	anchorSteps  = 10      // of k-means
	anchorSeed   = 1
)

// compactBlock is how many rows are made compact at a time.
const compactBlock = 1024

// compactRows returns the rows of the gallery as wire.Compact has them, and sets the
// anchors and the scale of the codebook. Each row is written as what it is away from its
// nearest anchor, turned so that its entries are of about one size, in units of its own.
func (c *Cells) compactRows(ctx context.Context, workers *par.Workers) (*wire.Compact, error) {
	n, d := c.book.Rows, c.book.Ranking
	if int64(n) > math.MaxInt/int64(d) {
		return nil, fmt.Errorf("%w: %d x %d", ErrGallery, n, d)
	}
	var err error
	if c.book.Anchors, err = c.anchors(ctx, workers); err != nil {
		return nil, err
	}
	out := &wire.Compact{Anchors: make([]uint16, n), Steps: make([]uint16, n), Codes: make([]int8, n*d)}
	peaks := make([]float64, n) // the largest entry of each row away from its anchor
	blocks := split.Blocks(n, compactBlock)
	err = workers.Do(ctx, blocks, par.Func(func(_, block int) {
		row := make([]float64, d)
		lo, hi := split.Block(block, n, compactBlock)
		for i := lo; i < hi; i++ {
			c.rotated(row, i)
			out.Anchors[i], peaks[i] = c.place(row)
		}
	}))
	if err != nil {
		return nil, err
	}
	largest := 0.
	for _, peak := range peaks {
		largest = max(largest, peak)
	}
	if c.book.Scale, err = scaleOf(largest); err != nil {
		return nil, err
	}
	return out, workers.Do(ctx, blocks, par.Func(func(_, block int) {
		row := make([]float64, d)
		lo, hi := split.Block(block, n, compactBlock)
		for i := lo; i < hi; i++ {
			c.rotated(row, i)
			c.away(row, out.Anchors[i])
			out.Steps[i] = c.step(peaks[i])
			c.quantize(out.Codes[i*d:(i+1)*d], row, out.Steps[i])
		}
	}))
}

// anchors returns the centres of a sample of the rows, rotated.
func (c *Cells) anchors(ctx context.Context, workers *par.Workers) ([]float32, error) {
	n, d := c.book.Rows, c.book.Ranking
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: c.rows}
	if n > anchorSample {
		x.Rows, x.Data = anchorSample, make([]float32, 0, anchorSample*d)
		for _, i := range random.Permutation(n, anchorSeed)[:anchorSample] {
			x.Data = append(x.Data, c.row(uint32(i))...)
		}
	}
	count := min(mostAnchors, max(1, x.Rows/anchorRows))
	clusters, err := kmeans.Fit(ctx, x, count, kmeans.Settings{Steps: anchorSteps, Seed: anchorSeed, Workers: workers})
	if err != nil {
		return nil, err
	}
	out := make([]float32, 0, count*d)
	for i := range count {
		centre := clusters.Centres.RawRowView(i)
		rotation.Row(centre, centre)
		for _, v := range centre {
			// A rotated entry may be beyond float32 where no entry of a row is.
			out = append(out, float32(max(-math.MaxFloat32, min(v, math.MaxFloat32))))
		}
	}
	return out, nil
}

// rotated sets dst to a row of the gallery, rotated.
func (c *Cells) rotated(dst []float64, i int) {
	for j, v := range c.row(uint32(i)) {
		dst[j] = float64(v)
	}
	rotation.Row(dst, dst)
}

// place returns the nearest anchor of a rotated row, as wire.Compact has it, with the turn that
// makes the largest entry of what the row is away from it smallest, the first of equals, and
// that entry. The row is changed.
func (c *Cells) place(row []float64) (entry uint16, peak float64) {
	count := c.book.AnchorCount()
	nearest := kmeans.Nearest(row, c.book.Anchors)
	c.away(row, uint16(nearest))
	peak = math.Inf(1)
	for turn := range limits.Turns {
		if turn > 0 {
			rotation.Row(row, row)
		}
		largest := 0.
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
		if largest < peak {
			entry, peak = uint16(turn*count+nearest), largest
		}
	}
	return entry, peak
}

// away changes a rotated row to what it is away from its anchor, turned.
func (c *Cells) away(row []float64, entry uint16) {
	anchor, turn := c.book.Place(entry)
	for j, a := range anchor {
		row[j] -= float64(a)
	}
	for range turn {
		rotation.Row(row, row)
	}
}

// step returns the least step whose codes reach a peak.
func (c *Cells) step(peak float64) uint16 {
	if peak == 0 {
		return 0
	}
	return uint16(min(math.Ceil(peak/(limits.MaxCode*float64(c.book.Scale))*limits.Steps), limits.Steps))
}

// quantize sets codes to those nearest to what a row is away from its anchor. The step
// reaches its peak, so that no code is beyond limits.MaxCode.
func (c *Cells) quantize(codes []int8, away []float64, step uint16) {
	if step == 0 {
		return // the row is its anchor
	}
	unit := c.book.Unit(step)
	for j, v := range away {
		codes[j] = int8(math.RoundToEven(v / unit))
	}
}

// scaleOf returns the least scale whose codes reach a peak. Rows that are finite can have a
// peak that no float32 reaches, in tens of thousands of dimensions.
func scaleOf(peak float64) (float32, error) {
	exact := peak / limits.MaxCode
	scale := float32(exact)
	if float64(scale) < exact {
		scale = math.Nextafter32(scale, float32(math.Inf(1)))
	}
	if math.IsInf(float64(scale), 1) {
		return 0, fmt.Errorf("%w: ranking: its numbers are too large for a scale", ErrGallery)
	}
	return scale, nil
}

// keepGallery makes the binary form of the gallery, from which compact answers are read.
func (c *Cells) keepGallery(rows *wire.Compact) (err error) {
	g := &wire.AllRows{Codebook: c.hash, Dimension: c.book.Ranking, Rows: *rows}
	if c.gallery, err = g.MarshalBinary(); err != nil {
		return err
	}
	if c.view, err = wire.ViewRows(c.gallery); err != nil {
		return err
	}
	c.view = c.view.From(uint32(c.shard.First))
	return nil
}
