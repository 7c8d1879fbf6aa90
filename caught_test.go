package privatemail

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A call returns a panic as an error that names a possible cause, and the Engine
// still works.
func TestPanicsAreErrors(t *testing.T) {
	x, y := classes(t, 300, 2)
	blow := false
	e := engine(t, WithProgress(func(Progress) {
		if blow {
			panic("progress")
		}
	}))
	err := func() (err error) {
		c, err := e.begin(t.Context(), "embed")
		if err != nil {
			return err
		}
		defer c.end(&err)
		panic("work")
	}()
	if p := (*par.PanicError)(nil); !errors.As(err, &p) || p.Value != "work" || !strings.HasPrefix(err.Error(), "privatemail: embed: par: panic: work; have rows or labels changed") {
		t.Errorf("in the caller: %v", err)
	}
	blow = true
	s := &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Form: kernel.Attract, Coefficient: 1}
	if _, err := e.Embed(t.Context(), x, y, s); !errors.As(err, new(*par.PanicError)) {
		t.Errorf("in a progress function: %v", err)
	}
	blow = false
	if _, err := e.Embed(t.Context(), x, y, s); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Rows that change while they are embedded give an error or a wrong embedding, and no panic.
func TestRowsThatChangeDoNotPanic(t *testing.T) {
	for _, value := range []float64{math.NaN(), math.Inf(1), 3e38} {
		for stage := range 4 {
			x, y := classes(t, 600, 2)
			x.Data = append([]float32(nil), x.Data...)
			calls := 0
			e := engine(t, WithWorkers(1), WithProgress(func(Progress) {
				if calls == stage {
					for i := range x.Data {
						x.Data[i] = float32(value)
					}
				}
				calls++
			}))
			for _, s := range []*Settings{{Graph: Graph{MeanNeighbours: 10}}, {Graph: Graph{Bandwidth: kernel.Sigma(0.5)}}, {Graph: Graph{Bandwidth: kernel.Sigma(0.5), Operator: "grid"}}, {Graph: Graph{Neighbours: 5}}} {
				_, _ = e.Embed(t.Context(), x, y, s)
			}
			e.Close()
			if calls <= stage {
				t.Errorf("%d calls of the progress function: nothing changed", calls)
			}
		}
	}
}

// An invalid start is refused before a graph is built, and the error names its row.
func TestStartIsCheckedFirst(t *testing.T) {
	x, y := classes(t, 3000, 2)
	stages := 0
	e := engine(t, WithProgress(func(Progress) { stages++ }))
	start := blas32.General{Rows: 3000, Cols: 2, Stride: 2, Data: make([]float32, 6000)}
	start.Data[200] = float32(math.NaN())
	s := &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Form: kernel.Attract, Start: start}
	if _, err := e.Embed(t.Context(), x, y, s); !errors.Is(err, kernel.ErrNonFinite) || !strings.Contains(err.Error(), "start: value is not finite: row 101, column 1") || stages > 0 {
		t.Errorf("after %d reports: %v", stages, err)
	}
}
