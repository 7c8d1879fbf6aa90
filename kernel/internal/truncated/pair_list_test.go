package truncated

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// Lists and sums of pairs look at the context at every cluster, and end with its error
// when it has ended in the middle of a piece.
func TestPairListEndsWithinAPiece(t *testing.T) {
	p := pointtest.Open(pointtest.Make("uniform", 450, 2, 1))
	o := &base.Options{}
	if err := o.SetDefaults(); err != nil {
		t.Fatal(err)
	}
	cl, err := cells.NewList(t.Context(), p, 0.2, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	clusters := len(cl.First) - 1
	if clusters > clustersPerChunk || clusters < 8 {
		t.Fatalf("%d clusters are no single piece of several", clusters)
	}
	l, _, err := newPairList(t.Context(), cl, base.BandwidthOf(50), 1<<20, o)
	if err != nil {
		t.Fatal(err)
	}
	half := func() context.Context { return &pointtest.Patience{Context: t.Context(), Left: clusters / 2} }
	if l, _, err := newPairList(half(), cl, base.BandwidthOf(50), 1<<20, o); l != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	if _, _, err := l.weigh(half(), o); !errors.Is(err, context.Canceled) {
		t.Errorf("sums: %v", err)
	}
}
