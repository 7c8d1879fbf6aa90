package cells

import (
	"sort"
)

// A List finds all neighbours within a radius of points in few dimensions.
//
// The points are sorted by the cell of a grid on up to three of their widest
// axes. Cells next to each other along the last of these are next to each other in
// memory: the cells around a point are a few ranges of the sorted points. Where the
// grid has few cells for a point, all are listed, and a range is found by its place
// in the list. Otherwise only the occupied cells are, in the order of their keys, and
// so are rows of cells if they are too many themselves: neither a tiny radius nor a
// distant outlier costs memory. Ranges are then found by sweeping over the cells in
// that order (cellsweep.go).
//
// A cluster is a run of at most clusterPoints points that are close together: those
// of a few small cells in a row, or some of a cell that holds many. All points of a
// cluster are tested against the same candidates. Where it prunes, clusters have
// bounding boxes in all dimensions (boxes.go).
//
// Equal points are collapsed to one with a multiplicity: simd.FindNear takes a candidate
// at distance zero for the point itself, so an equal point left apart would be lost.
//
// Every pair is tested from both of its ends. Half of the cells around a point
// would do to find each pair once, but then rows have several writers, their
// columns come out of order, and the atomic counters and sorts that mend this
// cost what the tests saved. Distances are differences of the given float32
// coordinates in float64, which are exact or nearly so whatever the offset.
type List struct {
	D     int
	N     int       // distinct points
	Axis  []float32 // coordinates d x n in sorted order, and what simd wants behind them
	Order []uint32  // given row of each sorted point, duplicates included
	Group []uint32  // sorted points group[g] to group[g+1]-1 are equal; nil if none are

	Radius2 float64 // largest squared distance of neighbours
	grid

	start []uint32 // first point of each cell, and the end
	// Where there are too many cells, only the occupied ones are listed.
	fast     []uint32 // number of each along the last grid axis
	rowKey   []uint64 // rows of cells along that axis that hold one, ascending; nil where all rows are listed
	rowStart []uint32 // first cell of each row, and the end

	First []uint32 // first point of each cluster, and the end
	boxes *boxes   // of the clusters; nil where they would not prune
}

const (
	ClusterPoints = 32 // of a cluster
	// Cells are joined to clusters up to so many points.
	runPoints = 12
)

// rows returns the number of rows of cells.
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

// number returns the number of a cell of a row along the last axis.
func (cl *List) number(cell, row int) uint32 {
	if cl.allCells() {
		return uint32(cell - row*int(cl.size[len(cl.axes)-1]))
	}
	return cl.fast[cell]
}

// slow returns the numbers of a row along the slower two axes.
func (cl *List) slow(row int) (a, b int64) {
	if cl.allRows {
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

// ForgetCells lets go of what only searches need: points and clusters stay.
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
