package kernel

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// chunkRows is the number of rows of a chunk where nothing speaks for another number.
const chunkRows = 1024

// chunkBounds splits n rows into chunks of the given number of rows, the last of which may
// be shorter. They are the same for any number of workers.
func chunkBounds(n, rows int) []int {
	bounds := make([]int, split.Blocks(n, rows)+1)
	for i := range bounds {
		bounds[i] = min(i*rows, n)
	}
	return bounds
}

// partials are the sums of one step, kept per chunk of rows. A chunk has class
// sums only for the classes that occur in it, so all together never take more
// than one float64 row per row of x and one per chunk, however many classes
// there are.
type partials struct {
	labels *Labels
	bounds []int
	k      int
	slot   []uint32 // of each row: index of its class among the chunk's classes, or one behind
	chunk  []partial
}

type partial struct {
	objective, change, spread, maxAbs float64

	first   int       // row the chunk begins with
	slot    []uint32  // of the chunk's rows; nil without labels
	classes []uint32  // classes in the chunk, in order of appearance
	sums    []float64 // k column sums
	class   []float64 // len(classes)+1 x k; the last row, of rows without a class, is not read
}

// slotOf returns the row of class that row i is added to.
func (p *partial) slotOf(i int) uint32 {
	if p.slot == nil {
		return 0
	}
	return p.slot[i-p.first]
}

// prepare lays out the chunks, or clears them if the layout is still right.
func (ps *partials) prepare(labels *Labels, bounds []int, k int) {
	if ps.chunk != nil && ps.labels == labels && ps.k == k && len(ps.bounds) == len(bounds) && &ps.bounds[0] == &bounds[0] {
		for i := range ps.chunk {
			p := &ps.chunk[i]
			p.objective, p.change, p.spread, p.maxAbs = 0, 0, 0, 0
			clear(p.sums)
			clear(p.class)
		}
		return
	}
	*ps = partials{labels: labels, bounds: bounds, k: k, chunk: make([]partial, len(bounds)-1)}
	if labels != nil {
		ps.slot = make([]uint32, labels.N())
	}
	seen := make([]uint32, labels.classes()) // slot of a class in the current chunk, plus one
	for i := range ps.chunk {
		p := &ps.chunk[i]
		p.first = bounds[i]
		p.sums = make([]float64, k)
		if labels == nil {
			p.class = make([]float64, k)
			continue
		}
		p.slot = ps.slot[bounds[i]:bounds[i+1]]
		for r := range p.slot {
			class := labels.class[p.first+r]
			if class != noClass && seen[class] == 0 {
				p.classes = append(p.classes, class)
				seen[class] = uint32(len(p.classes))
			}
		}
		for r := range p.slot {
			p.slot[r] = uint32(len(p.classes))
			if class := labels.class[p.first+r]; class != noClass {
				p.slot[r] = seen[class] - 1
			}
		}
		for _, class := range p.classes {
			seen[class] = 0
		}
		p.class = make([]float64, (len(p.classes)+1)*k)
	}
}

// borrow makes p, which is memory of a worker, stand for the sums of a chunk: chunks
// that are next to each other share cache lines, and every row writes to its sums.
func (p *partial) borrow(chunk *partial) {
	sums, class := p.sums[:len(chunk.sums)], p.class[:len(chunk.class)]
	copy(sums, chunk.sums)
	copy(class, chunk.class)
	*p = *chunk
	p.sums, p.class = sums, class
}

// giveBack is the end of borrow.
func (p *partial) giveBack(chunk *partial) {
	copy(chunk.sums, p.sums)
	copy(chunk.class, p.class)
	sums, class := chunk.sums, chunk.class
	*chunk = *p
	chunk.sums, chunk.class = sums, class
	p.slot, p.classes = nil, nil
}

// gather sets the sums of the chunks that other ranks have made. All ranks lay out the same
// chunks, so the sums travel as one array, those of a chunk after those of the chunk before.
func (ps *partials) gather(ctx context.Context, op *base) error {
	if op.ranks.Alone() {
		return nil
	}
	shares := op.chunkShares()
	bounds, size := make([]int, len(shares)), 0
	for r := range shares[1:] {
		for chunk := shares[r]; chunk < shares[r+1]; chunk++ {
			size += ps.chunk[chunk].size()
		}
		bounds[r+1] = size
	}
	flat := make([]float64, size)
	from, to := op.ownChunks()
	own := flat[bounds[op.ranks.Rank()]:]
	for chunk := from; chunk < to; chunk++ {
		own = ps.chunk[chunk].pack(own)
	}
	if err := exchange.Gather(ctx, op.ranks, flat, bounds); err != nil {
		return err
	}
	for chunk := range ps.chunk {
		flat = ps.chunk[chunk].unpack(flat)
	}
	return nil
}

// size is how many numbers the sums of a chunk are. The last row of class sums is not read.
func (p *partial) size() int { return 4 + len(p.sums)*(1+len(p.classes)) }

// pack writes the sums of a chunk to dst, and returns the rest of dst.
func (p *partial) pack(dst []float64) []float64 {
	dst[0], dst[1], dst[2], dst[3] = p.objective, p.change, p.spread, p.maxAbs
	dst = dst[4:]
	dst = dst[copy(dst, p.sums):]
	return dst[copy(dst, p.class[:len(p.classes)*len(p.sums)]):]
}

// unpack sets the sums of a chunk to those of src, and returns the rest of src.
func (p *partial) unpack(src []float64) []float64 {
	p.objective, p.change, p.spread, p.maxAbs = src[0], src[1], src[2], src[3]
	src = src[4:]
	src = src[copy(p.sums, src):]
	return src[copy(p.class[:len(p.classes)*len(p.sums)], src):]
}
