package privatemail

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// bruteNearest sorts all rows by their distance from one, at equal distances by number.
func bruteNearest(x, queries blas32.General, q, k int, itself bool) (ids []int64, distances []float32) {
	type row struct {
		id int
		d  float64
	}
	var all []row
	for j := range x.Rows {
		if itself || j != q {
			d2 := 0.0
			for c := range x.Cols {
				diff := float64(queries.Data[q*queries.Stride+c]) - float64(x.Data[j*x.Stride+c])
				d2 += float64(diff * diff)
			}
			all = append(all, row{j, d2})
		}
	}
	slices.SortStableFunc(all, func(a, b row) int {
		switch {
		case a.d < b.d:
			return -1
		case a.d > b.d:
			return 1
		}
		return a.id - b.id
	})
	for _, r := range all[:k] {
		ids, distances = append(ids, int64(r.id)), append(distances, float32(math.Sqrt(r.d)))
	}
	return ids, distances
}

// Neighbours agree with a brute force, bit for bit: of rows among themselves and of queries, in
// few and many dimensions, with equal rows and many equal distances, for any number of workers.
func TestNearestEqualsBruteForce(t *testing.T) {
	wide, err := synth.Clustered(150, 30, 3)
	if err != nil {
		t.Fatal(err)
	}
	one := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{3, 4}}
	few := func(x blas32.General, rows int) blas32.General { x.Rows = rows; return x }
	for _, c := range []struct {
		name       string
		x, queries blas32.General
		k          int
	}{
		{"lattice within", lattice(9, 2), blas32.General{}, 5},
		{"all others", lattice(4, 2), blas32.General{}, 17},
		{"many columns within", wide, blas32.General{}, 7},
		{"lattice queries", lattice(9, 2), few(lattice(5, 2), 20), 6},
		{"every row", lattice(4, 2), lattice(4, 2), 18},
		{"many columns, many queries", wide, few(wide, 100), 3},
		{"one row", one, few(lattice(5, 2), 4), 1},
		{"no queries", wide, blas32.General{Cols: 30, Stride: 30, Data: []float32{}}, 2},
	} {
		for _, workers := range []int{1, 3} {
			e := engine(t, WithWorkers(workers))
			queries, itself := c.queries, true
			if queries.Data == nil {
				queries, itself = c.x, false
			}
			ids, distances := make([]int64, queries.Rows*c.k), make([]float32, queries.Rows*c.k)
			if err := e.Nearest(t.Context(), c.x, c.queries, c.k, ids, distances); err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			for q := range queries.Rows {
				wantIDs, want := bruteNearest(c.x, queries, q, c.k, itself)
				if got := ids[q*c.k:][:c.k]; !slices.Equal(got, wantIDs) {
					t.Fatalf("%s, %d workers: row %d has %v, want %v", c.name, workers, q, got, wantIDs)
				}
				if got := distances[q*c.k:][:c.k]; !slices.Equal(got, want) {
					t.Fatalf("%s, %d workers: row %d is at %v, want %v", c.name, workers, q, got, want)
				}
			}
			short, again := make([]int32, len(ids)), make([]float32, len(distances))
			if err := e.Nearest32(t.Context(), c.x, c.queries, c.k, short, again); err != nil || !slices.Equal(again, distances) {
				t.Errorf("%s, numbers of 4 bytes: other distances, %v", c.name, err)
			}
			for at, id := range short {
				if int64(id) != ids[at] {
					t.Fatalf("%s: a number of 4 bytes is %d, want %d", c.name, id, ids[at])
				}
			}
			if err := e.Nearest(t.Context(), c.x, c.queries, c.k, nil, nil); err != nil {
				t.Errorf("%s, nobody wants them: %v", c.name, err)
			}
		}
	}
}

func TestNearestRefusals(t *testing.T) {
	x := lattice(5, 2)
	bad := lattice(5, 2)
	bad.Data[3*bad.Stride] = float32(math.NaN())
	none := blas32.General{}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx        context.Context
		x, queries blas32.General
		k          int
		ids        []int64
		limit      int64
		want       error
	}{
		"no features":        {x: none, k: 1, want: kernel.ErrEmpty},
		"k of 0":             {x: x, k: 0, want: kernel.ErrShape},
		"negative k":         {x: x, k: -1, want: kernel.ErrShape},
		"all rows of itself": {x: x, k: x.Rows, want: kernel.ErrShape},
		"more than rows":     {x: x, queries: x, k: x.Rows + 1, want: kernel.ErrShape},
		"other columns":      {x: x, queries: lattice(2, 3), k: 1, want: kernel.ErrShape},
		"too few ids":        {x: x, k: 2, ids: make([]int64, 2*x.Rows-1), want: kernel.ErrShape},
		"too many ids":       {x: x, queries: x, k: 2, ids: make([]int64, 2*x.Rows+1), want: kernel.ErrShape},
		"not finite":         {x: bad, k: 2, want: kernel.ErrNonFinite},
		"queries not finite": {x: x, queries: bad, k: 2, want: kernel.ErrNonFinite},
		"malformed":          {x: blas32.General{Rows: 3, Cols: 2, Stride: 1, Data: make([]float32, 9)}, k: 1, want: kernel.ErrShape},
		"malformed queries":  {x: x, queries: blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float32, 5)}, k: 1, want: kernel.ErrShape},
		"no memory":          {x: x, k: 2, limit: 100, want: kernel.ErrMemory},
		"no memory, queries": {x: x, queries: x, k: 2, limit: 100, want: kernel.ErrMemory},
		"cancelled":          {ctx: cancelled, x: x, k: 2, want: context.Canceled},
		"cancelled, queries": {ctx: cancelled, x: x, queries: x, k: 2, want: context.Canceled},
	} {
		var options []Option
		if c.limit > 0 {
			options = append(options, WithMaxMemory(c.limit))
		}
		if c.ctx == nil {
			c.ctx = t.Context()
		}
		if err := engine(t, options...).Nearest(c.ctx, c.x, c.queries, c.k, c.ids, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	// The inputs cannot be written to.
	for name, queries := range map[string]blas32.General{"features": {}, "queries": lattice(5, 2)} {
		read := queries
		if read.Data == nil {
			read = x
		}
		if err := engine(t).Nearest(t.Context(), x, queries, 1, nil, read.Data[1:][:read.Rows]); !errors.Is(err, sparse.ErrAlias) {
			t.Errorf("distances go to the %s: %v", name, err)
		}
	}
	// The memory limit counts the results.
	e := engine(t, WithMaxMemory(14000))
	if err := e.Nearest(t.Context(), x, x, x.Rows, nil, nil); err != nil {
		t.Error(err)
	}
	if err := e.Nearest(t.Context(), x, x, x.Rows, make([]int64, x.Rows*x.Rows), nil); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("%d ids in addition to the search: %v", x.Rows*x.Rows, err)
	}
	e.Close()
	if err := e.Nearest(t.Context(), x, x, 1, nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
