package kernel

import (
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/par"
)

const (
	// clustersPerPiece is how many clusters a worker takes at a time.
	clustersPerPiece = 64
	// Candidates are tested in batches of so many points and spans at most,
	// which bounds the scratch memory whatever the points are. Neighbours come
	// out the same however the candidates are cut.
	batchPoints = 4096
	batchSpans  = 512
	// Up to so many points of a row of cells are tested without a look at their
	// boxes, which would cost more than it saved.
	openPoints = 64
)

// A cellPass visits every distinct point and counts its neighbours or, when ptr
// is set, stores them with their weights.
//
// All points of a cluster are tested against the same candidates: the points of
// the cells around it, but for clusters with boxes beyond the radius. Clusters
// next to each other make one span.
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
	around *stencil
	near   []uint32 // clusters in the cells around: the ends of ranges, in pairs
	spans  []uint32 // points of a batch: the ends of spans, in pairs
	points int      // how many these are
	ind    []uint32 // neighbours among them
	d2     []float64
	point  []float64
	next   [clusterPoints]uint64 // where the next neighbour of each point goes
}

// cellRoomBytes is what a worker takes, but for the ranges of clusters, which
// are as many as there are rows of cells around one.
const cellRoomBytes = 2*4*batchSpans + (4+8)*batchPoints + 8*clusterPoints + 512

func newCellRoom(cl *cellList) *cellRoom {
	return &cellRoom{
		around: newStencil(cl, cl.reach), spans: make([]uint32, 0, 2*batchSpans),
		ind: make([]uint32, batchPoints), d2: make([]float64, batchPoints), point: make([]float64, cl.d),
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
	room.around.restart()
	from, to := par.Block(piece, len(cl.first)-1, clustersPerPiece)
	cell := cl.cellOf(from) - 1 // the loop moves on to the first cell
	for c := from; c < to; c++ {
		if c == from || int(cl.cluster[cell+1]) == c {
			cell++ // every cell has a cluster
			room.near = room.near[:0]
			room.around.around(cell, func(a, b int, _, _ int64) {
				room.near = append(room.near, cl.cluster[a], cl.cluster[b])
			})
		}
		p.search(room, c)
	}
	p.progress.add()
}

// search does one cluster.
func (p *cellPass) search(room *cellRoom, c int) {
	cl := p.cl
	if p.ptr != nil {
		copy(room.next[:], p.ptr[cl.first[c]:cl.first[c+1]])
	}
	for e := 0; e < len(room.near); e += 2 {
		a, b := room.near[e], room.near[e+1]
		if cl.first[b]-cl.first[a] <= openPoints {
			p.add(room, c, cl.first[a], cl.first[b])
			continue
		}
		for k := a; k < b; k++ {
			if cl.boxDistance2(c, int(k)) <= cl.radius2 {
				p.add(room, c, cl.first[k], cl.first[k+1])
			}
		}
	}
	p.test(room, c)
}

// add makes the points from to to-1 candidates of cluster c, and tests those it
// has where they are enough.
func (p *cellPass) add(room *cellRoom, c int, from, to uint32) {
	for from < to {
		last := len(room.spans) - 1
		join := last > 0 && room.spans[last] == from
		if room.points == batchPoints || !join && len(room.spans) == cap(room.spans) {
			p.test(room, c)
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
}

// test looks for neighbours of the points of cluster c among its candidates.
func (p *cellPass) test(room *cellRoom, c int) {
	cl := p.cl
	for i := cl.first[c]; i < cl.first[c+1]; i++ {
		for a, v := range cl.point(int(i)) {
			room.point[a] = float64(v)
		}
		if p.ptr == nil {
			p.counts[i] += uint64(p.kernels.CountNear(room.point, cl.axis, cl.n, room.spans, i, cl.radius2))
			continue
		}
		n := p.kernels.Near(room.ind, room.d2, room.point, cl.axis, cl.n, room.spans, i, cl.radius2)
		next := &room.next[i-cl.first[c]]
		copy(p.ind[*next:], room.ind[:n])
		p.kernels.Weights(p.val[*next:*next+uint64(n)], room.d2[:n], p.gamma)
		*next += uint64(n)
	}
	room.spans, room.points = room.spans[:0], 0
}

// cellOf returns the cell of a cluster.
func (cl *cellList) cellOf(cluster int) int {
	return sort.Search(len(cl.keys), func(c int) bool { return int(cl.cluster[c+1]) > cluster })
}

// boxDistance2 is at most the squared distance, as simd.Near and dist2 compute
// it, of any point of cluster a from any of cluster b: rounding is monotone, so
// the same operations on smaller differences give a smaller or equal result.
func (cl *cellList) boxDistance2(a, b int) float64 {
	sum := 0.0
	d := cl.d
	alo, ahi, blo, bhi := cl.lo[a*d:][:d], cl.hi[a*d:][:d], cl.lo[b*d:][:d], cl.hi[b*d:][:d]
	for i := range alo {
		if gap := max(float64(blo[i])-float64(ahi[i]), float64(alo[i])-float64(bhi[i])); gap > 0 {
			sum += float64(gap * gap)
		}
	}
	return sum
}
