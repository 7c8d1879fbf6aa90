package supervised_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Images that go to a buffer have the bits of Apply, and leave what is behind the rows alone. A map that was
// made ready once places rows like the map itself.
func TestPlaceInto(t *testing.T) {
	x, labels := labelledRows(300, 6, 5)
	rows := single(x)
	e := newEngine(t)
	for _, text := range []string{"raw", "scaled", "classic", "deep", "columns=3,unit-images"} {
		m, err := supervised.Fit(t.Context(), e, rows, labels, fixed(text))
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Map.Apply(rows)
		if err != nil {
			t.Fatal(err)
		}
		k := m.Map.Columns()
		dst := blas32.General{Rows: 300, Cols: k, Stride: k + 1, Data: slices.Repeat([]float32{-7}, 300*(k+1))}
		ready, err := m.Map.Placer(t.Context(), e)
		if err != nil || ready.Level() != e.Level() {
			t.Fatalf("%s: %v", text, err)
		}
		for _, place := range []func(context.Context, *privatemail.Engine, blas32.General, blas32.General) error{m.Map.PlaceInto, ready.PlaceInto} {
			for i := range dst.Data {
				dst.Data[i] = -7
			}
			if err := place(t.Context(), e, dst, rows); err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				if got := dst.Data[i*dst.Stride:][:k+1]; !slices.Equal(got[:k], want.Data[i*want.Stride:][:k]) || got[k] != -7 {
					t.Fatalf("%s: row %d differs", text, i)
				}
			}
		}
		narrow, other := dst, rows
		narrow.Rows--
		other.Cols--
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		small := newEngine(t, privatemail.WithMaxMemory(8))
		_, noRoom := m.Map.Placer(t.Context(), small)
		for name, c := range map[string]struct{ err, want error }{
			"rows of dst":        {m.Map.PlaceInto(t.Context(), e, narrow, rows), points.ErrShape},
			"columns":            {m.Map.PlaceInto(t.Context(), e, dst, other), points.ErrShape},
			"shared":             {m.Map.PlaceInto(t.Context(), e, blas32.General{Rows: 300, Cols: k, Stride: 6, Data: rows.Data}, rows), sparse.ErrAlias},
			"cancelled":          {m.Map.PlaceInto(cancelled, e, dst, rows), context.Canceled},
			"ready, rows of dst": {ready.PlaceInto(t.Context(), e, narrow, rows), points.ErrShape},
			"ready, columns":     {ready.PlaceInto(t.Context(), e, dst, other), points.ErrShape},
			"ready, shared":      {ready.PlaceInto(t.Context(), e, blas32.General{Rows: 300, Cols: k, Stride: 6, Data: rows.Data}, rows), sparse.ErrAlias},
			"ready, cancelled":   {ready.PlaceInto(cancelled, e, dst, rows), context.Canceled},
			"no memory":          {m.Map.PlaceInto(t.Context(), small, dst, rows), kernel.ErrMemory},
			"no memory, ready":   {noRoom, kernel.ErrMemory},
		} {
			if strings.HasPrefix(name, "no memory") && m.Map.A == nil {
				c.want = nil // there is no matrix
			}
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s, %s: %v, want %v", text, name, c.err, c.want)
			}
		}
	}
}
