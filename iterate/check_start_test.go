package iterate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The row that an error names is the row of the start, for any order of the operator.
func TestErrorsNameTheRowOfTheStart(t *testing.T) {
	const n, row = 400, 100
	p := newMatrix(n, 2)
	for i := range p.Data {
		p.Data[i] = float32(i * 7919 % 1009)
	}
	op, err := kernel.Build(t.Context(), p, kernel.Sigma(50), &kernel.Options{Operator: "csr"})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if order := op.Order(); order == nil || order[row] == row {
		t.Fatal("the operator keeps the order of the rows")
	}
	for _, c := range []struct {
		value float64
		want  error
	}{{math.NaN(), points.ErrNonFinite}, {math.Inf(-1), points.ErrNonFinite}, {-2e30, ErrDiverged}, {math.MaxFloat32, ErrDiverged}} {
		x := newMatrix(n, 2)
		for i := range x.Data {
			x.Data[i] = float32(i % 13)
		}
		x.Data[2*row+1] = float32(c.value)
		_, err := Run(t.Context(), op, x, kernel.Step{Form: kernel.Attract}, nil, nil)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), "row 101, column 2") || strings.Count(err.Error(), "iterate: ") != 1 {
			t.Errorf("%g: %v", c.value, err)
		}
	}
}
