// Package graph finds the weights between distinct points: those of all pairs within a radius, by
// cells or codes, those of the nearest neighbours of every point, or all. It gives nearest rows
// away as well, and counts the memory that searches take.
package graph

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A Graph is the outcome of a neighbour search: the weights between distinct points and
// what is known of those left out.
type Graph struct {
	rows.Result
	Rows     WeightRows // between distinct points, stored or not; Weights is nil when they are not
	Entries  uint64     // weights between distinct points
	Radius   float64    // beyond which no pair is; +Inf where every pair is kept
	EntryRel float64    // bounds the relative error of a weight
	// SelfTuned: every point has a scale of its own. No kernel of every pair is behind it.
	SelfTuned bool
}

// Search finds all pairs within the radius.
func Search(ctx context.Context, p *rows.Points, b base.Bandwidth, radius float64, o *base.Options) (*Graph, error) {
	if radius >= p.Farthest() && p.Farthest() <= b.MaxRadius() {
		return everyPairGraph(ctx, p, b, o)
	}
	radius = min(radius, b.MaxRadius())
	request := RequestOf(o, p, b, radius)
	request.Held = SearchBytes(p.N, p.D, o)   // the same for every graph, whatever finds it
	request.Whole = o.Isolated == base.Repair // it adds to any row
	found, err := SearchPairs(ctx, request)
	if err != nil {
		return nil, SearchError(o, err)
	}
	return &Graph{Result: *found, Entries: uint64(found.Weights.NNZ()), Radius: radius, EntryRel: distance.FoundRel(p.D)}, nil
}

// RequestOf asks a search for the pairs within a radius.
func RequestOf(o *base.Options, p *rows.Points, b base.Bandwidth, radius float64) *rows.Request {
	return &rows.Request{
		Points: p, Radius: radius, Gamma: b.Gamma(), Layout: exactLayout(o), Memory: o.MaxMemory, Reserve: o.Reserve, Nearest: o.Isolated == base.Repair,
		Workers: o.Workers, Ranks: o.Ranks, Kernels: o.Kernels, Progress: o.Progress,
	}
}

// SearchError returns a MemoryError of this package for one of a search, and any other
// error as it is.
func SearchError(o *base.Options, err error) error {
	e, ok := errors.AsType[*rows.MemoryError](err)
	if !ok {
		return err
	}
	if e.What != "" {
		return base.Refused("build csr: "+e.What, e.Need, o.MaxMemory, e.Denied)
	}
	return TooManyWeights(o, e.Need, e.Denied)
}

// TooManyWeights returns the error of weights that need that many bytes. denied tells that
// Options.Reserve has refused them.
func TooManyWeights(o *base.Options, need int64, denied bool) error {
	err := base.Refused("store weights", need, o.MaxMemory, denied)
	base.Advise(err, "the operator dense stores no weights; a smaller sigma, cutoff or a larger tolerance stores fewer")
	return err
}

// SearchBytes is what is held in addition to the weights at most: by a search, or by the steps that
// follow it.
func SearchBytes(n, d int, o *base.Options) int64 {
	workers := o.Workers.Count()
	if d <= base.MaxDirect {
		return max(cells.Bytes(n, d, workers), StepBytes(n, o))
	}
	return max(everyPairBytes(n, d, workers), codes.Bytes(n, d, workers), StepBytes(n, o))
}

// StepBytes is what the steps of a truncated graph hold in addition to its weights: Options.StepBytes,
// of each row its degree, its bound twice, its order and its group, the sums of x over equal
// points, and the scratch memory of the workers.
func StepBytes(n int, o *base.Options) int64 {
	k := float64(o.Columns)
	row := 8 + 2*4 + 4 + 4 + 4*k
	worker := k * (4*float64(step.PassTileRows(max(o.Columns, 1))) + 8)
	return mem.Saturate(float64(o.StepBytes) + float64(n)*row + float64(o.Workers.Count())*worker)
}

// SortRow orders the entries of a row by their columns, in a buffer that it returns for
// the next row: column and value are one word.
func SortRow(ind []uint32, val []float32, entries []uint64) []uint64 {
	entries = entries[:0]
	for e, j := range ind {
		entries = append(entries, uint64(j)<<32|uint64(math.Float32bits(val[e])))
	}
	slices.Sort(entries)
	for e, v := range entries {
		ind[e], val[e] = uint32(v>>32), math.Float32frombits(uint32(v))
	}
	return entries
}

// exactLayout is the layout weights are built in: as asked for, but never rounded,
// because repairs and bounds start from the weights themselves.
func exactLayout(o *base.Options) sparse.Layout {
	if o.Layout == sparse.Compact16 {
		return sparse.Compact
	}
	return o.Layout
}

// A RowReader belongs to one worker.
type RowReader interface {
	// mul sets rows lo to hi-1 of dst, the first at its beginning, to those of W x.
	Mul(dst []float32, dstStride, lo, hi, k int, x []float32, stride int)
	// row returns the weights of row i, columns ascending, until it is called again.
	Weights(i int) (ind []uint32, val []float32)
}

// WeightRows are the rows of weights between distinct points: stored, or recomputed
// whenever they are asked for. They come in chunks, one for a worker at a time.
type WeightRows interface {
	Rows() int
	Chunks() int
	Chunk(c int) (lo, hi int)
	// reader returns what one worker reads rows and makes products of k columns with.
	Reader(k int) RowReader
}
