package privatemail

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// firstStep returns f - Q, in float64 throughout, to be released with noise. No other
// step of the iteration reads private rows.
func (e *Engine) firstStep(ctx context.Context, rows *kernel.UnitRows, labels []int32, plan *privatePlan, o *kernel.Options) (blas64.General, error) {
	step, err := plan.settings.paperStep(labels)
	if err != nil {
		return blas64.General{}, err
	}
	op, err := firstOperator(ctx, rows, plan, o)
	if err != nil {
		return blas64.General{}, err
	}
	defer op.Close()
	q := plan.q
	f := blas64.General{Rows: q.Rows, Cols: q.Cols, Stride: q.Cols, Data: make([]float64, len(q.Data))}
	var stats kernel.Stats
	if err := stats.Gather64(q, step.Labels); err != nil {
		return f, err
	}
	if err := op.Step64(ctx, f, q, &step, &stats); err != nil {
		return f, err
	}
	for i, v := range q.Data { // both are contiguous
		f.Data[i] -= v
	}
	return f, nil
}

// paperStep returns the step in form Paper, with labels when there is a label term.
func (s *PrivateSettings) paperStep(labels []int32) (step kernel.Step, err error) {
	step = kernel.Step{Form: kernel.Paper, Coefficient: s.Alpha}
	if labels == nil || s.Alpha == 0 {
		return step, nil
	}
	table, err := kernel.TableByName(s.Table, s.Bandwidth)
	if err != nil {
		return step, err
	}
	step.Labels, err = kernel.NewLabels(labels, table, false)
	return step, err
}

// firstOptions returns the options of the operator, except its memory.
func (e *Engine) firstOptions(ctx context.Context, s *PrivateSettings) *kernel.Options {
	return &kernel.Options{Steps: 1, Columns: s.Dim, Workers: e.workers, Kernels: e.kernels, Progress: e.report(ctx)}
}

// firstOperator builds the operator of the plan.
func firstOperator(ctx context.Context, rows *kernel.UnitRows, plan *privatePlan, o *kernel.Options) (op kernel.Operator64, err error) {
	s := plan.settings
	switch plan.operator {
	case "background":
		background := plan.query.Operator.(sensitivity.Background)
		op, err := rows.Background(ctx, s.Bandwidth, background.Radius, background.Weight, o)
		if errors.Is(err, kernel.ErrMemory) {
			// The memory it would take is a fact about private rows.
			err = fmt.Errorf("%w: the memory limit is too small for this radius", kernel.ErrMemory)
		}
		return op, err
	case "poly":
		return rows.Poly(ctx, s.Bandwidth, plan.order, o)
	}
	return rows.Dense(ctx, s.Bandwidth, o)
}
