package truncated

import (
	"context"
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A pairList holds, for each cluster of a cell list, the spans of points that may be
// within the radius of its own. It is the rows of weights between distinct points.
type pairList struct {
	Cl      *cells.List
	gamma   float64
	kernels *simd.Kernels
	chunk   []pairChunk
	added   *sparse.CSR // weights of repaired rows beyond the radius; nil when there are none
}

// pairChunk is the list of some clusters.
type pairChunk struct {
	ptr   []uint32 // of each cluster's spans, and the end
	spans []uint32 // pairs of numbers: the first point and the one behind the last
}

func (c *pairChunk) bytes() int64 { return 4 * (int64(len(c.ptr)) + int64(len(c.spans))) }

// clustersPerChunk is the number of clusters of a chunk: one or two thousand points.
const clustersPerChunk = 64

// newPairList lists the pairs of clusters while held bytes are taken. It returns what the
// list and the scratch memory of the workers have taken, too.
func newPairList(ctx context.Context, cl *cells.List, b base.Bandwidth, held int64, o *base.Options) (*pairList, int64, error) {
	clusters := len(cl.First) - 1
	l := &pairList{Cl: cl, gamma: b.Gamma(), kernels: o.Kernels, chunk: make([]pairChunk, split.Blocks(clusters, clustersPerChunk))}
	lister := &pairLister{
		ctx: ctx, l: l, sweeps: make([]*cells.Sweep, o.Workers.Count()), spans: make([][]uint32, o.Workers.Count()),
		progress: o.Stage("list pairs", len(l.chunk)),
	}
	request := graph.RequestOf(o, nil, b, 0)
	if err := lister.begin(request, held); err != nil {
		return nil, 0, pairListError(o, err)
	}
	err := o.Workers.Do(ctx, len(l.chunk), lister)
	if err == nil {
		err = ctx.Err() // a piece may have been left half done
	}
	if err != nil {
		return nil, 0, err
	}
	if err := request.Agree(ctx, "", lister.memory.Err(0)); err != nil {
		return nil, 0, pairListError(o, err)
	}
	return l, lister.memory.Taken(), nil
}

// pairListError returns the error of a list that finds no memory.
func pairListError(o *base.Options, err error) error {
	e, ok := errors.AsType[*rows.MemoryError](err)
	if !ok {
		return err
	}
	return base.Refused("build pairs: list of cluster pairs", e.Need, o.MaxMemory, e.Denied)
}

// Bytes is the memory of the list.
func (l *pairList) Bytes() (sum int64) {
	for i := range l.chunk {
		sum += l.chunk[i].bytes()
	}
	return sum
}

// resident is the memory of the list and the points.
func (l *pairList) resident() int64 {
	sum := l.Bytes() + 4*int64(len(l.Cl.Axis)) + 4*int64(len(l.Cl.First))
	if l.added != nil {
		sum += l.added.Size()
	}
	return sum
}

// Tested is the number of distances a product takes.
func (l *pairList) Tested() (sum float64) {
	for c := range len(l.Cl.First) - 1 {
		points, spans := l.Cl.First[c+1]-l.Cl.First[c], l.spans(c)
		for s := 0; s < len(spans); s += 2 {
			sum += float64(points) * float64(spans[s+1]-spans[s])
		}
	}
	return sum
}

// spans returns the candidates of cluster c.
func (l *pairList) spans(c int) []uint32 {
	chunk := &l.chunk[c/clustersPerChunk]
	at := c % clustersPerChunk
	return chunk.spans[chunk.ptr[at]:chunk.ptr[at+1]]
}

// Rows returns the number of distinct points.
func (l *pairList) Rows() int { return l.Cl.N }

// Chunks returns the number of chunks.
func (l *pairList) Chunks() int { return len(l.chunk) }

// Chunk returns the points of a chunk.
func (l *pairList) Chunk(c int) (lo, hi int) {
	from, to := split.Block(c, len(l.Cl.First)-1, clustersPerChunk)
	return int(l.Cl.First[from]), int(l.Cl.First[to])
}

// weigh returns the sums of the weights of every point, and the number of its
// neighbours.
func (l *pairList) weigh(ctx context.Context, o *base.Options) (sums []float64, counts []uint32, err error) {
	sums, counts = make([]float64, l.Cl.N), make([]uint32, l.Cl.N)
	readers := make([]*pairReader, o.Workers.Count())
	progress := o.Stage("degrees", len(l.chunk))
	err = o.Workers.Do(ctx, len(l.chunk), par.Func(func(worker, piece int) {
		if readers[worker] == nil {
			readers[worker] = l.newReader(1)
		}
		r := readers[worker]
		var part [cells.ClusterPoints]float64
		from, to := split.Block(piece, len(l.Cl.First)-1, clustersPerChunk)
		for c := from; c < to && ctx.Err() == nil; c++ {
			first, end := int(l.Cl.First[c]), int(l.Cl.First[c+1])
			for r.start(l.spans(c)); r.next(first, end); {
				l.kernels.SumSparse(part[:end-first], r.ptr[:end-first+1], r.val)
				for i := range end - first {
					sums[first+i] += part[i]
					counts[first+i] += r.counts[i]
				}
			}
		}
		progress.Add()
	}))
	if err == nil {
		err = ctx.Err() // a piece may have been left half done
	}
	return sums, counts, err
}

// near returns a function that finds the neighbours of a point. It is for one goroutine.
func (l *pairList) near() func(i int) []uint32 {
	reader := l.newReader(1)
	return func(i int) []uint32 {
		ind, _ := reader.Weights(i)
		return ind
	}
}
