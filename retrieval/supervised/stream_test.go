package supervised_test

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// reader hands out the rows of x, at most some at a time.
func reader(x blas32.General, most int) func(blas32.General) (int, error) {
	at := 0
	return func(dst blas32.General) (int, error) {
		n := min(dst.Rows, most, x.Rows-at)
		for i := range n {
			copy(dst.Data[i*dst.Stride:][:dst.Cols], x.Data[(at+i)*x.Stride:])
		}
		if at += n; at == x.Rows {
			return n, io.EOF
		}
		return n, nil
	}
}

// What is streamed has the bits of Apply, whatever the map and the blocks.
func TestStreamIsApply(t *testing.T) {
	e := newEngine(t)
	const n, d = 3001, 700 // more than the blocks that go round
	x, labels := labelledRows(n, d, 40)
	for _, text := range []string{"raw", "scaled", "root,unit-rows", "standardize,unit-images", "columns=3", "root,unit-rows,columns=5,unit-images"} {
		r, err := supervised.ParseRecipe(text)
		if err != nil {
			t.Fatal(err)
		}
		few, fewLabels := mat.DenseCopyOf(x.Slice(0, 200, 0, d)), labels[:200]
		m, err := r.NewMap(t.Context(), single(few), fewLabels)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Apply(single(x))
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{n, 1000, 77} {
			var got []float32
			err := m.Stream(t.Context(), e, reader(single(x), most), func(z blas32.General) error {
				if z.Stride != z.Cols {
					return errors.New("a gap")
				}
				got = append(got, z.Data[:z.Rows*z.Cols]...)
				return nil
			})
			if err != nil || !slices.Equal(got, want.Data) {
				t.Errorf("%s, %d rows at a time: other images, %v", text, most, err)
			}
		}
	}
	identity := &supervised.Map{Dim: 2}
	if err := identity.Stream(t.Context(), e, func(blas32.General) (int, error) { return 0, io.EOF }, func(blas32.General) error { return errors.New("no rows, but images") }); err != nil {
		t.Error(err)
	}
}

// Whoever fails, the first error is returned, nothing is written behind it, and nobody is left
// running, which TestMain looks at.
func TestStreamFails(t *testing.T) {
	e := newEngine(t)
	m := &supervised.Map{Dim: 1000}
	failed := errors.New("it failed")
	const n = 3000
	rows := blas32.General{Rows: n, Cols: 1000, Stride: 1000, Data: make([]float32, n*1000)}
	broken := rows
	broken.Data = slices.Clone(rows.Data)
	broken.Data[2500*1000+7] = float32(math.NaN())
	discard := func(blas32.General) error { return nil }
	for name, c := range map[string]struct {
		m     *supervised.Map
		read  func(blas32.General) (int, error)
		write func(blas32.General) error
		want  error
	}{
		"map":      {&supervised.Map{}, reader(rows, n), discard, points.ErrShape},
		"read":     {m, func(blas32.General) (int, error) { return 0, failed }, discard, failed},
		"write":    {m, reader(rows, n), func(blas32.General) error { return failed }, failed},
		"too many": {m, func(dst blas32.General) (int, error) { return dst.Rows + 1, nil }, discard, points.ErrShape},
		"negative": {m, func(dst blas32.General) (int, error) { return -1, nil }, discard, points.ErrShape},
		"nothing":  {m, func(dst blas32.General) (int, error) { return 0, nil }, discard, io.ErrNoProgress},
		"NaN":      {m, reader(broken, n), discard, points.ErrNonFinite},
	} {
		if err := c.m.Stream(t.Context(), e, c.read, c.write); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := m.Stream(t.Context(), e, reader(broken, 100), discard)
	if entry, ok := errors.AsType[*points.NonFiniteError](err); !ok || entry.Row != 2500 || entry.Col != 7 {
		t.Errorf("row 2500, column 7 is no number: %v", err)
	}
	for name, call := range map[string]func() error{
		"read": func() error {
			return m.Stream(t.Context(), e, func(blas32.General) (int, error) { panic("read") }, discard)
		},
		"write": func() error {
			return m.Stream(t.Context(), e, reader(rows, n), func(blas32.General) error { panic("write") })
		},
	} {
		if p, ok := errors.AsType[*par.PanicError](call()); !ok || !strings.Contains(p.Error(), name) {
			t.Errorf("%s panics: %v", name, p)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	forever := func(dst blas32.General) (int, error) { return dst.Rows, nil }
	written := 0
	err = m.Stream(ctx, e, forever, func(blas32.General) error {
		if written++; written == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || written > 3+4 {
		t.Errorf("cancelled: %v, %d blocks written", err, written)
	}
}
