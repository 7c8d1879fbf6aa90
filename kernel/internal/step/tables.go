package step

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// PassTile is the most rows whose products are made before they are used. They stay
// in the second-level cache. Products and the rest of a step wait for different
// things, memory and arithmetic, and every change from one to the other costs: with
// 32 columns tiles of 64 rows take a tenth longer.
const PassTile = 1024

// PassTileRows is the number of rows of a tile of k columns.
func PassTileRows(k int) int { return max(64, min(PassTile, 1<<15/k&^15)) }

// FinishTables are what simd.FinishStep needs of a step, once for all its chunks, and
// what each worker needs of the chunk at hand. csr, pairs and poly finish their rows with
// them where W x and the iterate are float32.
//
// Form Attract is form Paper with its Laplacian divided by the scale: degrees stay, and
// the label term, its part of the diagonal and the objective are divided.
type FinishTables struct {
	f             *finish
	k             int
	scale         float64 // that was divided by
	pull          float64
	weight, extra []float64 // by class, the last for rows without a label
	target        []float64 // by class and column
	none          []uint32  // slots of a tile without labels
	chunk         []Partial // sums of the step
	worker        []simd.StepFinish
}

// Set takes over the step that st has begun. Every worker gets the memory that the chunk
// with the most classes takes, so that no later step allocates, whichever worker takes
// which chunk.
func (t *FinishTables) Set(st *Stats, workers int) {
	f, k := &st.Finish, st.k
	classes := f.labels.classes()
	t.f, t.k, t.scale, t.chunk = f, k, f.scale, st.Partials.Chunk
	if t.worker == nil {
		t.worker = make([]simd.StepFinish, workers)
	}
	slots := 0
	for i := range t.chunk {
		slots = max(slots, len(t.chunk[i].classes)+1)
	}
	for i := range t.worker {
		w := &t.worker[i]
		w.Weight, w.Extra = slices.Grow(w.Weight[:0], slots), slices.Grow(w.Extra[:0], slots)
		w.Target = slices.Grow(w.Target[:0], slots*k)
		w.Class = slices.Grow(w.Class[:0], slots*simd.ClassWidth(k))
	}
	if t.scale == 0 {
		t.scale = 1 // no row has neighbours, and W x is zero
	}
	t.weight, t.extra = resize(t.weight, classes+1), resize(t.extra, classes+1)
	t.target = resize(t.target, (classes+1)*k)
	if t.none == nil {
		t.none = make([]uint32, PassTile)
	}
	t.pull = f.pull / t.scale
	if f.pull == 0 {
		return
	}
	for class := range classes {
		t.weight[class] = f.labels.Weight[class]
		if f.attract {
			t.extra[class] = -t.pull * f.labels.Degree[class]
		}
	}
	copy(t.target, f.target[:classes*k])
}

// Begin sets a worker up for a chunk: its tables have the classes that occur in the
// chunk, in the order of the chunk's partial sums.
func (t *FinishTables) Begin(worker, chunk int) {
	to, p := &t.worker[worker], &t.chunk[chunk]
	to.Mean, to.Pull = t.f.Mean, t.pull
	to.Weight, to.Extra, to.Target = to.Weight[:0], to.Extra[:0], to.Target[:0]
	add := func(class int) {
		to.Weight, to.Extra = append(to.Weight, t.weight[class]), append(to.Extra, t.extra[class])
		to.Target = append(to.Target, t.target[class*t.k:][:t.k]...)
	}
	for _, class := range p.classes {
		add(int(class))
	}
	add(len(t.weight) - 1)
	to.Class = resize(to.Class, len(to.Weight)*simd.ClassWidth(t.k))
	to.Sums = simd.StepSums{}
}

// Rows writes rows lo to hi-1, of one chunk, of the next iterate to dst, given those of
// W x.
func (t *FinishTables) Rows(kernels *simd.Kernels, worker, chunk, lo, hi int, dst, x rows.View[float32], wx []float32) {
	slots, p := t.none[:hi-lo], &t.chunk[chunk]
	if p.slot != nil {
		slots = p.slot[lo-p.first : hi-p.first]
	}
	kernels.FinishStep(&t.worker[worker], simd.RowsOf(dst.Data[lo*dst.Stride:], dst.Stride), simd.RowsOf(x.Data[lo*x.Stride:], x.Stride), wx, t.f.degrees[lo:hi], slots)
}

// End adds the sums of a chunk to those that faint rows have left there. Every row
// is in a slot, so the column sums are those of the slots.
func (t *FinishTables) End(worker, chunk int) {
	from, p := &t.worker[worker], &t.chunk[chunk]
	objective, change, spread, maxAbs := from.Sums.Total()
	p.objective += objective * t.scale
	p.change += change
	p.spread += spread
	p.maxAbs = max(p.maxAbs, maxAbs)
	for slot := range from.Weight {
		for c := range t.k {
			sum := from.ClassSum(slot, c)
			p.Class[slot*t.k+c] += sum
			p.Sums[c] += sum
		}
	}
}

// faintDegree is the degree from which on products of float32 numbers are precise:
// below it those with a weight may be below the normal range. Rows with a smaller
// degree, other than 0, are rare.
const faintDegree = 0x1p-64

// FaintRows returns those of the rows lo to hi-1 that have a faint degree.
func FaintRows(degrees []float64, lo, hi int) (rows []uint32) {
	for i, d := range degrees[lo:hi] {
		if d > 0 && d < faintDegree {
			rows = append(rows, uint32(lo+i))
		}
	}
	return rows
}
