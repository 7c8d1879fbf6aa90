package privatemail

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A query gets the weighted mean of its neighbours: by a brute force, with queries that equal rows,
// and with strides.
func TestExtendEqualsBruteForce(t *testing.T) {
	x := lattice(7, 2)
	y, _ := classes(t, x.Rows, 3)
	queries := lattice(6, 2)
	for i := range queries.Rows {
		queries.Data[i*queries.Stride] += float32(i%4) / 8
	}
	const k = 6
	out := blas32.General{Rows: queries.Rows, Cols: 3, Stride: 5, Data: make([]float32, queries.Rows*5)}
	for i := range out.Data {
		out.Data[i] = 77
	}
	for _, workers := range []int{1, 3} {
		if err := engine(t, WithWorkers(workers)).Extend(t.Context(), x, y, queries, k, out); err != nil {
			t.Fatal(err)
		}
		for q := range queries.Rows {
			ids, distances := bruteNearest(x, queries, q, k, true)
			want, total := make([]float64, 3), 0.0
			for e, id := range ids {
				w := 1.0
				if far := float64(distances[k-1]); far > 0 {
					w = math.Exp(-math.Pow(float64(distances[e])/far, 2))
				}
				total += w
				for c := range want {
					want[c] += w * float64(y.Data[int(id)*y.Stride+c])
				}
			}
			for c := range want {
				if got := float64(out.Data[q*out.Stride+c]); math.Abs(got-want[c]/total) > 1e-6*(1+math.Abs(got)) {
					t.Fatalf("query %d: column %d is %g, want %g", q, c, got, want[c]/total)
				}
			}
			if pad := out.Data[q*out.Stride+3:][:2]; pad[0] != 77 || pad[1] != 77 {
				t.Fatalf("query %d: what is behind the row was overwritten", q)
			}
		}
	}
	// Where all neighbours equal the query, their weights are equal.
	same := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{2, 2, 2}}
	places := blas32.General{Rows: 3, Cols: 1, Stride: 1, Data: []float32{1, 2, 6}}
	got := blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: make([]float32, 1)}
	if err := engine(t).Extend(t.Context(), same, places, blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{2}}, 3, got); err != nil || got.Data[0] != 3 {
		t.Errorf("%v, %v", got.Data, err)
	}
}

func TestExtendRefusals(t *testing.T) {
	x, y, queries := lattice(5, 2), lattice(5, 2), lattice(3, 2)
	out := blas32.General{Rows: queries.Rows, Cols: 2, Stride: 2, Data: make([]float32, 2*queries.Rows)}
	fewer, narrow := y, out
	fewer.Rows--
	narrow.Cols = 1
	bad := lattice(5, 2)
	bad.Data[0] = float32(math.Inf(1))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	before := slices.Clone(out.Data)
	for name, c := range map[string]struct {
		ctx             context.Context
		y, queries, out blas32.General
		k               int
		limit           int64
		want            error
	}{
		"no queries":         {y: y, out: out, k: 2, want: kernel.ErrEmpty},
		"fewer places":       {y: fewer, queries: queries, out: out, k: 2, want: kernel.ErrShape},
		"fewer columns":      {y: y, queries: queries, out: narrow, k: 2, want: kernel.ErrShape},
		"no room":            {y: y, queries: queries, k: 2, want: kernel.ErrShape},
		"k of 0":             {y: y, queries: queries, out: out, want: kernel.ErrShape},
		"shared with places": {y: y, queries: queries, out: blas32.General{Rows: queries.Rows, Cols: 2, Stride: 2, Data: y.Data}, k: 2, want: sparse.ErrAlias},
		"shared with rows":   {y: y, queries: queries, out: blas32.General{Rows: queries.Rows, Cols: 2, Stride: 2, Data: x.Data}, k: 2, want: sparse.ErrAlias},
		"places not finite":  {y: bad, queries: queries, out: out, k: 2, want: kernel.ErrNonFinite},
		"no memory":          {y: y, queries: queries, out: out, k: 2, limit: 100, want: kernel.ErrMemory},
		"cancelled":          {ctx: cancelled, y: y, queries: queries, out: out, k: 2, want: context.Canceled},
	} {
		var options []Option
		if c.limit > 0 {
			options = append(options, WithMaxMemory(c.limit))
		}
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		if err := engine(t, options...).Extend(c.ctx, x, c.y, c.queries, c.k, c.out); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if !slices.Equal(out.Data, before) {
		t.Error("a call that failed has written")
	}
}
