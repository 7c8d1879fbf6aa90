package grid

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/exchange"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// directRows are weights in addition to the grid: those of all pairs one of whose points is
// out of it, stored for both.
type directRows struct {
	Rows []uint32 // that have any, ascending
	ptr  []int    // entries of each, and the end
	ind  []uint32
	val  []float64
}

func (r *directRows) bytes() int64 {
	return (4+8)*int64(len(r.val)) + 4*int64(len(r.Rows)) + 8*int64(len(r.ptr))
}

// addDirect adds the product of the direct row at a place of r.rows to wx.
func addDirect[T rows.Float](r *directRows, wx []float64, at int, x rows.View[T], centre []float64) {
	for e := r.ptr[at]; e < r.ptr[at+1]; e++ {
		w := r.val[e]
		for c, v := range x.Row(int(r.ind[e])) {
			wx[c] += float64(w * (float64(v) - centre[c]))
		}
	}
}

// exclude takes rows out of the grid until all others have a bound they may keep.
// Fewer points in the grid can only lower the bounds of others, but also their
// degrees, and so a row may follow its neighbours.
func (op *Grid) exclude(ctx context.Context, p *rows.Points, b base.Bandwidth, near []float64, o *base.Options) error {
	limit := 0.5
	if o.Isolated == base.Repair {
		limit = min(limit, o.Tolerance)
	}
	all := op.RowSums // with every row in the grid
	peak := op.Costs.PeakBytes
	for op.takeOut(limit) {
		var r *gridRepair
		if o.Isolated == base.Repair {
			r = &gridRepair{op: op, p: p, b: b, peak: peak}
			if err := r.run(ctx, o); err != nil {
				return fmt.Errorf("repair: %w", err)
			}
		}
		if err := op.sum(ctx, false); err != nil {
			return err
		}
		op.certifyAgain(r, near, all)
	}
	if op.Out != nil {
		op.Cert.RankRows()
	}
	op.Costs.ResidentBytes += op.Direct.bytes() + int64(len(op.Out))
	return nil
}

// takeOut takes the rows whose bound is above the limit out of the grid, and reports whether
// there were any.
func (op *Grid) takeOut(limit float64) (found bool) {
	for i, eta := range op.Cert.Row {
		if float64(eta) > limit && !op.Outside(i) {
			if op.Out == nil {
				op.Out = make([]bool, len(op.Cert.Row))
			}
			op.Out[i], found = true, true
		}
	}
	return found
}

// certifyAgain bounds all rows after some rows were taken out of the grid, and counts the
// rows that are isolated now. r has made direct rows for the rows out of the grid; nil
// when these rows have none. all are the degrees with every row in the grid.
func (op *Grid) certifyAgain(r *gridRepair, near, all []float64) {
	op.Cert.Isolated, op.Cert.Rounding = 0, 0
	bound := func(i int, near, dropped, more float64) {
		op.Cert.Rounding = max(op.Cert.Rounding, op.certifyRow(i, near, dropped)+more)
	}
	repaired := 0
	for cell := range op.Cells.Count() {
		for i := int(op.Cells.Start[cell]); i < int(op.Cells.Start[cell+1]); i++ {
			switch {
			case op.Outside(i) && r != nil:
				op.RowSums[i] = r.certify(repaired, op.RowSums[i])
				repaired++
			case op.Outside(i):
				op.RowSums[i] = 0
				op.Cert.Row[i] = float32(math.Inf(1))
			case r != nil:
				// A direct weight with every row out of the grid is added to what the grid has.
				sums := float64(len(r.rows)) * 0x1p-52
				bound(i, near[cell], r.dropped+sums*op.RowSums[i], sums)
			default:
				// What was lost with the other rows is known as the grid had it.
				bound(i, near[cell], max(all[i]-op.RowSums[i], 0)+op.errs.near*near[cell]+op.errs.far, 0)
			}
			if op.RowSums[i] <= 0 && op.Outside(i) {
				op.Cert.Isolated++
			}
		}
	}
}

// gridRepair makes the direct rows of the rows out of the grid. A row gets the
// weights of all points in cells within a radius that follows from a lower bound of
// its degree: n weights from beyond it are together below a quarter of the tolerance.
type gridRepair struct {
	op      *Grid
	p       *rows.Points
	b       base.Bandwidth
	rows    []repairRow
	cells   []repairCell
	dropped float64 // at most, from any row in the grid
	peak    int64   // bytes of the grid
}

type repairRow struct {
	row     int
	at      [lattice.MaxAxes]int
	place   [lattice.MaxAxes]float64 // of the point in its cell
	radius2 float64                  // squared, in units of sigma; 0 for a row no weight reaches
	lost    float64                  // the largest weight beyond it, at most
	entries int
}

// repairCell is a cell with points.
type repairCell struct {
	at     [lattice.MaxAxes]int
	lo, hi int
}

// find finds the cells with points, and the rows out of the grid in them.
func (r *gridRepair) find() {
	op := r.op
	for cell := range op.Cells.Count() {
		lo, hi := int(op.Cells.Start[cell]), int(op.Cells.Start[cell+1])
		if lo == hi {
			continue
		}
		c := repairCell{op.Lattice.Coordinates(op.Cells.Key(cell)), lo, hi}
		r.cells = append(r.cells, c)
		for i := lo; i < hi; i++ {
			if op.Out[i] {
				r.rows = append(r.rows, repairRow{row: i, at: c.at, place: r.place(i)})
			}
		}
	}
}

func (r *gridRepair) run(ctx context.Context, o *base.Options) error {
	op := r.op
	op.Direct = directRows{} // those of the round before have no use
	r.find()
	progress := o.Stage("repair rows", 3*o.OwnPieces(len(r.rows)))
	each := func(do func(row *repairRow)) error {
		return o.Share(ctx, len(r.rows), func(_, piece int) {
			do(&r.rows[piece])
			progress.Add()
		})
	}
	if err := each(func(row *repairRow) { r.measure(row, o.Tolerance) }); err != nil {
		return err
	}
	for _, measured := range []func(*repairRow) *float64{
		func(row *repairRow) *float64 { return &row.radius2 },
		func(row *repairRow) *float64 { return &row.lost },
	} {
		if err := gatherMeasured(ctx, r.rows, measured, o); err != nil {
			return err
		}
	}
	if err := each(r.count); err != nil {
		return err
	}
	if err := gatherMeasured(ctx, r.rows, func(row *repairRow) *int { return &row.entries }, o); err != nil {
		return err
	}
	entries := 0.0 // may be more than an int holds
	for i := range r.rows {
		r.dropped += r.rows[i].lost
		entries += float64(r.rows[i].entries)
	}
	need := mem.Saturate(float64(r.peak) + 36*entries + 24*float64(op.N()))
	if entries > math.MaxInt/36 {
		need = math.MaxInt64
	}
	if err := o.Take("build grid: direct rows", need); err != nil {
		return err
	}
	total, starts := 0, make([]int, len(r.rows)+1)
	for i := range r.rows {
		total += r.rows[i].entries
		starts[i+1] = total
	}
	ind, val := make([]uint32, total), make([]float64, total)
	if err := o.Share(ctx, len(r.rows), func(_, piece int) {
		r.weigh(&r.rows[piece], ind[starts[piece]:starts[piece+1]], val[starts[piece]:starts[piece+1]])
		progress.Add()
	}); err != nil {
		return err
	}
	if err := base.GatherRows(ctx, o, ind, starts, 1); err != nil {
		return err
	}
	if err := base.GatherRows(ctx, o, val, starts, 1); err != nil {
		return err
	}
	r.store(starts, ind, val)
	op.Costs.PeakBytes = need
	op.Costs.NNZ = int64(len(op.Direct.val))
	return nil
}

// gatherMeasured sets a number of each row that other ranks have found.
func gatherMeasured[T exchange.Word](ctx context.Context, list []repairRow, measured func(*repairRow) *T, o *base.Options) error {
	all := make([]T, len(list))
	for i := range list {
		all[i] = *measured(&list[i])
	}
	if err := base.GatherPieces(ctx, o, all, len(all), func(i int) int { return i }); err != nil {
		return err
	}
	for i, v := range all {
		*measured(&list[i]) = v
	}
	return nil
}

// place returns where the point of row i is in its cell.
func (r *gridRepair) place(i int) (place [lattice.MaxAxes]float64) {
	for a := range r.op.Lattice.D {
		var v [1]float64
		r.p.Column(v[:], r.op.Cells.Order[i:i+1], a)
		_, place[a] = r.op.Lattice.Locate(a, v[0])
	}
	return place
}

// measure finds the radius of a row.
func (r *gridRepair) measure(row *repairRow, tolerance float64) {
	l := r.op.Lattice
	least, most := 0.0, 0.0 // bounds of the degree
	for _, c := range r.cells {
		others := float64(c.hi - c.lo)
		if c.at == row.at {
			others--
		}
		near, far := l.Between2(row.at, row.place, c.at)
		least += others * math.Exp(-far/2)
		most += others * math.Exp(-near/2)
	}
	row.lost = most
	if least > distance.MinDegree {
		row.lost = tolerance * least / (4 * float64(r.op.N()))
		row.radius2 = -2 * math.Log(row.lost)
	}
}

// reaches reports whether points of a cell belong to the row.
func (r *gridRepair) reaches(row *repairRow, cell [lattice.MaxAxes]int) bool {
	if row.radius2 == 0 {
		return false
	}
	least, _ := r.op.Lattice.Between2(row.at, row.place, cell)
	return least <= row.radius2
}

// others visits the rows out of the grid whose radius reaches this row, while the radius of
// this row does not reach them.
func (r *gridRepair) others(row *repairRow, visit func(j int)) {
	for i := range r.rows {
		other := &r.rows[i]
		if other.row != row.row && !r.reaches(row, other.at) && r.reaches(other, row.at) {
			visit(other.row)
		}
	}
}

// count sets the number of entries of a row.
func (r *gridRepair) count(row *repairRow) {
	row.entries = 0
	for _, c := range r.cells {
		if r.reaches(row, c.at) {
			row.entries += c.hi - c.lo
			if c.at == row.at {
				row.entries--
			}
		}
	}
	r.others(row, func(int) { row.entries++ })
}

// weigh writes the entries of a row.
func (r *gridRepair) weigh(row *repairRow, ind []uint32, val []float64) {
	order, at := r.op.Cells.Order, 0
	put := func(j int) {
		ind[at], val[at] = uint32(j), r.b.Weight(r.p.Dist2(int(order[row.row]), int(order[j])))
		at++
	}
	for _, c := range r.cells {
		if !r.reaches(row, c.at) {
			continue
		}
		for j := c.lo; j < c.hi; j++ {
			if j != row.row {
				put(j)
			}
		}
	}
	r.others(row, put)
}

// store makes the direct rows: the entries of the rows out of the grid, and those of
// their partners in it.
func (r *gridRepair) store(starts []int, ind []uint32, val []float64) {
	op := r.op
	counts := make([]int, op.N()+1)
	for i := range r.rows {
		counts[r.rows[i].row] = r.rows[i].entries
		for _, j := range ind[starts[i]:starts[i+1]] {
			if !op.Out[j] {
				counts[j]++
			}
		}
	}
	d := directRows{ptr: []int{0}}
	for i, count := range counts {
		if count > 0 {
			d.Rows, d.ptr = append(d.Rows, uint32(i)), append(d.ptr, d.ptr[len(d.ptr)-1]+count)
			counts[i] = d.ptr[len(d.ptr)-2] // where its next entry goes
		}
	}
	nnz := d.ptr[len(d.ptr)-1]
	d.ind, d.val = make([]uint32, nnz), make([]float64, nnz)
	put := func(i int, j uint32, w float64) {
		d.ind[counts[i]], d.val[counts[i]] = j, w
		counts[i]++
	}
	for i := range r.rows {
		row := r.rows[i].row
		for e := starts[i]; e < starts[i+1]; e++ {
			put(row, ind[e], val[e])
			if !op.Out[ind[e]] {
				put(int(ind[e]), uint32(row), val[e])
			}
		}
	}
	op.Direct = d
}

// certify bounds a repaired row, given its degree, and returns the degree it has.
func (r *gridRepair) certify(at int, degree float64) float64 {
	op, row := r.op, &r.rows[at]
	if degree < distance.MinDegree {
		op.Cert.Row[row.row] = float32(math.Inf(1))
		return 0
	}
	n := float64(op.N())
	// Direct weights are exp(-y) with a relative error of y (d + 4) 2^-53, and y is
	// below 750; sums of up to n of them.
	eta := n*row.lost/degree + 750*float64(op.Lattice.D+4)*0x1p-53 + n*0x1p-52
	op.Cert.Row[row.row] = rows.RoundUp(eta * (1 + 1e-9))
	op.Cert.Rounding = max(op.Cert.Rounding, n*0x1p-53)
	return degree
}
