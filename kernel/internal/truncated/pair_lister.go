package truncated

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/split"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A pairLister fills a list of pairs, a chunk at a time.
type pairLister struct {
	ctx      context.Context
	l        *pairList
	memory   rows.Memory
	sweeps   []*cells.Sweep // of each worker
	spans    [][]uint32     // scratch memory of each worker: the spans of its chunk
	progress *rows.Progress
}

// numberBytes is the bytes of a number of the list.
const numberBytes = 4

// begin asks for the memory of the list while held bytes are taken. How much that is a
// sample of the clusters tells before the first of them is listed. Where the sample is
// sharp, a list that may not fit is refused now. Otherwise only one that cannot fit is.
func (p *pairLister) begin(r *rows.Request, held int64) error {
	cl := p.l.Cl
	spans, err := cl.ExpectSpans(p.ctx, r.Kernels)
	if err != nil {
		return err
	}
	clusters := float64(len(cl.First) - 1)
	// The spans, and where those of a cluster begin. A worker has those of a chunk besides,
	// in a slice that grew.
	need := func(spans float64) float64 {
		scratch := float64(r.Workers.Count()) * clustersPerChunk * min(spans/clusters*2, 2*clusters)
		return numberBytes * (spans + clusters + float64(len(p.l.chunk)) + scratch)
	}
	refused := need(spans.Least)
	if spans.Sharp() {
		refused = need(spans.Most)
	}
	if left := r.Memory - held; refused > float64(left) {
		return rows.TooManyWeights(need(spans.Most) + float64(held))
	}
	return p.memory.Begin(p.ctx, r, held, need(spans.Most), numberBytes)
}

// Run lists the pairs of one chunk.
func (p *pairLister) Run(worker, piece int) {
	if p.sweeps[worker] == nil {
		p.sweeps[worker] = p.l.Cl.Sweep(p.l.kernels)
	}
	sweep, room := p.sweeps[worker], cap(p.spans[worker])
	from, to := split.Block(piece, len(p.l.Cl.First)-1, clustersPerChunk)
	if !p.take(to - from + 1) {
		return
	}
	ptr, spans := make([]uint32, 1, to-from+1), p.spans[worker][:0]
	listed := sweep.Clusters(from, to, func(c int) bool {
		begin := len(spans)
		spans = sweep.AppendSpans(spans, c)
		ptr = append(ptr, uint32(len(spans)))
		grown := cap(spans) - room
		room = cap(spans)
		return p.take(len(spans)-begin+grown) && p.ctx.Err() == nil
	})
	p.spans[worker] = spans
	if !listed {
		return
	}
	p.l.chunk[piece] = pairChunk{ptr, slices.Clone(spans)}
	p.progress.Add()
}

// take takes the memory of that many numbers, and reports whether all workers have had theirs.
func (p *pairLister) take(numbers int) bool {
	if !p.memory.Short() && !p.memory.Take(numbers) {
		p.memory.Exhaust()
	}
	return !p.memory.Short()
}
