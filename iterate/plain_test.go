package iterate

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// plainStep sets dst to the iterate after x and returns v(x), both by their
// definitions: W x from Operator.Apply, L_Y x from Labels, one pass for each
// term. Rows of x, dst and step.Labels are in the operator's order. The fused
// steps are tested against it.
func plainStep(ctx context.Context, op kernel.Operator, dst, x blas32.General, step kernel.Step) (float64, error) {
	wx := newMatrix(x.Rows, x.Cols)
	if err := op.Apply(ctx, wx, x); err != nil {
		return 0, err
	}
	wide := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols}
	for i := range x.Rows {
		for _, v := range row(x, i) {
			wide.Data = append(wide.Data, float64(v))
		}
	}
	lx := wide // L_Y x
	lx.Data = make([]float64, len(wide.Data))
	if step.Labels != nil {
		if err := step.Labels.LaplacianTo64(lx, wide); err != nil {
			return 0, err
		}
	}
	mean := make([]float64, x.Cols)
	meanDegree := 0.0
	for i, d := range op.Degrees() {
		meanDegree += d / float64(x.Rows)
		for c, v := range row(x, i) {
			mean[c] += float64(v) / float64(x.Rows)
		}
	}
	objective := 0.0
	for i, d := range op.Degrees() {
		for c, v := range row(x, i) {
			value, label := float64(v), lx.Data[i*lx.Stride+c]
			spring := d*value - float64(row(wx, i)[c]) // (L_X x)_i
			diagonal, gradient := d, spring-step.Coefficient*label
			if step.Form == kernel.Attract {
				diagonal, gradient = 0, step.Coefficient*label
				if meanDegree > 0 {
					diagonal, gradient = d/meanDegree, gradient+spring/meanDegree
				}
				if step.Labels != nil {
					diagonal += step.Coefficient * step.Labels.Degree(i)
				}
			}
			objective += (value - mean[c]) * gradient
			if diagonal > 0 {
				value -= 0.5 * gradient / diagonal
			}
			row(dst, i)[c] = float32(value)
		}
	}
	return objective, nil
}
