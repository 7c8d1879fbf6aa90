package kernel

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
)

// Equal points are counted one after the other, with looks at the context in between.
func TestDoublesEndWithTheContext(t *testing.T) {
	p := pointtest.Make("uniform", 300, 2, 1)
	for i := range 5 {
		copy(p.Data[4*i+2:][:2], p.Data[4*i:])
	}
	for name, build := range map[string]func() (*truncated.Truncated, error){
		"csr": func() (*truncated.Truncated, error) {
			op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02}))
			if err != nil {
				return nil, err
			}
			return &op.Truncated, nil
		},
		"pairs": func() (*truncated.Truncated, error) {
			op, err := as[*truncated.Pairs](openPairs(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02}))
			if err != nil {
				return nil, err
			}
			return &op.Truncated, nil
		},
	} {
		op, err := build()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := op.Doubles(&pointtest.Patience{Context: t.Context(), Left: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: degrees: %v", name, err)
		}
		cl, err := cells.NewList(t.Context(), mustPoints(t, p), 0.02, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		reader := op.Rows.Reader(1)
		near := func(i int) []uint32 {
			ind, _ := reader.Weights(i)
			return ind
		}
		if _, err := cl.Doubles(&pointtest.Patience{Context: t.Context(), Left: 2}, near); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: tails: %v", name, err)
		}
	}
}
