package dense

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/par"
)

func BenchmarkDense(b *testing.B) {
	const n, d, m = 11788, 1280, 256
	rng := rand.New(rand.NewPCG(1, 1))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	for i := range x.Data {
		x.Data[i] = rng.Float32() / float32(1+i%d)
	}
	workers := par.New(2)
	defer workers.Close()
	core := &Core{Workers: workers}
	means, err := core.Means(b.Context(), x, nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := core.Gram(b.Context(), x, nil, means)
	if err != nil {
		b.Fatal(err)
	}
	a, err := core.Whiten(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	out := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("means", func() error { _, err := core.Means(b.Context(), x, nil); return err })
	run("gram", func() error { _, err := core.Gram(b.Context(), x, nil, means); return err })
	run("whiten", func() error { _, err := core.Whiten(b.Context(), s); return err })
	run("mul", func() error { return core.Mul(b.Context(), out, x, means.RawRowView(0), mat.Matrix(a)) })
	run("leading", func() error { _, _, err := core.Leading(b.Context(), s, m); return err })
}
