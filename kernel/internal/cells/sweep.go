package cells

import (
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A Sweep finds the cells around a cell. They are in windows. A window with a given half
// is the cells of a row whose numbers along the last axis differ by at most half from the
// number of the cell. Cells must be asked for in ascending order: then windows only ever
// move forward, and a sweep over all cells passes each cell a few times.
type Sweep struct {
	cl      *List
	kernels *simd.Kernels
	bands   bands
	row     int           // the row at hand; -1 before the first
	planes  []plane       // runs of rows around the row at hand
	windows []simd.Window // in the rows around the row at hand that hold points
	weights []float64     // of the windows
}

// bands say which windows to open in the rows around a row: at[|da|][|db|] in a row at
// offsets da and db along the slower two axes.
type bands struct {
	at [][][]band
}

// A band is a window to open.
type band struct {
	half   int
	weight float64 // of the points in the window; 0 in a search, which does not weigh them
}

// A plane is a run of rows: the rows within reach of the row at hand whose offset along
// the first axis is da. The run is used where not all rows are listed.
type plane struct {
	da       int64
	from, to int // rows from to to-1; from is -1 before the first row at hand
}

// searchBands returns one band for every row within reach, with the cells within reach.
func (g *grid) searchBands() bands {
	return g.newBands(1, func(_, _ int64) []band { return []band{{half: int(g.reach)}} })
}

// newBands calls of for the bands of all rows within a multiple of the reach. With fewer
// than three axes the offsets along the missing axes are 0.
func (g *grid) newBands(multiple int64, of func(da, db int64) []band) (b bands) {
	slow := func(axis int) int64 {
		if axis >= len(g.axes)-1 {
			return 0
		}
		return multiple * g.reach
	}
	b.at = make([][][]band, slow(0)+1)
	for da := range b.at {
		b.at[da] = make([][]band, slow(1)+1)
		for db := range b.at[da] {
			b.at[da][db] = of(int64(da), int64(db))
		}
	}
	return b
}

// Sweep returns a sweep over the cells within the radius.
func (cl *List) Sweep(kernels *simd.Kernels) *Sweep {
	return newSweep(cl, kernels, cl.searchBands())
}

// newSweep returns a sweep over the cells of some bands.
func newSweep(cl *List, kernels *simd.Kernels, b bands) *Sweep {
	s := &Sweep{cl: cl, kernels: kernels, bands: b}
	reach := int64(len(b.at) - 1)
	for da := -reach; da <= reach; da++ {
		s.planes = append(s.planes, plane{da: da})
	}
	s.restart()
	return s
}

// restart begins another ascending sequence of cells.
func (s *Sweep) restart() {
	s.row = -1
	for i := range s.planes {
		s.planes[i].from = -1
	}
}

// enter moves on to a row. The cells of the row that will be asked for have numbers from
// lo on.
func (s *Sweep) enter(row int, lo uint32) {
	cl := s.cl
	begins := s.row < 0
	a, b := cl.slow(row)
	s.row, s.windows, s.weights = row, s.windows[:0], s.weights[:0]
	reach := int64(len(s.bands.at[0]) - 1)
	least, most := max(b-reach, 0), min(b+reach, cl.slowSize[1]-1)
	for i := range s.planes {
		p := &s.planes[i]
		at := a + p.da
		if at < 0 || at >= cl.slowSize[0] {
			continue
		}
		bands := s.bands.at[abs(p.da)]
		if cl.allCells() {
			for c := least; c <= most; c++ {
				from, end := cl.cellsOf(int(at*cl.slowSize[1] + c))
				s.open(from, end, bands[abs(c-b)])
			}
			continue
		}
		if cl.allRows {
			s.openRun(cl.rowStart[at*cl.slowSize[1]:][least:most+2], int(b-least), bands)
			continue
		}
		p.move(cl.rowKey, cl.slowKey(at, least), cl.slowKey(at, most))
		for r := p.from; r < p.to; r++ {
			_, c := cl.slow(r)
			from, end := cl.cellsOf(r)
			s.open(from, end, bands[abs(c-b)])
		}
	}
	if begins && !cl.allCells() { // a sequence may begin anywhere in a row, and rows may be long
		for i := range s.windows {
			w := &s.windows[i]
			w.From += sort.Search(w.End-w.From, func(c int) bool { return int64(cl.fast[w.From+c]) >= int64(lo)-int64(w.Half) })
			w.To = w.From
		}
	}
}

// move moves the run to the rows with keys from least to most, both included.
func (p *plane) move(rowKey []uint64, least, most uint64) {
	if p.from < 0 {
		p.from = sort.Search(len(rowKey), func(r int) bool { return rowKey[r] >= least })
		p.to = p.from
	}
	for p.from < len(rowKey) && rowKey[p.from] < least {
		p.from++
	}
	p.to = max(p.to, p.from)
	for p.to < len(rowKey) && rowKey[p.to] <= most {
		p.to++
	}
}

// open opens the windows of some bands at the beginning of a row, whose cells are those from
// from to end-1.
func (s *Sweep) open(from, end int, bands []band) {
	for _, b := range bands {
		s.windows = append(s.windows, simd.Window{From: from, To: from, End: end, Half: b.half})
		s.weights = append(s.weights, b.weight)
	}
}

// openRun opens the windows of a run of rows with the given first cells; the last of these
// is the end of the last row. The row at offset middle is the one at hand, or has its number
// along the second axis. Mostly few of the rows have cells, or none.
func (s *Sweep) openRun(starts []uint32, middle int, bands [][]band) {
	if starts[0] == starts[len(starts)-1] {
		return
	}
	for i, end := range starts[1:] {
		if from := starts[i]; from != end {
			s.open(int(from), int(end), bands[abs(int64(i-middle))])
		}
	}
}

// around moves the windows to the cells around the cells with numbers lo to hi of the row
// entered last.
func (s *Sweep) around(lo, hi uint32) {
	if !s.cl.allCells() {
		s.kernels.SlideWindows(s.windows, s.cl.fast, lo, hi)
		return
	}
	size := int(s.cl.size[len(s.cl.axes)-1])
	for i := range s.windows {
		w := &s.windows[i]
		begin := w.End - size
		w.From, w.To = begin+max(int(lo)-w.Half, 0), begin+min(int(hi)+w.Half+1, size)
	}
}

// Clusters moves the windows from one cluster to the next, for the clusters from to to-1,
// and calls visit for each. It ends when visit returns false, and reports whether visit
// never did.
func (s *Sweep) Clusters(from, to int, visit func(c int) bool) bool {
	cl := s.cl
	s.restart()
	cell := cl.cellOf(cl.First[from])
	row := cl.rowOf(cell)
	_, rowEnd := cl.cellsOf(row)
	for c := from; c < to; c++ {
		for cl.start[cell+1] <= cl.First[c] {
			cell++
		}
		for rowEnd <= cell {
			row++
			_, rowEnd = cl.cellsOf(row)
		}
		lo := cl.number(cell, row)
		if row != s.row {
			s.enter(row, lo)
		}
		last := cell // of the cluster
		for cl.start[last+1] < cl.First[c+1] {
			last++
		}
		s.around(lo, cl.number(last, row))
		if !visit(c) {
			return false
		}
	}
	return true
}

// The points of a window are candidates without a look at their boxes where there are at
// most openPoints: the look would cost more than it saved.
const openPoints = 64

// Candidates calls add, in ascending spans, for the points that may be within the radius
// of points of cluster c: the points of the windows, without the clusters whose boxes are
// beyond the radius.
func (s *Sweep) Candidates(c int, add func(from, to uint32)) {
	cl := s.cl
	for i := range s.windows {
		w := &s.windows[i]
		if w.From == w.To {
			continue
		}
		from, to := cl.start[w.From], cl.start[w.To]
		if cl.boxes == nil || to-from <= openPoints {
			add(from, to)
			continue
		}
		for k := int(cl.boxes.of[w.From]); k < len(cl.First)-1 && cl.First[k] < to; k++ {
			if cl.boxes.distance2(c, k) <= cl.Radius2 {
				add(max(from, cl.First[k]), min(to, cl.First[k+1]))
			}
		}
	}
}

// AppendSpans appends the spans of the candidates of cluster c: of each its first point and
// the one behind its last. Spans that touch are one.
func (s *Sweep) AppendSpans(spans []uint32, c int) []uint32 {
	begin := len(spans)
	s.Candidates(c, func(from, to uint32) {
		switch last := len(spans) - 1; {
		case from >= to:
		case last > begin && spans[last] == from:
			spans[last] = to
		default:
			spans = append(spans, from, to)
		}
	})
	return spans
}

// abs returns |v|.
func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
