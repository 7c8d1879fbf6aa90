package privatemail

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// The function of a context gets the progress of calls with that context, and the function
// of the Engine that of all others.
func TestProgressOfACall(t *testing.T) {
	x := blas32.General{Rows: 60, Cols: 2, Stride: 2, Data: make([]float32, 120)}
	for i := range x.Data {
		x.Data[i] = float32(i*i%97) / 97
	}
	var all, own int
	e := engine(t, WithProgress(func(Progress) { all++ }))
	s := &Settings{Graph: Graph{MeanNeighbours: 5}, Form: kernel.Attract}
	calls := map[string]func(ctx context.Context) error{
		"embed": func(ctx context.Context) error { _, err := e.Embed(ctx, x, nil, s); return err },
		"converge": func(ctx context.Context) error {
			_, err := e.Converge(ctx, x, nil, &ConvergeSettings{Graph: s.Graph})
			return err
		},
		"map": func(ctx context.Context) error { _, err := e.Map(ctx, x, &MapSettings{Graph: s.Graph}); return err },
	}
	for name, call := range calls {
		all, own = 0, 0
		ctx := ReportProgress(t.Context(), func(Progress) { own++ })
		if err := call(ctx); err != nil || own == 0 || all != 0 {
			t.Errorf("%s: %v; told %d of it, and the engine's function %d", name, err, own, all)
		}
		own = 0
		if err := call(t.Context()); err != nil || own != 0 || all == 0 {
			t.Errorf("%s without a function: %v; told %d, the engine's function %d", name, err, own, all)
		}
		all = 0
		if err := call(ReportProgress(t.Context(), nil)); err != nil || all != 0 {
			t.Errorf("%s with nobody: %v; the engine's function was told %d times", name, err, all)
		}
	}
}
