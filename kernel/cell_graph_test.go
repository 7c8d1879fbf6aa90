package kernel

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
)

// Where a cluster has many candidates the context is looked at in the middle of a piece.
func TestCellGraphEndsWithinAPiece(t *testing.T) {
	p := mustPoints(t, makePoints("uniform", 2*cells.batchPoints, 8, 1))
	o, err := (&Options{}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	const radius = 0.6
	cl, err := cells.NewList(t.Context(), p, radius, nil)
	if err != nil {
		t.Fatal(err)
	}
	if pieces, clusters := cl.workPieces(), len(cl.First)-1; pieces > 1 {
		t.Fatalf("%d clusters in %d pieces", clusters, pieces)
	}
	const enough = 1 << 20
	ctx := &patience{t.Context(), enough}
	if _, err := cellGraph(ctx, p, Sigma(0.1), radius, o); err != nil {
		t.Fatal(err)
	}
	looks := enough - ctx.left
	if clusters := len(cl.First) - 1; looks < clusters {
		t.Errorf("%d looks at the context in %d clusters", looks, clusters)
	}
	if g, err := cellGraph(&patience{t.Context(), looks / 2}, p, Sigma(0.1), radius, o); g != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled half way: %v", err)
	}
}

// Lists and sums of pairs look at the context at every cluster, and end with its error
// when it has ended in the middle of a piece.
func TestPairListEndsWithinAPiece(t *testing.T) {
	p := mustPoints(t, makePoints("uniform", 450, 2, 1))
	o, err := (&Options{}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cl, err := cells.NewList(t.Context(), p, 0.2, nil)
	if err != nil {
		t.Fatal(err)
	}
	clusters := len(cl.First) - 1
	if clusters > clustersPerChunk || clusters < 8 {
		t.Fatalf("%d clusters are no single piece of several", clusters)
	}
	l, err := newPairList(t.Context(), cl, Sigma(0.1), 1<<20, o)
	if err != nil {
		t.Fatal(err)
	}
	half := func() context.Context { return &patience{t.Context(), clusters / 2} }
	if l, err := newPairList(half(), cl, Sigma(0.1), 1<<20, o); l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	if _, _, err := l.weigh(half(), o); !errors.Is(err, context.Canceled) {
		t.Errorf("sums: %v", err)
	}
}

// Equal points are counted one after the other, with looks at the context in between.
func TestDoublesEndWithTheContext(t *testing.T) {
	p := makePoints("uniform", 300, 2, 1)
	for i := range 5 {
		copy(p.Data[4*i+2:][:2], p.Data[4*i:])
	}
	for name, build := range map[string]func() (*truncated, error){
		"csr": func() (*truncated, error) {
			op, err := NewCSR(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02})
			if err != nil {
				return nil, err
			}
			return &op.truncated, nil
		},
		"pairs": func() (*truncated, error) {
			op, err := NewPairs(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02})
			if err != nil {
				return nil, err
			}
			return &op.truncated, nil
		},
	} {
		op, err := build()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := op.doubles(&patience{t.Context(), 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: degrees: %v", name, err)
		}
		cl, err := cells.NewList(t.Context(), mustPoints(t, p), 0.02, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cl.Doubles(&patience{t.Context(), 2}, op.rows); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: tails: %v", name, err)
		}
	}
}
