package step

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
)

// Partials are the sums of one step, kept per chunk of rows. A chunk has class
// sums only for the classes that occur in it, so all together never take more
// than one float64 row per row of x and one per chunk, however many classes
// there are.
type Partials struct {
	labels *Labels
	bounds []int
	k      int
	slot   []uint32 // of each row: index of its class among the chunk's classes, or one behind
	Chunk  []Partial
}

// A Partial has the sums of one chunk.
type Partial struct {
	objective, change, spread, maxAbs float64

	first   int       // row the chunk begins with
	slot    []uint32  // of the chunk's rows; nil without labels
	classes []uint32  // classes in the chunk, in order of appearance
	Sums    []float64 // k column sums
	Class   []float64 // len(classes)+1 x k; the last row, of rows without a class, is not read
}

// slotOf returns the row of class that row i is added to.
func (p *Partial) slotOf(i int) uint32 {
	if p.slot == nil {
		return 0
	}
	return p.slot[i-p.first]
}

// prepare lays out the chunks, or clears them if the layout is still right.
func (ps *Partials) prepare(labels *Labels, bounds []int, k int) {
	if ps.Chunk != nil && ps.labels == labels && ps.k == k && len(ps.bounds) == len(bounds) && &ps.bounds[0] == &bounds[0] {
		for i := range ps.Chunk {
			p := &ps.Chunk[i]
			p.objective, p.change, p.spread, p.maxAbs = 0, 0, 0, 0
			clear(p.Sums)
			clear(p.Class)
		}
		return
	}
	*ps = Partials{labels: labels, bounds: bounds, k: k, Chunk: make([]Partial, len(bounds)-1)}
	if labels != nil {
		ps.slot = make([]uint32, labels.N())
	}
	seen := make([]uint32, labels.classes()) // slot of a class in the current chunk, plus one
	for i := range ps.Chunk {
		p := &ps.Chunk[i]
		p.first = bounds[i]
		p.Sums = make([]float64, k)
		if labels == nil {
			p.Class = make([]float64, k)
			continue
		}
		p.slot = ps.slot[bounds[i]:bounds[i+1]]
		for r := range p.slot {
			class := labels.Class[p.first+r]
			if class != NoClass && seen[class] == 0 {
				p.classes = append(p.classes, class)
				seen[class] = uint32(len(p.classes))
			}
		}
		for r := range p.slot {
			p.slot[r] = uint32(len(p.classes))
			if class := labels.Class[p.first+r]; class != NoClass {
				p.slot[r] = seen[class] - 1
			}
		}
		for _, class := range p.classes {
			seen[class] = 0
		}
		p.Class = make([]float64, (len(p.classes)+1)*k)
	}
}

// Borrow makes p, which is memory of a worker, stand for the sums of a chunk: chunks
// that are next to each other share cache lines, and every row writes to its sums.
func (p *Partial) Borrow(chunk *Partial) {
	sums, class := p.Sums[:len(chunk.Sums)], p.Class[:len(chunk.Class)]
	copy(sums, chunk.Sums)
	copy(class, chunk.Class)
	*p = *chunk
	p.Sums, p.Class = sums, class
}

// GiveBack is the end of borrow.
func (p *Partial) GiveBack(chunk *Partial) {
	copy(chunk.Sums, p.Sums)
	copy(chunk.Class, p.Class)
	sums, class := chunk.Sums, chunk.Class
	*chunk = *p
	chunk.Sums, chunk.Class = sums, class
	p.slot, p.classes = nil, nil
}

// gather sets the sums of the chunks that other ranks have made. All ranks lay out the same
// chunks, so the sums travel as one array, those of a chunk after those of the chunk before.
func (ps *Partials) gather(ctx context.Context, op *Base) error {
	if op.Ranks.Alone() {
		return nil
	}
	shares := op.ChunkShares()
	bounds, size := make([]int, len(shares)), 0
	for r := range shares[1:] {
		for chunk := shares[r]; chunk < shares[r+1]; chunk++ {
			size += ps.Chunk[chunk].Size()
		}
		bounds[r+1] = size
	}
	flat := make([]float64, size)
	from, to := op.OwnChunks()
	own := flat[bounds[op.Ranks.Rank()]:]
	for chunk := from; chunk < to; chunk++ {
		own = ps.Chunk[chunk].pack(own)
	}
	if err := exchange.Gather(ctx, op.Ranks, flat, bounds); err != nil {
		return err
	}
	for chunk := range ps.Chunk {
		flat = ps.Chunk[chunk].unpack(flat)
	}
	return nil
}

// Size is how many numbers the sums of a chunk are. The last row of class sums is not read.
func (p *Partial) Size() int { return 4 + len(p.Sums)*(1+len(p.classes)) }

// pack writes the sums of a chunk to dst, and returns the rest of dst.
func (p *Partial) pack(dst []float64) []float64 {
	dst[0], dst[1], dst[2], dst[3] = p.objective, p.change, p.spread, p.maxAbs
	dst = dst[4:]
	dst = dst[copy(dst, p.Sums):]
	return dst[copy(dst, p.Class[:len(p.classes)*len(p.Sums)]):]
}

// unpack sets the sums of a chunk to those of src, and returns the rest of src.
func (p *Partial) unpack(src []float64) []float64 {
	p.objective, p.change, p.spread, p.maxAbs = src[0], src[1], src[2], src[3]
	src = src[4:]
	src = src[copy(p.Sums, src):]
	return src[copy(p.Class[:len(p.classes)*len(p.Sums)], src):]
}
