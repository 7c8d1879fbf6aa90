package kernel

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// Rows that change once they are opened break a promise. What comes of it is an error or a
// wrong graph, and no panic.
func TestChangingRowsDoNotPanic(t *testing.T) {
	for _, name := range []string{"csr", "grid", "poly", ""} {
		for _, value := range []float64{math.NaN(), math.Inf(1), -3e38} {
			x := pointtest.Make("uniform", 1500, 2, 1)
			o := &Options{Operator: name, Tolerance: 0.1}
			p, err := Open(x, o)
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.Data {
				x.Data[i] = float32(value)
			}
			op, err := p.Build(t.Context(), Sigma(0.1), o)
			if err == nil {
				op.Close()
			}
		}
	}
}

// Points that nobody has opened lead to a panic, which comes out as an error.
func TestPanicsAreErrors(t *testing.T) {
	p := &Points{turn: make(chan struct{}, 1)}
	_, build := p.Build(t.Context(), Sigma(1), nil)
	_, plan := p.Plan(t.Context(), Sigma(1), nil)
	_, _, bandwidth := p.BandwidthForDegree(t.Context(), 1, 0, nil)
	for _, err := range []error{build, plan, bandwidth} {
		if e := (*par.PanicError)(nil); !errors.As(err, &e) {
			t.Errorf("no panic: %v", err)
		}
	}
}
