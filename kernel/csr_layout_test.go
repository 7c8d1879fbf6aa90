package kernel

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Compact weights change no bit of an operator; weights of 16 bits change it
// within the certificate.
func TestLayoutsOfWeights(t *testing.T) {
	ctx := context.Background()
	p, err := synth.Uniform(2000, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	build := func(layout sparse.Layout) *truncated.CSR {
		op, err := as[*truncated.CSR](openCSR(ctx, p, Sigma(0.02), &Options{Layout: layout, Tolerance: 1e-2}))
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
	plain := build(sparse.Auto)
	for _, layout := range []sparse.Layout{sparse.Compact, sparse.Compact16} {
		op := build(layout)
		if op.Weights.Layout() != layout || op.Costs.ResidentBytes >= plain.Costs.ResidentBytes {
			t.Errorf("%v: %v, %d bytes of %d", layout, op.Weights.Layout(), op.Costs.ResidentBytes, plain.Costs.ResidentBytes)
		}
		var a, b sparse.RowBuffer
		for i := range op.Weights.Rows() {
			_, val := op.Weights.Row(i, &a)
			_, want := plain.Weights.Row(i, &b)
			off := 0.0
			for e, w := range want {
				off += math.Abs(float64(val[e]) - float64(w))
			}
			// The certificate of the plain weights has room for itself.
			if room := (op.Cert.Eta(i) - 0.9*plain.Cert.Eta(i)) * op.RowSums[i]; off > room {
				t.Fatalf("%v: row %d is off by %g, certified for %g", layout, i, off, room)
			}
			if layout == sparse.Compact && (off != 0 || op.RowSums[i] != plain.RowSums[i]) {
				t.Fatalf("row %d differs", i)
			}
		}
		if layout == sparse.Compact16 && !(op.Cert.EntryRel >= 0x1p-11) {
			t.Errorf("relative error %g", op.Cert.EntryRel)
		}
	}
	if _, err := openCSR(ctx, p, Sigma(0.02), &Options{Layout: 9}); err == nil {
		t.Error("there is a layout 9")
	}
}

// Columns are there twice while they are converted: the limit has room for that, or
// the build is refused.
func TestPeakOfLayouts(t *testing.T) {
	p, err := synth.Uniform(2000, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	const radius = 0.2
	peaks := map[sparse.Layout]int64{}
	for _, layout := range []sparse.Layout{sparse.Plain, sparse.Compact, sparse.Compact16} {
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(radius/3), &Options{Layout: layout, CutoffRadius: radius}))
		if err != nil {
			t.Fatal(err)
		}
		peaks[layout] = op.Costs.PeakBytes
		if more := op.Costs.PeakBytes - peaks[sparse.Plain]; layout != sparse.Plain && more < 2*op.Costs.NNZ {
			t.Errorf("%v: %d bytes more than plain for %d weights", layout, more, op.Costs.NNZ)
		}
		if got := truncated.CSRCost(p.Rows, 2, float64(op.Costs.NNZ), &base.Options{Layout: layout}).PeakBytes; got < op.Costs.PeakBytes {
			t.Errorf("%v: planned with %d bytes, took %d", layout, got, op.Costs.PeakBytes)
		}
		var refused *MemoryError
		short := &Options{Layout: layout, CutoffRadius: radius, MaxMemory: op.Costs.PeakBytes - 1}
		if _, err := openCSR(t.Context(), p, Sigma(radius/3), short); !errors.As(err, &refused) {
			t.Errorf("%v: built with a byte less than it takes: %v", layout, err)
		}
	}
}
