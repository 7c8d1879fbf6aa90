package kernel

import (
	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

const (
	// clustersPerPiece is how many clusters a worker takes at a time.
	clustersPerPiece = 512
	// Candidates are tested in batches of so many points and spans at most,
	// which bounds the scratch memory whatever the points are. Neighbours come
	// out the same however the candidates are cut.
	batchPoints = 1024
	batchSpans  = 256
	// Up to so many points of a row of cells are tested without a look at their
	// boxes, which would cost more than it saved.
	openPoints = 64
)

// A cellPass visits every distinct point and counts its neighbours or, when ptr
// is set, stores them with their weights.
//
// All points of a cluster are tested against the same candidates: the points of
// the cells around it, but for clusters with boxes beyond the radius. Candidates
// come in ascending order, so columns do.
type cellPass struct {
	cl       *cellList
	kernels  *Kernels
	gamma    float64
	rooms    []*cellRoom
	progress *progress
	counts   []uint64 // of neighbours
	ptr      []uint64
	ind      []uint32
	val      []float32
}

// cellRoom is the scratch memory of a worker.
type cellRoom struct {
	sweep      *sweep
	spans      []uint32 // points of a batch: the ends of spans, in pairs
	points     int      // how many these are
	candidates *simd.Candidates
	ind        []uint32 // neighbours among them, of all points of a cluster
	d2         []float64
	counts     [clusterPoints]uint32
	next       [clusterPoints]uint64 // where the next neighbour of each point goes
}

// cellRoomBytes is what a worker takes in d dimensions, but for the windows of
// the sweep, which are as many as there are rows of cells around one.
func cellRoomBytes(d int) int64 {
	const out = clusterPoints*batchPoints + 2*simd.CoordinatePad
	return 2*4*batchSpans + int64((8+4)*d+4)*(batchPoints+32) + (4+8)*out + 12*clusterPoints + 512
}

func newCellRoom(cl *cellList) *cellRoom {
	const out = clusterPoints*batchPoints + simd.CoordinatePad
	return &cellRoom{
		sweep: newSweep(cl, cl.searchBands()), spans: make([]uint32, 0, 2*batchSpans),
		candidates: simd.NewCandidates(cl.d, batchPoints), ind: make([]uint32, out), d2: make([]float64, out),
	}
}

// pieces returns the number of pieces of work a pass is cut into.
func (cl *cellList) pieces() int { return par.Blocks(len(cl.first)-1, clustersPerPiece) }

// Run does one piece.
func (p *cellPass) Run(worker, piece int) {
	if p.rooms[worker] == nil {
		p.rooms[worker] = newCellRoom(p.cl)
	}
	cl, room := p.cl, p.rooms[worker]
	sweep := room.sweep
	sweep.restart()
	from, to := par.Block(piece, len(cl.first)-1, clustersPerPiece)
	cell := cl.cellOf(cl.first[from])
	row := cl.rowOf(cell)
	_, rowEnd := cl.cellsOf(row)
	for c := from; c < to; c++ {
		if p.ptr != nil && p.ptr[cl.first[c]] == p.ptr[cl.first[c+1]] {
			continue // no neighbours, as was counted
		}
		for cl.start[cell+1] <= cl.first[c] {
			cell++
		}
		for rowEnd <= cell {
			row++
			_, rowEnd = cl.cellsOf(row)
		}
		lo := cl.number(cell, row)
		if row != sweep.row {
			sweep.enter(row, lo)
		}
		last := cell // of the cluster
		for cl.start[last+1] < cl.first[c+1] {
			last++
		}
		sweep.around(lo, cl.number(last, row))
		p.search(room, c)
	}
	p.progress.add()
}

// search does one cluster.
func (p *cellPass) search(room *cellRoom, c int) {
	cl := p.cl
	whole := true // all candidates in one batch
	for i := range room.sweep.windows {
		w := &room.sweep.windows[i]
		from, to := cl.start[w.from], cl.start[w.to]
		if cl.boxes == nil || to-from <= openPoints {
			whole = p.add(room, c, from, to, whole)
			continue
		}
		for k := int(cl.boxes.of[w.from]); k < len(cl.first)-1 && cl.first[k] < to; k++ {
			if cl.boxes.distance2(c, k) <= cl.radius2 {
				whole = p.add(room, c, max(from, cl.first[k]), min(to, cl.first[k+1]), whole)
			}
		}
	}
	p.test(room, c, whole)
}

// add makes the points from to to-1 candidates of cluster c, and tests those it
// has where they are enough. It returns whole, or false if it did.
func (p *cellPass) add(room *cellRoom, c int, from, to uint32, whole bool) bool {
	for from < to {
		last := len(room.spans) - 1
		join := last > 0 && room.spans[last] == from
		if room.points == batchPoints || !join && len(room.spans) == cap(room.spans) {
			if whole { // the first of several batches
				p.begin(room, c)
				whole = false
			}
			p.test(room, c, false)
			join = false
		}
		end := min(to, from+uint32(batchPoints-room.points))
		if join {
			room.spans[last] = end
		} else {
			room.spans = append(room.spans, from, end)
		}
		room.points += int(end - from)
		from = end
	}
	return whole
}

// begin prepares for a cluster whose candidates come in several batches.
func (p *cellPass) begin(room *cellRoom, c int) {
	from, to := p.cl.first[c], p.cl.first[c+1]
	if p.ptr == nil {
		clear(p.counts[from:to])
		return
	}
	copy(room.next[:], p.ptr[from:to])
}

// test looks for neighbours of the points of cluster c among its candidates,
// which are all of them or a batch.
func (p *cellPass) test(room *cellRoom, c int, whole bool) {
	cl := p.cl
	from, to := int(cl.first[c]), int(cl.first[c+1])
	counts := room.counts[:to-from]
	if room.points == 1 && whole { // the point itself
		p.counts[from] = 0
		room.spans, room.points = room.spans[:0], 0
		return
	}
	if p.ptr == nil && whole {
		p.kernels.CountAll(counts, room.candidates, cl.axis, cl.n, room.spans, from, cl.radius2)
		for i, count := range counts {
			p.counts[from+i] = uint64(count)
		}
		room.spans, room.points = room.spans[:0], 0
		return
	}
	p.kernels.Collect(room.candidates, cl.axis, cl.n, room.spans)
	room.spans, room.points = room.spans[:0], 0
	if p.ptr == nil {
		p.kernels.CountNear(counts, room.candidates, cl.axis, cl.n, from, cl.radius2)
		for i, count := range counts {
			p.counts[from+i] += uint64(count)
		}
		return
	}
	total := p.kernels.Near(room.ind, room.d2, counts, room.candidates, cl.axis, cl.n, from, cl.radius2)
	if whole { // rows one behind the other, as they will be in the matrix
		at := p.ptr[from]
		copy(p.ind[at:], room.ind[:total])
		p.kernels.Weights(p.val[at:at+uint64(total)], room.d2[:total], p.gamma)
		return
	}
	found := 0
	for i, count := range counts {
		at, n := room.next[i], int(count)
		copy(p.ind[at:], room.ind[found:found+n])
		p.kernels.Weights(p.val[at:at+uint64(n)], room.d2[found:found+n], p.gamma)
		room.next[i] += uint64(n)
		found += n
	}
}
