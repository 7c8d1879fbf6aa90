package kernel

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/simd"
)

// polyFinish turns panels of W x into rows of the next iterate where both are
// float32, with the kernel that csr uses.
type polyFinish struct {
	op     *Poly
	k      int
	tables finishTables
	dst, x rows.View[float32]
	stats  *Stats
	rooms  []simd.StepFinish // of each worker
}

// finisher returns what finishes the rows of a pass in float32, nil for others.
func finisher[E, T rows.Float](pass *polyPass[E, T]) *polyFinish {
	single, ok := any(pass).(*polyPass[float32, float32])
	if !ok {
		return nil
	}
	if single.fast == nil {
		single.fast = &polyFinish{op: single.op, k: single.k, rooms: make([]simd.StepFinish, len(single.rooms))}
	}
	single.fast.dst, single.fast.x = single.dst, single.x
	return single.fast
}

// begin takes over the step that st has begun, and makes room for the classes of
// any chunk, so that no later step allocates.
func (f *polyFinish) begin(st *Stats) {
	f.stats = st
	f.tables.set(st)
	slots := 0
	for i := range st.partials.chunk {
		slots = max(slots, len(st.partials.chunk[i].classes)+1)
	}
	for i := range f.rooms {
		r := &f.rooms[i]
		r.Weight, r.Extra = slices.Grow(r.Weight[:0], slots), slices.Grow(r.Extra[:0], slots)
		r.Target = slices.Grow(r.Target[:0], slots*f.k)
		r.Class = slices.Grow(r.Class[:0], slots*simd.ClassWidth(f.k))
	}
}

func (f *polyFinish) beginChunk(worker, chunk int) {
	f.tables.begin(&f.rooms[worker], &f.stats.partials.chunk[chunk])
}

func (f *polyFinish) rows(worker, chunk, lo, hi int, wx []float32) {
	dst, x := f.dst, f.x
	f.op.frame.kernels.FinishStep(&f.rooms[worker], simd.RowsOf(dst.Data[lo*dst.Stride:], dst.Stride), simd.RowsOf(x.Data[lo*x.Stride:], x.Stride),
		wx, f.op.degrees[lo:hi], f.tables.slots(&f.stats.partials.chunk[chunk], lo, hi))
}

func (f *polyFinish) endChunk(worker, chunk int) {
	f.tables.end(&f.rooms[worker], &f.stats.partials.chunk[chunk])
}

// end lets go of the step.
func (f *polyFinish) end() { f.dst, f.x, f.stats = rows.View[float32]{}, rows.View[float32]{}, nil }
