package cells

import (
	"sort"
)

// A List finds all neighbours within a radius of points in few dimensions.
//
// The points are sorted by the cells of a grid on up to three of their widest axes. Cells
// next to each other along the last axis are next to each other in memory, so the cells
// around a point are a few ranges of the sorted points. Where the grid has few cells for a
// point, all cells are listed, and a range is found by its place in the list. Otherwise
// only the occupied cells are listed, in the order of their keys. Where the rows of cells
// are too many as well, only the occupied rows are listed. So neither a tiny radius nor a
// distant outlier costs memory. Ranges are then found by a sweep over the cells in the
// order of their keys (sweep.go).
//
// A cluster is a run of at most ClusterPoints points that are close together: the points
// of a few small cells in a row, or some points of a cell that holds many. All points of a
// cluster are tested against the same candidates. Where boxes prune, clusters have
// bounding boxes in all dimensions (boxes.go).
//
// Equal points are collapsed to one point with a multiplicity: simd.FindNear takes a
// candidate at distance zero for the point itself, so an equal point left apart would be
// lost.
//
// Every pair is tested from both of its ends. Half of the cells around a point would do to
// find each pair once. But then rows of weights have several writers and their columns
// come out of order, and the atomic counters and sorts that mend this cost what the tests
// saved. Distances are sums of squared differences of the given float32 coordinates. The
// differences are taken in float64, where they are exact, up to one rounding, whatever the
// offset of the points.
type List struct {
	D     int
	N     int       // distinct points
	Axis  []float32 // coordinates D x N in sorted order, and the padding that simd wants behind them
	Order []uint32  // given row of each sorted point, duplicates included
	Group []uint32  // distinct point g is sorted points Group[g] to Group[g+1]-1; nil when all points are distinct

	Radius2 float64 // largest squared distance of neighbours
	grid

	start    []uint32 // first point of each listed cell, and the end
	fast     []uint32 // number of each occupied cell along the last axis; nil when all cells are listed
	rowKey   []uint64 // keys of the occupied rows, ascending; nil when all rows are listed
	rowStart []uint32 // first cell of each row, and the end; nil when all cells are listed

	First []uint32 // first point of each cluster, and the end
	boxes *boxes   // of the clusters; nil when boxes would not prune
}

const (
	// ClusterPoints is the most points of a cluster.
	ClusterPoints = 32
	// Cells are joined to clusters of at most runPoints points.
	runPoints = 12
)

// rows returns the number of rows of cells that are listed.
func (cl *List) rows() int {
	if cl.allRows {
		return int(cl.slowSize[0] * cl.slowSize[1])
	}
	return len(cl.rowKey)
}

// cellsOf returns the range of cells of a row.
func (cl *List) cellsOf(row int) (from, to int) {
	if cl.allCells() {
		size := int(cl.size[len(cl.axes)-1])
		return row * size, (row + 1) * size
	}
	return int(cl.rowStart[row]), int(cl.rowStart[row+1])
}

// rowOf returns the row of a cell.
func (cl *List) rowOf(cell int) int {
	if cl.allCells() {
		return cell / int(cl.size[len(cl.axes)-1])
	}
	return sort.Search(cl.rows(), func(r int) bool { return int(cl.rowStart[r+1]) > cell })
}

// number returns the number, along the last axis, of a cell of a row.
func (cl *List) number(cell, row int) uint32 {
	if cl.allCells() {
		return uint32(cell - row*int(cl.size[len(cl.axes)-1]))
	}
	return cl.fast[cell]
}

// slow returns the numbers of a row along the slower two axes.
func (cl *List) slow(row int) (a, b int64) {
	if cl.allRows {
		if n := cl.slowSize[1]; (uint64(row)|uint64(n))>>32 == 0 { // mostly, and division is quicker in 32 bits
			return int64(uint32(row) / uint32(n)), int64(uint32(row) % uint32(n))
		}
		return int64(row) / cl.slowSize[1], int64(row) % cl.slowSize[1]
	}
	key := cl.rowKey[row]
	return int64(key >> cl.midBits), int64(key & (1<<cl.midBits - 1))
}

// cellOf returns the cell of a point.
func (cl *List) cellOf(point uint32) int {
	return sort.Search(len(cl.start)-1, func(c int) bool { return cl.start[c+1] > point })
}

// ClusterOf returns the cluster of a point.
func (cl *List) ClusterOf(point uint32) int {
	return sort.Search(len(cl.First)-1, func(c int) bool { return cl.First[c+1] > point })
}

// ForgetCells drops what only searches need: cells, rows and boxes. Points and clusters
// stay.
func (cl *List) ForgetCells() {
	cl.start, cl.fast, cl.rowKey, cl.rowStart, cl.boxes = nil, nil, nil, nil, nil
}

// multiplicity returns how many given points distinct point i stands for.
func (cl *List) multiplicity(i int) int {
	if cl.Group == nil {
		return 1
	}
	return int(cl.Group[i+1] - cl.Group[i])
}

// Dist2 returns the squared distance of distinct points i and j.
func (cl *List) Dist2(i, j int) float64 {
	sum := 0.0
	for a := range cl.D {
		e := float64(cl.Axis[a*cl.N+i]) - float64(cl.Axis[a*cl.N+j])
		sum += float64(e * e)
	}
	return sum
}
