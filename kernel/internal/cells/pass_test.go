package cells

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// request asks for the pairs within a radius, with weights of a bandwidth of a sixth of
// the radius.
func request(p *rows.Points, radius float64) *rows.Request {
	return &rows.Request{Points: p, Radius: radius, Gamma: 18 / (radius * radius), Memory: 1 << 30, Kernels: simd.At(simd.Best())}
}

// Where clusters have many candidates, a search looks at the context in the middle of a
// piece.
func TestSearchEndsWithinAPiece(t *testing.T) {
	p := pointtest.Open(pointtest.Make("uniform", 2*batchPoints, 8, 1))
	const radius = 0.6
	cl, err := NewList(t.Context(), p, radius, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if pieces, clusters := cl.workPieces(), len(cl.First)-1; pieces > 1 {
		t.Fatalf("%d clusters in %d pieces", clusters, pieces)
	}
	const enough = 1 << 20
	ctx := &pointtest.Patience{Context: t.Context(), Left: enough}
	if _, err := Search(ctx, request(p, radius)); err != nil {
		t.Fatal(err)
	}
	looks := enough - ctx.Left
	if clusters := len(cl.First) - 1; looks < clusters {
		t.Errorf("%d looks at the context in %d clusters", looks, clusters)
	}
	half := &pointtest.Patience{Context: t.Context(), Left: looks / 2}
	if found, err := Search(half, request(p, radius)); found != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled half way: %v", err)
	}
}

// A cluster may have more candidates and more spans than a batch holds.
func TestCandidatesInBatches(t *testing.T) {
	const n = 3 * batchPoints
	p := pointtest.Open(pointtest.Make("uniform", n, 1, 3))
	cl, err := NewList(t.Context(), p, 0.4, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ points, step uint32 }{{n, n}, {2, 3}, {30, 33}, {1, 5}} {
		var spans []uint32
		pass := newPass(t.Context(), cl, request(p, 0.4))
		if err := pass.memory.Begin(t.Context(), request(p, 0.4), 0, 0, rows.EntryBytes); err != nil {
			t.Fatal(err)
		}
		sc := newScratch(pass)
		for from := uint32(0); from+c.points <= uint32(cl.N); from += c.step {
			spans = append(spans, from, from+c.points)
			pass.add(sc, 0, from, from+c.points)
			if sc.points > batchPoints || len(sc.spans) > 2*batchSpans {
				t.Fatalf("a batch of %d points and %d spans", sc.points, len(sc.spans)/2)
			}
		}
		pass.test(sc, 0)
		for i := cl.First[0]; i < cl.First[1]; i++ {
			want := uint32(0)
			for e := 0; e < len(spans); e += 2 {
				for j := spans[e]; j < spans[e+1]; j++ {
					if j != i && cl.Dist2(int(i), int(j)) <= cl.Radius2 {
						want++
					}
				}
			}
			if pass.counts[i] != want {
				t.Errorf("spans of %d points: point %d has %d neighbours, want %d", c.points, i, pass.counts[i], want)
			}
		}
	}
}

// A row of cells may have more points than a batch.
func TestNeighboursOfManyCandidates(t *testing.T) {
	const radius = 0.6
	p := pointtest.Make("uniform", 3*batchPoints/2, 1, 8)
	found, err := Search(t.Context(), request(pointtest.Open(p), radius))
	if err != nil {
		t.Fatal(err)
	}
	if found.Group != nil {
		t.Fatal("some points are equal")
	}
	for i := 0; i < p.Rows; i += 40 {
		ind, _ := found.Weights.Row(i, nil)
		own, want := float64(p.Data[found.Order[i]]), 0
		for j, row := range found.Order {
			if j != i && math.Abs(own-float64(p.Data[row])) <= radius {
				if want < len(ind) && int(ind[want]) != j {
					t.Fatalf("row %d: neighbour %d is %d, want %d", i, want, ind[want], j)
				}
				want++
			}
		}
		if len(ind) != want {
			t.Fatalf("row %d has %d neighbours, want %d", i, len(ind), want)
		}
	}
}
