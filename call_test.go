package privatemail

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// calls are the methods that do work, each without required arguments.
func calls(ctx context.Context, e *Engine, x blas32.General) map[string]func() error {
	return map[string]func() error{
		"embed":    func() error { _, err := e.Embed(ctx, x, nil, nil); return err },
		"plan":     func() error { _, err := e.Plan(ctx, x, nil); return err },
		"converge": func() error { _, err := e.Converge(ctx, x, nil, nil); return err },
		"graph":    func() error { _, err := e.NeighbourGraph(ctx, x, nil); return err },
		"continue": func() error { _, err := e.Continue(ctx, nil, nil, nil); return err },
		"privatize": func() error {
			_, err := e.Privatize(ctx, x, nil, nil)
			_, err64 := e.Privatize64(ctx, blas64.General{}, nil, nil)
			return errors.Join(err, err64)
		},
	}
}

// Every error names its call once, and a closed engine gives the same error in all.
func TestErrorsNameTheCall(t *testing.T) {
	x, _ := classes(t, 20, 3)
	e := engine(t)
	for name, do := range calls(t.Context(), e, x) {
		err := do()
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for line := range strings.Lines(err.Error()) {
			if !strings.HasPrefix(line, "privatemail: "+name+": ") || strings.Count(line, "privatemail: ") != 1 {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
	if _, err := Sensitivity(t.Context(), 20, 3, nil); err == nil || !strings.HasPrefix(err.Error(), "privatemail: sensitivity: ") {
		t.Errorf("sensitivity: %v", err)
	}
	e.Close()
	for name, do := range calls(t.Context(), e, x) {
		if err := do(); !errors.Is(err, ErrClosed) || strings.Contains(err.Error(), name) {
			t.Errorf("%s of a closed engine: %v", name, err)
		}
	}
}

// Sizes that no machine has are refused with any memory limit, before make could panic.
func TestSizesBeyondAnyMachine(t *testing.T) {
	x, y := classes(t, 300, 8)
	e := engine(t, WithMaxMemory(math.MaxInt64))
	columns := math.MaxInt / 1024
	rows := max(columns, 1<<28) // of two columns: more than 32 bits of bytes
	s := &Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Dim: columns}
	eigenvectors := &ConvergeSettings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Dim: columns}
	private, _ := paid(t)
	private.Dim = columns
	for name, do := range map[string]func() error{
		"embed":     func() error { _, err := e.Embed(t.Context(), x, y, s); return err },
		"plan":      func() error { _, err := e.Plan(t.Context(), x, s); return err },
		"converge":  func() error { _, err := e.Converge(t.Context(), x, y, eigenvectors); return err },
		"privatize": func() error { _, err := e.Privatize(t.Context(), x, y, private); return err },
		"columns":   func() error { _, err := Sensitivity(t.Context(), 300, 8, private); return err },
		"rows": func() error {
			_, err := Sensitivity(t.Context(), rows, 8, &PrivateSettings{Bandwidth: kernel.Sigma(1)})
			return err
		},
	} {
		if err := do(); !errors.Is(err, kernel.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Missing rows are noticed before anything is drawn for them.
func TestPrivatizeChecksTheShapeFirst(t *testing.T) {
	e := engine(t, WithMaxMemory(1<<20))
	s, ledger := paid(t)
	const rows = 1 << 30 // more than the memory limit holds: the shape comes first
	_, err := e.Privatize(t.Context(), blas32.General{Rows: rows, Cols: 3, Stride: 3}, nil, s)
	_, err64 := e.Privatize64(t.Context(), blas64.General{Rows: rows, Cols: 3, Stride: 2}, nil, s)
	if !errors.Is(err, kernel.ErrShape) || !errors.Is(err64, kernel.ErrShape) {
		t.Errorf("%v, %v", err, err64)
	}
	if sequence, _ := ledger.Head(); sequence != 0 {
		t.Errorf("%d records in the ledger", sequence)
	}
}
