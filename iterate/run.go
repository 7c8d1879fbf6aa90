package iterate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Run takes steps from the start x, rows in the order of the points, and
// leaves the last iterate in x, or in Settings.Into. step.Labels are in the order of the
// points too. On an error, including a cancelled context, both are unchanged, unless
// Settings.Overwrite allows otherwise.
//
// With a nil ws the run allocates its memory. With a Workspace, repeated runs of
// the same size reuse it.
//
// Where ranks share the operator, all of them call Run with the same arguments, and each
// gets the whole last iterate and the same records.
//
// Errors: kernel.ErrOption, kernel.ErrShape, kernel.ErrNonFinite, those of kernel.Step.Check,
// ErrDiverged, those of State.Check and of Settings.Checkpoint, and the error of ctx.
func Run(ctx context.Context, op kernel.Operator, x blas32.General, step kernel.Step, settings *Settings, ws *Workspace) (*Result, error) {
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	if ws == nil {
		ws = new(Workspace)
	}
	to := x
	if s.Into.Data != nil {
		if to = s.Into; points.CheckSize(to, x.Rows, x.Cols) != nil {
			return nil, fmt.Errorf("iterate: %w: into %d x %d for a start of %d x %d", kernel.ErrShape, to.Rows, to.Cols, x.Rows, x.Cols)
		}
	}
	if err := points.CheckStart(x); err != nil {
		return nil, fmt.Errorf("iterate: %w", err)
	}
	if s.Overwrite {
		return ws.runByColumns(ctx, op, x, to, step, s)
	}
	result := new(Result)
	if s.From == nil {
		err = ws.begin(op, x, step, s)
	} else {
		err = ws.beginFrom(op, x, step, s)
		result.Trace = slices.Clone(s.From.Trace)
	}
	if err != nil {
		return nil, err
	}
	for t := len(result.Trace) + 1; t <= s.Steps; t++ {
		record, err := ws.advance(ctx, t)
		if err != nil {
			return nil, err
		}
		result.Trace = append(result.Trace, record)
		if s.Progress != nil {
			s.Progress(record)
		}
		s.taken(t, s.Steps)
		if s.Tolerance > 0 && record.Change <= s.Tolerance {
			result.Status = Converged
			break
		}
		if err := ws.checkpoint(ctx, result.Trace); err != nil {
			return nil, err
		}
	}
	if err := ws.copyOut(ctx, to); err != nil {
		return nil, err
	}
	return result, nil
}

// A Workspace holds the memory of a run: two iterates in the operator's order,
// the labels in that order, and the sums passed from step to step. The zero
// value is ready for use. Concurrent runs need one each.
type Workspace struct {
	op       kernel.Operator
	settings Settings
	step     kernel.Step
	given    *kernel.Labels // step.Labels in the caller's order
	stats    kernel.Stats
	x, next  blas32.General
	mean     []float64 // of the iterate before the step
	rescale  rescale
}

// begin checks a start and copies it into the operator's order.
func (ws *Workspace) begin(op kernel.Operator, x blas32.General, step kernel.Step, s Settings) error {
	if x.Rows != op.N() || x.Cols < 1 {
		return fmt.Errorf("iterate: %w: a start of %d x %d for %d points", kernel.ErrShape, x.Rows, x.Cols, op.N())
	}
	if err := step.Check(op.N()); err != nil {
		return fmt.Errorf("iterate: %w", err)
	}
	if step.Labels != nil && (ws.op != op || ws.given != step.Labels) {
		labels, err := step.Labels.Permute(op.Order())
		if err != nil {
			return fmt.Errorf("iterate: %w", err)
		}
		ws.given, ws.step.Labels = step.Labels, labels
	}
	if step.Labels == nil {
		ws.given, ws.step.Labels = nil, nil
	}
	ws.op, ws.settings = op, s
	ws.step.Form, ws.step.Coefficient = step.Form, step.Coefficient
	ws.x, ws.next = resize(ws.x, x.Rows, x.Cols), resize(ws.next, x.Rows, x.Cols)
	order := op.Order()
	for i := range x.Rows {
		from := i
		if order != nil {
			from = int(order[i])
		}
		copy(row(ws.x, i), row(x, from))
	}
	if err := ws.stats.Gather(ws.x, ws.step.Labels); err != nil {
		return fmt.Errorf("iterate: start: %w", err)
	}
	return nil
}

// advance takes step t. It allocates nothing after its first call.
func (ws *Workspace) advance(ctx context.Context, t int) (Record, error) {
	ws.mean = append(ws.mean[:0], ws.stats.Mean...)
	sums, err := ws.take(ctx, t)
	if err != nil {
		return Record{}, err
	}
	record := sums.record(t, ws.x.Rows)
	if ws.settings.Normalize != None {
		record.Change = ws.normalizedChange(sums.before)
		if err := ws.normalize(ctx); err != nil {
			return Record{}, err
		}
	}
	return record, nil
}

// take takes step t and returns its sums, before normalising.
func (ws *Workspace) take(ctx context.Context, t int) (stepSums, error) {
	before := ws.stats.Spread
	if err := ws.op.Step(ctx, ws.next, ws.x, &ws.step, &ws.stats); err != nil {
		return stepSums{}, fmt.Errorf("iterate: step %d: %w", t, err)
	}
	if !(ws.stats.MaxAbs <= points.LargestEntry) {
		return stepSums{}, &divergedError{Step: t}
	}
	ws.x, ws.next = ws.next, ws.x
	return stepSums{objective: ws.stats.Objective, change: ws.stats.Change, before: before, spread: ws.stats.Spread}, nil
}

// stepSums are the sums of a step over rows and columns.
type stepSums struct {
	objective, change float64
	before, spread    float64 // of the iterate before the step, and after it
}

func (s *stepSums) add(other stepSums) {
	s.objective += other.objective
	s.change += other.change
	s.before += other.before
	s.spread += other.spread
}

// record returns the record of step t for that many rows.
func (s *stepSums) record(t, rows int) Record {
	r := Record{Step: t, Objective: s.objective, Scale: math.Sqrt(s.spread / float64(rows))}
	if s.change > 0 {
		r.Change = math.Sqrt(s.change / s.before)
	}
	return r
}

// normalizedChange returns the relative change from the iterate before the
// step, whose mean is ws.mean, to the one after it and after normalising. No
// pass over the iterates is needed: with a and b the two, centred or not, s the
// coming scale and |b - a|^2 known,
//
//	|s b - a|^2 = s^2 |b|^2 - 2 s a.b + |a|^2,   2 a.b = |a|^2 + |b|^2 - |b - a|^2.
func (ws *Workspace) normalizedChange(before float64) float64 {
	n := float64(ws.x.Rows)
	a2, b2, change2 := before, ws.stats.Spread, ws.stats.Change
	for c, m := range ws.stats.Mean {
		if ws.settings.Normalize == Centred {
			change2 -= n * (m - ws.mean[c]) * (m - ws.mean[c])
		} else {
			a2 += n * ws.mean[c] * ws.mean[c]
			b2 += n * m * m
		}
	}
	if before == 0 || b2 == 0 {
		return 0
	}
	s := math.Sqrt(n / b2)
	return math.Sqrt(max(s*s*b2-s*(a2+b2-change2)+a2, 0) / before)
}

// normalize rescales the iterate as the settings say. A zero iterate stays
// zero.
func (ws *Workspace) normalize(ctx context.Context) error {
	n, norm2, r := float64(ws.x.Rows), ws.stats.Spread, &ws.rescale
	r.shift = r.shift[:0]
	for _, m := range ws.stats.Mean {
		if ws.settings.Normalize == Centred {
			r.shift = append(r.shift, m)
		} else {
			r.shift = append(r.shift, 0)
			norm2 += n * m * m
		}
	}
	if norm2 == 0 {
		return nil
	}
	r.scale = math.Sqrt(n / norm2)
	r.lo, r.hi = ws.op.Part()
	r.x = ws.x
	if err := ws.settings.Workers.Do(ctx, split.Blocks(r.hi-r.lo, rescaleRows), r); err != nil {
		return fmt.Errorf("iterate: normalise: %w", err)
	}
	return ws.stats.Transform(r.shift, r.scale)
}

// rescale maps rows lo to hi-1 of x to (x - shift) scale. It is a task and not a closure so that
// a step allocates nothing.
type rescale struct {
	x      blas32.General
	lo, hi int
	shift  []float64
	scale  float64
}

const rescaleRows = 4096

// Run does one piece of the rows.
func (r *rescale) Run(_, piece int) {
	lo, hi := split.Block(piece, r.hi-r.lo, rescaleRows)
	for i := lo; i < hi; i++ {
		values := row(r.x, r.lo+i)
		for c, v := range values {
			values[c] = float32((float64(v) - r.shift[c]) * r.scale)
		}
	}
}

// copyOut copies the iterate, including the rows of other ranks, to dst in the order of the
// points.
func (ws *Workspace) copyOut(ctx context.Context, dst blas32.General) error {
	if err := ws.op.Complete(ctx, ws.x); err != nil {
		return fmt.Errorf("iterate: gather rows: %w", err)
	}
	order := ws.op.Order()
	for i := range ws.x.Rows {
		to := i
		if order != nil {
			to = int(order[i])
		}
		copy(row(dst, to), row(ws.x, i))
	}
	return nil
}

// resize returns a matrix of the given size, in the memory of m where that is large enough.
// Its values are arbitrary.
func resize(m blas32.General, rows, cols int) blas32.General {
	if cap(m.Data) < rows*cols {
		return newMatrix(rows, cols)
	}
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: m.Data[:rows*cols]}
}

func newMatrix(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

func row(m blas32.General, i int) []float32 { return m.Data[i*m.Stride:][:m.Cols] }
