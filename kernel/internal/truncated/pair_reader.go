package truncated

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A pairReader makes rows of weights from a list of pairs. It is the scratch memory
// of a worker.
type pairReader struct {
	l          *pairList
	candidates *simd.Candidates
	spans      []uint32 // of candidates not yet taken by next
	from       uint32   // where the first of these spans goes on
	batch      []uint32 // spans of the batch at hand
	ind        []uint32 // neighbours in the batch, of all points of a cluster
	d2         []float64
	val        []float32 // their weights
	counts     [cells.ClusterPoints]uint32
	ptr        [cells.ClusterPoints + 1]uint64
	part       []float32 // product of a batch
	sum        []float64 // of all batches
	rowInd     []uint32  // of one row
	rowVal     []float32
	buffer     sparse.RowBuffer
}

// pairBatch is the most candidates that are tested at a time: what is found among
// them stays in the second-level cache.
const pairBatch = 512

// PairReaderBytes is what a worker takes for k columns.
func PairReaderBytes(k int) int64 {
	return cells.ClusterPoints*pairBatch*(4+8+4) + pairBatch*(base.MaxDirect*8+12) + cells.ClusterPoints*int64(k)*12
}

// Reader returns what one worker reads the list with.
func (l *pairList) Reader(k int) graph.RowReader { return l.newReader(k) }

func (l *pairList) newReader(k int) *pairReader {
	const out = cells.ClusterPoints*pairBatch + simd.CoordinatePad
	return &pairReader{
		l: l, candidates: simd.NewCandidates(l.Cl.D, pairBatch), batch: make([]uint32, 0, 2*pairBatch),
		ind: make([]uint32, out), d2: make([]float64, out), val: make([]float32, out),
		part: make([]float32, cells.ClusterPoints*k), sum: make([]float64, cells.ClusterPoints*k),
	}
}

// start makes the spans the candidates that next takes.
func (r *pairReader) start(spans []uint32) {
	if r.spans = spans; len(spans) > 0 {
		r.from = spans[0]
	}
}

// next finds the weights of points lo to hi-1, all of one cluster, with the next
// candidates, and reports whether there were any.
func (r *pairReader) next(lo, hi int) bool {
	if len(r.spans) == 0 {
		return false
	}
	r.batch = r.batch[:0]
	for left := uint32(pairBatch); len(r.spans) > 0 && left > 0; {
		to := min(r.spans[1], r.from+left)
		r.batch = append(r.batch, r.from, to)
		left -= to - r.from
		if r.from = to; to == r.spans[1] {
			r.start(r.spans[2:])
		}
	}
	cl, kernels, counts := r.l.Cl, r.l.kernels, r.counts[:hi-lo]
	kernels.Collect(r.candidates, simd.RowsOf(cl.Axis, cl.N), r.batch)
	found := kernels.FindNear(r.ind, r.d2, counts, r.candidates, simd.RowsOf(cl.Axis, cl.N), lo, cl.Radius2)
	kernels.Weights(r.val[:found], r.d2[:found], r.l.gamma)
	for i, count := range counts {
		r.ptr[i+1] = r.ptr[i] + uint64(count)
	}
	return true
}

// Mul sets rows lo to hi-1 of dst, the first at its beginning, to those of W x.
func (r *pairReader) Mul(dst []float32, dstStride, lo, hi, k int, x []float32, stride int) {
	first := r.l.Cl.First
	c := r.l.Cl.ClusterOf(uint32(lo))
	for at := lo; at < hi; c++ {
		end := min(int(first[c+1]), hi)
		r.product(dst[(at-lo)*dstStride:], dstStride, c, at, end, k, x, stride)
		at = end
	}
}

// product does points lo to hi-1 of cluster c.
func (r *pairReader) product(dst []float32, dstStride, c, lo, hi, k int, x []float32, stride int) {
	rows, kernels, added := hi-lo, r.l.kernels, r.l.added
	r.start(r.l.spans(c))
	r.next(lo, hi)
	if len(r.spans) == 0 && added == nil {
		kernels.MulSparse(simd.RowsOf(dst, dstStride), k, r.ptr[:rows+1], r.ind, r.val, simd.RowsOf(x, stride))
		return
	}
	part, sum := r.part[:rows*k], r.sum[:rows*k]
	clear(sum)
	add := func() {
		for i, v := range part {
			sum[i] += float64(v)
		}
	}
	for more := true; more; more = r.next(lo, hi) {
		kernels.MulSparse(simd.RowsOf(part, k), k, r.ptr[:rows+1], r.ind, r.val, simd.RowsOf(x, stride))
		add()
	}
	if added != nil {
		added.MulRows(kernels, part, k, lo, hi, k, x, stride)
		add()
	}
	for i := range rows {
		for c, v := range sum[i*k:][:k] {
			dst[i*dstStride+c] = float32(v)
		}
	}
}

// Weights returns the weights of distinct point i, columns ascending.
func (r *pairReader) Weights(i int) (ind []uint32, val []float32) {
	c := r.l.Cl.ClusterOf(uint32(i))
	r.rowInd, r.rowVal = r.rowInd[:0], r.rowVal[:0]
	for r.start(r.l.spans(c)); r.next(i, i+1); {
		r.rowInd, r.rowVal = append(r.rowInd, r.ind[:r.ptr[1]]...), append(r.rowVal, r.val[:r.ptr[1]]...)
	}
	if r.l.added != nil {
		ind, val := r.l.added.Row(i, &r.buffer)
		for e, j := range ind {
			at, _ := slices.BinarySearch(r.rowInd, j)
			r.rowInd, r.rowVal = slices.Insert(r.rowInd, at, j), slices.Insert(r.rowVal, at, val[e])
		}
	}
	return r.rowInd, r.rowVal
}
