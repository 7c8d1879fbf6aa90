package kernel

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A graph is the outcome of a neighbour search: the weights between distinct points and
// what is known of those left out.
type graph struct {
	rows.Result
	rows     weightRows // between distinct points, stored or not; Weights is nil when they are not
	entries  uint64     // weights between distinct points
	radius   float64    // beyond which no pair is; +Inf where every pair is kept
	entryRel float64    // bounds the relative error of a weight
	// selfTuned: every point has a scale of its own. No kernel of every pair is behind it.
	selfTuned bool
}

// searchGraph finds all pairs within the radius.
func searchGraph(ctx context.Context, p *rows.Points, b innerBandwidth, radius float64, o *innerOptions) (*graph, error) {
	if radius >= p.Farthest() && p.Farthest() <= b.MaxRadius() {
		return everyPairGraph(ctx, p, b, o)
	}
	radius = min(radius, b.MaxRadius())
	request := requestOf(o, p, b, radius)
	request.Held = searchBytes(p.N, p.D, o)      // the same for every graph, whatever finds it
	request.Whole = o.Isolated == repairIsolated // it adds to any row
	found, err := searchPairs(ctx, request)
	if err != nil {
		return nil, searchError(o, err)
	}
	return &graph{Result: *found, entries: uint64(found.Weights.NNZ()), radius: radius, entryRel: foundRel(p.D)}, nil
}

// requestOf asks a search for the pairs within a radius.
func requestOf(o *innerOptions, p *rows.Points, b innerBandwidth, radius float64) *rows.Request {
	return &rows.Request{
		Points: p, Radius: radius, Gamma: b.Gamma(), Layout: exactLayout(o), Memory: o.BudgetBytes, Reserve: o.Reserve, Nearest: o.Isolated == repairIsolated,
		Workers: o.Workers, Ranks: o.Ranks, Kernels: o.Kernels, Progress: o.Progress,
	}
}

// searchError returns a MemoryError of this package for one of a search, and any other
// error as it is.
func searchError(o *innerOptions, err error) error {
	e, ok := errors.AsType[*rows.MemoryError](err)
	if !ok {
		return err
	}
	if e.What != "" {
		return &innerMemoryError{What: "build csr: " + e.What, Need: e.Need, Budget: o.BudgetBytes, denied: e.Denied}
	}
	refused := tooManyWeights(o, e.Need)
	refused.denied = e.Denied
	return refused
}

// tooManyWeights returns the error of weights that need so many bytes.
func tooManyWeights(o *innerOptions, need int64) *innerMemoryError {
	return &innerMemoryError{
		What: "store weights", Need: need, Budget: o.BudgetBytes,
		instead: "the operator dense stores no weights; a smaller sigma, cutoff or a larger tolerance stores fewer",
	}
}

// searchBytes is what is held beside the weights at most: by a search, or by the steps that
// follow it.
func searchBytes(n, d int, o *innerOptions) int64 {
	workers := o.Workers.Count()
	if d <= maxDirect {
		return max(cells.Bytes(n, d, workers), stepBytes(n, o))
	}
	return max(everyPairBytes(n, d, workers), codes.Bytes(n, d, workers), stepBytes(n, o))
}

// stepBytes is what the steps of a truncated graph hold beside its weights: Options.StepBytes,
// of each row its degree, its bound twice, its order and its group, the sums of x over equal
// points, and the scratch memory of the workers.
func stepBytes(n int, o *innerOptions) int64 {
	k := float64(o.Columns)
	row := 8 + 2*4 + 4 + 4 + 4*k
	worker := k * (4*float64(passTileRows(max(o.Columns, 1))) + 8)
	return mem.Saturate(float64(o.StepBytes) + float64(n)*row + float64(o.Workers.Count())*worker)
}

// sortRow orders the entries of a row by their columns, in a buffer that it returns for
// the next row: column and value are one word.
func sortRow(ind []uint32, val []float32, entries []uint64) []uint64 {
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
