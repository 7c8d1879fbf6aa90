package published

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// The Cars196 set of the paper, which this project does not have, has 8,144 rows
// of 98 classes to learn from and 8,041 rows of 98 others to search in.
const (
	carsClasses = 98
	carsGallery = 8041
	carsPublic  = 1000 // of the 8,144, as in the paper
	carsColumns = 64
	// carsNoise is the length of a row's noise relative to that of its class's
	// centre. It makes Recall@8 of the rows themselves about 0.94, that of the
	// authors' features.
	carsNoise = 1.85
)

// CarsSize returns generated rows of the size and the difficulty of Cars196:
// class centres in random directions of 64 dimensions and normal noise around
// them. Public and gallery rows have different classes with the same numbers.
// Rows of the gallery are taken out of it to be the queries. The error is
// kernel.ErrShape where they are fewer than 1 or leave less than 1000.
func CarsSize(queries int, seed uint64) (Data, error) {
	if queries < 1 || queries > carsGallery-1000 {
		return Data{}, fmt.Errorf("published: cars: %w: %d queries", points.ErrShape, queries)
	}
	rng := rand.New(rand.NewPCG(seed, 196))
	draw := func() []float64 {
		v := make([]float64, carsColumns)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		return v
	}
	set := func(n int, centres [][]float64) Set {
		s := Set{Features: newBlock(n, carsColumns), Labels: make([]int32, n)}
		for i := range n {
			class := rng.IntN(carsClasses)
			s.Labels[i] = int32(class)
			for j, g := range draw() {
				s.Features.Data[i*carsColumns+j] = centres[class][j] + carsNoise/math.Sqrt(carsColumns)*g
			}
		}
		return s
	}
	centres := func() [][]float64 {
		c := make([][]float64, carsClasses)
		for i := range c {
			c[i] = draw()
			blas64.Scal(1/blas64.Nrm2(blas64.Vector{N: carsColumns, Inc: 1, Data: c[i]}), blas64.Vector{N: carsColumns, Inc: 1, Data: c[i]})
		}
		return c
	}
	d := Data{Classes: carsClasses, Public: set(carsPublic, centres())}
	own := centres()
	d.Queries, d.Gallery = set(queries, own), set(carsGallery-queries, own)
	return d, nil
}
