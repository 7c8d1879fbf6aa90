package kernel

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// reserveCases has every operator, and every way to a graph.
func reserveCases() map[string]struct {
	p blas32.General
	b Bandwidth
	o Options
} {
	type c = struct {
		p blas32.General
		b Bandwidth
		o Options
	}
	plane, wide := pointtest.Make("uniform", 3000, 2, 1), pointtest.Make("uniform", 400, 20, 1)
	unit := pointtest.Make("uniform", 400, 20, 1)
	if err := points.NormalizeRows(unit, unit); err != nil {
		panic(err)
	}
	return map[string]c{
		"dense":          {plane, Sigma(0.1), Options{Operator: "dense"}},
		"csr":            {plane, Sigma(0.01), Options{Operator: "csr"}},
		"csr, radius":    {plane, Sigma(0.01), Options{CutoffRadius: 0.04}},
		"csr, repaired":  {plane, Sigma(0.01), Options{CutoffRadius: 0.01, Isolated: Repair}},
		"csr, nearest":   {plane, Gamma(1), Options{Neighbours: 5, SelfTuned: true}},
		"csr, codes":     {wide, Sigma(1), Options{CutoffRadius: 1}},
		"csr, chosen":    {pointtest.Make("uniform", 6000, 8, 1), Sigma(0.1), Options{CutoffRadius: 0.35}},
		"csr, all pairs": {plane, Sigma(3), Options{Operator: "csr"}},
		"pairs":          {plane, Sigma(0.01), Options{Operator: "pairs"}},
		"pairs, radius":  {plane, Sigma(0.01), Options{Operator: "pairs", CutoffRadius: 0.04}},
		"background":     {unit, Sigma(0.3), Options{Operator: "background"}},
		"poly":           {plane, Sigma(3), Options{Operator: "poly"}},
		"grid":           {plane, Sigma(0.1), Options{Operator: "grid"}},
		"any":            {plane, Sigma(0.02), Options{}},
	}
}

// Whatever an operator takes it has asked for, and what it asks for is at least the bound
// that is known without points.
func TestMemoryIsAskedForBeforeItIsTaken(t *testing.T) {
	for name, c := range reserveCases() {
		asked := int64(0)
		o := c.o
		o.Calibration, o.MaxMemory = &Calibration{}, 1<<32
		o.Reserve = func(bytes int64) bool {
			if bytes > o.MaxMemory {
				t.Errorf("%s: asked for %d bytes beyond the memory limit", name, bytes-o.MaxMemory)
			}
			asked = max(asked, bytes)
			return true
		}
		op, err := Build(t.Context(), c.p, c.b, &o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		least, err := o.LeastBytes(c.p.Rows, c.p.Cols)
		if peak := op.Cost().PeakBytes; err != nil || asked < peak || least > asked || least <= 0 {
			t.Errorf("%s: asked for %d bytes, took %d, at least %d, %v", name, asked, peak, least, err)
		}
		op.Close()
		// One byte less than the bound is never enough.
		o.MaxMemory, o.Reserve = least-1, nil
		if _, err := Build(t.Context(), c.p, c.b, &o); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: with less than the least: %v", name, err)
		}
	}
}

// A refusal ends the build, or leaves it as it is where less memory does as well, whichever
// question it answers and although others give the memory back at once: no other operator
// and no other search takes the place of one that would have had its memory later.
func TestRefusedMemoryEndsTheBuild(t *testing.T) {
	for name, c := range reserveCases() {
		o := c.o
		o.Calibration, o.MaxMemory = &Calibration{}, 1<<32
		questions := 0
		o.Reserve = func(int64) bool { questions++; return true }
		whole, err := Build(t.Context(), c.p, c.b, &o)
		if err != nil || questions == 0 {
			t.Fatalf("%s: %d questions, %v", name, questions, err)
		}
		for refused := range questions {
			for _, forever := range []bool{false, true} {
				asked := 0
				o.Reserve = func(int64) bool { asked++; return asked <= refused || asked > refused+1 && !forever }
				op, err := Build(t.Context(), c.p, c.b, &o)
				if !forever && err == nil && op.Name() == whole.Name() && slices.Equal(op.Order(), whole.Order()) && slices.Equal(op.Degrees(), whole.Degrees()) {
					continue
				}
				if op != nil || !base.Denied(err) || !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "others hold") {
					t.Errorf("%s: question %d of %d refused, forever %v: %v", name, refused, questions, forever, err)
				}
			}
		}
	}
}

// Matrix asks for its memory, too.
func TestMatrixAsks(t *testing.T) {
	p := pointtest.Make("uniform", 500, 2, 1)
	allow := true
	op, err := openCSR(t.Context(), p, Sigma(0.05), &Options{CutoffRadius: 0.1, Reserve: func(int64) bool { return allow }})
	if err != nil {
		t.Fatal(err)
	}
	allow = false
	if _, err := op.Matrix(t.Context()); !base.Denied(err) {
		t.Errorf("%v", err)
	}
	allow = true
	if _, err := op.Matrix(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLeastBytes(t *testing.T) {
	if _, err := (&Options{Tolerance: -1}).LeastBytes(10, 2); !errors.Is(err, ErrOption) {
		t.Errorf("%v", err)
	}
	if least, err := (&Options{Operator: "pairs", CutoffRadius: 1}).LeastBytes(10, 20); err != nil || least != 0 {
		t.Errorf("an operator that cannot serve: %d, %v", least, err)
	}
	small, _ := (&Options{CutoffRadius: 1}).LeastBytes(1000, 2)
	large, _ := (&Options{CutoffRadius: 1}).LeastBytes(100_000_000, 2)
	if small <= 0 || large < 100_000_000*40 || large > 100_000_000*120 {
		t.Errorf("%d bytes for a thousand points, %d for a hundred million", small, large)
	}
}
