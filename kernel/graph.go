package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A graph is the outcome of a neighbour search: the weights between distinct
// points and what is known of those left out.
type graph struct {
	rows     weightRows  // between distinct points
	weights  *sparse.CSR // the same where they are stored, else nil
	slabs    []*slab     // what they are stored in, for others to use when they are closed
	sums     []float64   // of the rows of weights; nil where they are not known
	order    []uint32    // given row of each internal row; nil when equal
	group    []uint32    // internal rows of each distinct point; nil when all are distinct
	radius   float64     // beyond which no pair is; +Inf where every pair is kept
	tail     []float64   // bounds the weight left out, for each distinct point
	entryRel float64     // bounds the relative error of a stored weight
	peak     int64       // bytes held at most while building
	distance func(i, j int) float64
	search   SearchStats
}

// searchGraph finds all pairs within the radius.
func searchGraph(ctx context.Context, p *rows.Points, b Bandwidth, radius float64, o *Options) (*graph, error) {
	if radius >= p.Farthest() && p.Farthest() <= maxRadius(b) {
		return completeGraph(ctx, p, b, o)
	}
	radius = min(radius, maxRadius(b))
	if p.D <= maxDirect {
		return cellGraph(ctx, p, b, radius, o)
	}
	return filterGraph(ctx, p, b, radius, o)
}

// allocate turns the counts of a first pass, which it overwrites, into row
// pointers, and makes room for the entries if the budget allows.
func (o *Options) allocate(ctx context.Context, counts []uint64, held int64) (ptr []uint64, ind []uint32, val []float32, err error) {
	// counts[i+1] is the count of row i.
	ptr = counts
	for i := 1; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
	nnz := ptr[len(ptr)-1]
	need, ok := sparse.Bytes(o.exact(), len(ptr)-1, nnz)
	if !ok || need > o.BudgetBytes-held {
		if !ok {
			need = math.MaxInt64
		}
		return nil, nil, nil, o.tooManyWeights(float64(need) + float64(held))
	}
	// Memory that is used again is cleared first, which takes its time.
	err = o.Workers.Do(ctx, 2, par.Func(func(_, piece int) {
		if piece == 0 {
			ind = make([]uint32, nnz)
			mem.Huge(ind)
		} else {
			val = make([]float32, nnz)
			mem.Huge(val)
		}
	}))
	return ptr, ind, val, err
}

// tooManyWeights refuses a graph that takes so many bytes.
func (o *Options) tooManyWeights(bytes float64) error {
	return &MemoryError{
		What: "store weights", Need: mem.Saturate(bytes), Budget: o.BudgetBytes,
		Instead: "the operator dense stores no weights; a smaller sigma, cutoff or a larger tolerance stores fewer",
	}
}

// searchBytes is what a search takes beside the weights. Cell lists: sorted and
// unsorted keys and order, coordinates twice, and at worst cellsPerPoint cells, or a
// cell and its row, and a cluster and its box for every point; counts, tails,
// degrees and bounds of all rows; the scratch memory of the workers.
func searchBytes(n, d int, o *Options) int64 {
	const perRow = 8 + 8 + 8 + 8 + 4 + 4 + 4
	if d <= maxDirect {
		return int64(n)*int64(perRow+2*(8+4)+2*(8+4+4+4)+8+4*4*d) + int64(o.Workers.Count())*cellRoomBytes(n, d)
	}
	workers, depth := int64(o.Workers.Count()), fullDepth(d)
	return int64(n)*(perRow+8+4+4) + max(workers*distanceRoomBytes(d), filterBytes(n, d, depth)+workers*(filterRoomBytes(n, depth)+projectRoomBytes(d)+arrangeRoomBytes(depth)))
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

func (g *graph) multiplicity(i int) float64 {
	if g.group == nil {
		return 1
	}
	return float64(g.group[i+1] - g.group[i])
}
