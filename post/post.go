// Package post takes a release further: it rebuilds the graph from the released
// points and takes the later steps of the iteration.
//
//	X_1 = Q + Step Grid                                   (the release)
//	X_t = X_{t-1} + 1/2 Diag(L)^+ (alpha L_Y - L) X_{t-1},  L the Laplacian of X_1
//
// Whatever is computed from a release and public numbers alone costs no privacy:
// differential privacy is kept by post-processing. This package keeps to that by
// what it can reach. Its functions take a release and labels declared public,
// and it imports neither the mechanism nor anything that reads files.
//
// The label Laplacian L_Y is the one way a private value could come back in.
// Labels therefore enter only as release.PublicLabels, and the mode named when
// the release was made decides: public labels are given by the caller, dropped
// ones may not be, randomised ones are in the release.
package post

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// ErrLabelMode reports labels that the release has no use for, or of another
// shape than it has.
var ErrLabelMode = errors.New("labels do not fit the release")

// ErrScale reports released numbers beyond float32 (Continue) or float64 (Points).
var ErrScale = errors.New("released numbers are out of range")

// Settings say how to go on. The zero value of every field means its default.
type Settings struct {
	// Bandwidth of the Gaussian weights between released points. Default: that
	// of the first step, as in the paper, which suits only a start Q of its
	// size: far below it every weight is 1 and the graph carries nothing.
	Bandwidth kernel.Bandwidth
	// MeanDegree asks instead for the bandwidth at which rows have this many
	// neighbours on average.
	MeanDegree float64
	// CutoffWeight, Tolerance, Operator and Isolated are those of
	// privatemail.Settings.
	CutoffWeight float64
	Tolerance    float64
	Operator     string
	Isolated     kernel.IsolatedPolicy

	// Alpha, if not nil, replaces the coefficient of the first step. Without
	// labels there is no label term, whatever it is.
	Alpha *float64
	// Steps is the number of further steps. Default 4.
	Steps int
	// StopTolerance and Normalize are those of privatemail.Settings.
	StopTolerance float64
	Normalize     iterate.Normalization

	// Workers share the work, Kernels do its inner loops, BudgetBytes limits
	// what is taken, Progress is told of long work. Defaults: the caller alone,
	// the best kernels there are, three quarters of what the machine has
	// available, nobody.
	Workers     *par.Workers
	Kernels     *simd.Kernels
	BudgetBytes int64
	Progress    func(stage string, done, total int)
}

// An Embedding is the outcome of Continue, the same type as
// privatemail.Embedding.
type Embedding = pipeline.Embedding

// Points returns the released matrix Q + Step Grid, or ErrScale where float64 does
// not hold it.
func Points(ctx context.Context, r *release.Release) (*mat.Dense, error) {
	if err := check(r); err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	q, err := points(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	return mat.NewDense(q.Rows, q.Cols, q.Data), nil
}

// check refuses a release that is none, which may come from anywhere.
func check(r *release.Release) error {
	if r == nil {
		return fmt.Errorf("%w: there is none", release.ErrRelease)
	}
	return r.Check()
}

// points is Points of a release that was checked.
func points(ctx context.Context, r *release.Release) (blas64.General, error) {
	q, err := iterate.RandomStart(ctx, r.Rows, r.Columns, r.Query.Seed, r.Query.SigmaQ)
	if err != nil {
		return q, err
	}
	for i, v := range r.Grid {
		if q.Data[i] += float64(v) * r.Step; math.IsInf(q.Data[i], 0) {
			return q, fmt.Errorf("%w: row %d is beyond float64", ErrScale, i/r.Columns)
		}
	}
	return q, nil
}

// Continue rebuilds the graph from the released points and takes further steps.
// labels may be nil: the label term is then left out, or made from the
// randomised labels of the release. The embedding is centred; a shift of all
// rows changes neither the graph nor the steps.
//
// Errors: *release.Error, release.ErrRelease for none, ErrLabelMode, ErrScale,
// iterate.ErrSettings, kernel.ErrNonFinite for an Alpha that is no number,
// kernel.ErrBandwidth, ErrLabels, ErrTable, ErrOperator, ErrTolerance, ErrIsolated and
// ErrMemory, iterate.ErrDiverged, and that of ctx.
func Continue(ctx context.Context, r *release.Release, labels *release.PublicLabels, s *Settings) (*Embedding, error) {
	out, err := embed(ctx, r, labels, s)
	if err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	return out, nil
}

func embed(ctx context.Context, r *release.Release, labels *release.PublicLabels, s *Settings) (*Embedding, error) {
	if s == nil {
		s = new(Settings)
	}
	reach := pipeline.Reach{Bandwidth: s.Bandwidth, MeanDegree: s.MeanDegree, CutoffWeight: s.CutoffWeight}
	if err := reach.Check(); err != nil {
		return nil, err
	}
	steps := s.Steps
	switch {
	case steps < 0:
		return nil, fmt.Errorf("%w: %d steps", iterate.ErrSettings, steps)
	case steps == 0:
		steps = 4
	}
	run := &iterate.Settings{Steps: steps, Tolerance: s.StopTolerance, Normalize: s.Normalize, Workers: s.Workers}
	if err := run.Check(); err != nil {
		return nil, err
	}
	if s.Progress != nil {
		run.Progress = func(record iterate.Record) { s.Progress("steps", record.Step, steps) }
	}
	if err := check(r); err != nil {
		return nil, err
	}
	step, err := stepOf(r, labels, s)
	if err != nil {
		return nil, err
	}
	o := &kernel.Options{
		Tolerance: s.Tolerance, Isolated: s.Isolated, Operator: s.Operator, Steps: steps, Columns: r.Columns,
		Workers: s.Workers, Kernels: s.Kernels, Progress: s.Progress,
	}
	if o.BudgetBytes, err = rest(s.BudgetBytes, r, step.Labels); err != nil {
		return nil, err
	}
	released, err := points(ctx, r)
	if err != nil {
		return nil, err
	}
	x, err := centred(released)
	if err != nil {
		return nil, err
	}
	if reach.Bandwidth == (kernel.Bandwidth{}) {
		reach.Bandwidth = kernel.Sigma(r.Query.Sigma)
	}
	opened, err := kernel.Open(x, o)
	if err != nil {
		return nil, err
	}
	b, err := reach.Settle(ctx, opened, o)
	if err != nil {
		return nil, err
	}
	start := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: slices.Clone(x.Data)}
	return pipeline.Embed(ctx, opened, b, o, start, step, run)
}

// stepOf returns the step with the labels the mode of the release allows.
func stepOf(r *release.Release, labels *release.PublicLabels, s *Settings) (kernel.Step, error) {
	step := kernel.Step{Form: kernel.Paper, Coefficient: r.Query.Alpha}
	if s.Alpha != nil {
		step.Coefficient = *s.Alpha
	}
	switch r.Labels.Mode {
	case release.ModeDropped:
		if labels != nil {
			return step, fmt.Errorf("%w: they were dropped when it was made", ErrLabelMode)
		}
	case release.ModeRandomised:
		if labels != nil {
			return step, fmt.Errorf("%w: it brings its own, randomised", ErrLabelMode)
		}
		var err error
		if labels, err = r.PublicLabels(); err != nil {
			return step, err
		}
	}
	if labels == nil {
		step.Coefficient = 0
		return step, nil
	}
	if labels.Len() != r.Rows || labels.Classes() > r.Query.Classes {
		return step, fmt.Errorf("%w: %d labels of %d classes for %d rows of %d classes", ErrLabelMode, labels.Len(), labels.Classes(), r.Rows, r.Query.Classes)
	}
	table, err := kernel.TableByName(r.Query.Table, kernel.Sigma(r.Query.Sigma))
	if err != nil {
		return step, err
	}
	if step.Labels, err = kernel.NewLabels(labels.Values(), table, false); err != nil {
		return step, err
	}
	return step, step.Check(r.Rows)
}

// centred subtracts the column means in float64, where they do not cost the
// digits that tell the rows apart, before the points become float32.
func centred(raw blas64.General) (blas32.General, error) {
	mean := make([]float64, raw.Cols)
	for i, v := range raw.Data {
		mean[i%raw.Cols] += v / float64(raw.Rows)
	}
	x := blas32.General{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Cols, Data: make([]float32, len(raw.Data))}
	largest := 0.0
	for i, v := range raw.Data {
		v -= mean[i%raw.Cols]
		largest = max(largest, math.Abs(v))
		x.Data[i] = float32(v)
	}
	if !(largest >= 1e-30 && largest <= 1e30) {
		return x, fmt.Errorf("%w: %.3g is the largest, want 1e-30 to 1e30", ErrScale, largest)
	}
	return x, nil
}

// rest returns what the points, the iterates, the result and the class sums
// leave of the budget.
func rest(budget int64, r *release.Release, labels *kernel.Labels) (int64, error) {
	if budget == 0 {
		budget = mem.Budget()
	}
	own := float64(r.Rows)*float64(r.Columns)*(8+8+4+4+4+4+8) + pipeline.LabelBytes(r.Rows, r.Columns, labels)
	return pipeline.Reserve(budget, own, fmt.Sprintf("embedding of %d x %d", r.Rows, r.Columns))
}
