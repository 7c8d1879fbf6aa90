package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// What a search finds is between the least and the most that its sample says, and near
// the mean.
func TestSampleTellsWhatIsFound(t *testing.T) {
	for _, c := range []struct {
		kind   string
		n, d   int
		radius float64
	}{
		{"uniform", 50_000, 1, 0.0005}, {"uniform", 50_000, 2, 0.02}, {"uniform", 30_000, 3, 0.06}, {"uniform", 3000, 5, 0.3}, {"uniform", 100, 2, 0.3},
	} {
		name := fmt.Sprintf("%s %d x %d", c.kind, c.n, c.d)
		p := pointtest.Open(pointtest.Make(c.kind, c.n, c.d, 1))
		r := request(p, c.radius)
		found, err := Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		truth := float64(found.Weights.NNZ())
		cl, err := NewList(t.Context(), p, c.radius, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		pass := newPass(t.Context(), cl, r)
		e, err := pass.need(r, 0, 1)
		if err != nil || e.Least > truth || e.Most < truth || e.Least < 0.5*truth || e.Most > 1.5*truth {
			t.Errorf("%s: %+v for %.0f neighbours, %v", name, e, truth, err)
		}
		pass.ctx = &pointtest.Patience{Context: t.Context()}
		if _, err := pass.need(r, 0, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", name, err)
		}
		truth = 0
		sweep := cl.Sweep(r.Kernels)
		sweep.Clusters(0, len(cl.First)-1, func(c int) bool { truth += float64(len(sweep.AppendSpans(nil, c))); return true })
		if e, err := cl.ExpectSpans(t.Context(), r.Kernels); err != nil || e.Least > truth || e.Most < truth || !e.Sharp() && c.n > 1000 {
			t.Errorf("%s: %+v for %.0f numbers of spans, %v", name, e, truth, err)
		}
	}
}

// The clusters of a sample stand for all clusters, each for those around it. Several ranks have a
// sample of every part of a list, however long it is.
func TestSampleStandsForAllClusters(t *testing.T) {
	for _, clusters := range []int{1, 2, 63, 64, 65, 1000, 16_384, 131_072, 131_200, 2_000_003} {
		for _, ranks := range []int{1, 2, 16} {
			cl := &List{First: make([]uint32, clusters+1)}
			s := cl.sampleOf(ranks)
			if s.count < min(clusters, leastSampled) || ranks == 1 && s.count > 2*mostSampled || ranks > 1 && s.stride > sharedStride {
				t.Errorf("%d clusters, %d ranks: %+v", clusters, ranks, s)
			}
			if s.begin(0) != 0 || s.begin(s.count) != clusters {
				t.Errorf("%d clusters, %d ranks: from %d to %d", clusters, ranks, s.begin(0), s.begin(s.count))
			}
			for i := range s.count {
				if c := s.cluster(i); c < s.begin(i) || c >= s.begin(i+1) || s.begin(i+1)-s.begin(i) > s.stride+s.stride/2 {
					t.Fatalf("%d clusters, %d ranks: cluster %d stands for those from %d to %d", clusters, ranks, c, s.begin(i), s.begin(i+1)-1)
				}
			}
		}
	}
}

// The spans of a cluster are what Candidates tells, in order, and no two of them touch.
func TestSpansAreTheCandidates(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5} {
		cl, err := NewList(t.Context(), pointtest.Open(pointtest.Make("clustered", 2000, d, 1)), 0.3, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sweep, before := cl.Sweep(simd.At(simd.Best())), []uint32{7, 9}
		sweep.Clusters(0, len(cl.First)-1, func(c int) bool {
			var want, got []uint32
			sweep.Candidates(c, func(from, to uint32) {
				for i := from; i < to; i++ {
					want = append(want, i)
				}
			})
			spans := sweep.AppendSpans(before, c)[2:]
			for s := 0; s < len(spans); s += 2 {
				if s > 0 && spans[s] <= spans[s-1] || spans[s] >= spans[s+1] {
					t.Fatalf("%d dimensions, cluster %d: spans %v", d, c, spans)
				}
				for i := spans[s]; i < spans[s+1]; i++ {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d dimensions, cluster %d: other candidates", d, c)
			}
			return true
		})
	}
}

// Memory that is clearly too small for the weights is refused before one is stored; with
// a little more than they take they are all found.
func TestSampleDecidesBeforeWeightsAreStored(t *testing.T) {
	p := pointtest.Open(pointtest.Make("uniform", 50_000, 2, 1))
	r := &rows.Request{Points: p, Radius: 0.02, Gamma: 1, Memory: 1 << 40, Kernels: simd.At(simd.Best())}
	found, err := Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	none, entry := r.StoredBytes(p.N)
	held := Bytes(p.N, p.D, 1) + none
	weights := int64(found.Weights.NNZ()) * entry
	stored := false
	r.Progress = func(stage string, _, _ int) { stored = stored || stage == "find neighbours" }
	for percent := int64(5); percent <= 90; percent += 5 {
		r.Memory = held + weights*percent/100
		e, ok := errors.AsType[*rows.MemoryError](second(Search(t.Context(), r)))
		if !ok || e.Denied || e.Need < held+weights*9/10 || e.Need > held+weights*11/10 || stored {
			t.Fatalf("with %d percent of what weights take: %v, some were stored: %v", percent, e, stored)
		}
	}
	r.Memory = held + weights*102/100 + 3<<20
	if _, err := Search(t.Context(), r); err != nil || !stored {
		t.Errorf("with a little more than weights take: %v", err)
	}
}

// With somebody to ask, a search asks for the list and then for the weights, about as
// much as it takes, and ends at once when it is refused.
func TestSearchAsksForItsMemory(t *testing.T) {
	p := pointtest.Open(pointtest.Make("uniform", 50_000, 2, 1))
	r := request(p, 0.02)
	var asked []int64
	r.Reserve = func(bytes int64) bool { asked = append(asked, bytes); return true }
	found, err := Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	last := asked[len(asked)-1]
	if asked[0] < Bytes(p.N, p.D, 1) || last < found.Peak || last > 3*found.Peak || last > r.Memory {
		t.Errorf("asked for %d bytes, took %d", asked, found.Peak)
	}
	for refuse := range len(asked) {
		times := 0
		r.Reserve = func(int64) bool { times++; return times <= refuse }
		if e, ok := errors.AsType[*rows.MemoryError](second(Search(t.Context(), r))); !ok || !e.Denied {
			t.Errorf("refused at question %d: %v", refuse, e)
		}
	}
}

func second(_ *rows.Result, err error) error { return err }
