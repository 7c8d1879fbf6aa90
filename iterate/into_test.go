package iterate

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// A run that writes elsewhere gives the same bits and leaves its start unchanged, both in
// the order of the points.
func TestRunInto(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	p, start := randomMatrix(rng, 300, 2), randomMatrix(rng, 300, 3)
	op, err := kernel.Build(t.Context(), p, kernel.Sigma(0.2), &kernel.Options{Operator: "csr"})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	if op.Order() == nil {
		t.Fatal("the operator keeps the order of the points")
	}
	want := blas32.General{Rows: 300, Cols: 3, Stride: 3, Data: slices.Clone(start.Data)}
	if _, err := Run(t.Context(), op, want, kernel.Step{}, &Settings{Steps: 3}, nil); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(start.Data)
	into := blas32.General{Rows: 300, Cols: 3, Stride: 5, Data: slices.Repeat([]float32{7}, 5*300)}
	if _, err := Run(t.Context(), op, start, kernel.Step{}, &Settings{Steps: 3, Into: into}, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(start.Data, before) {
		t.Error("the start has changed")
	}
	for i := range 300 {
		if !slices.Equal(row(into, i), row(want, i)) || into.Data[5*i+3] != 7 || into.Data[5*i+4] != 7 {
			t.Fatalf("row %d: %v, want %v", i, into.Data[5*i:5*i+5], row(want, i))
		}
	}
	if _, err := Run(t.Context(), op, start, kernel.Step{}, &Settings{Steps: 3, Into: start}, nil); err != nil || !slices.Equal(start.Data, want.Data) {
		t.Errorf("into the start: other bits, or %v", err)
	}
}

func TestRunIntoRefusesAndKeeps(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x, into := newMatrix(4, 1), blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 2, 3, 4}}
	if _, err := Run(ctx, &slow{n: 4, cancel: cancel, after: 3}, x, kernel.Step{}, &Settings{Steps: 10, Into: into}, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
	for name, wrong := range map[string]blas32.General{
		"rows":    {Rows: 3, Cols: 1, Stride: 1, Data: into.Data},
		"columns": {Rows: 4, Cols: 2, Stride: 2, Data: make([]float32, 8)},
		"short":   {Rows: 4, Cols: 1, Stride: 1, Data: into.Data[:3]},
	} {
		if _, err := Run(t.Context(), &slow{n: 4}, x, kernel.Step{}, &Settings{Into: wrong}, nil); !errors.Is(err, kernel.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !slices.Equal(into.Data, []float32{1, 2, 3, 4}) || !slices.Equal(x.Data, make([]float32, 4)) {
		t.Errorf("written on an error: %v, start %v", into.Data, x.Data)
	}
}
