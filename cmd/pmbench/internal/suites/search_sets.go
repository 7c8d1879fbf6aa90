package suites

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
)

// SearchSet names points of many dimensions.
type SearchSet struct {
	Kind string // easy, hard, uniform, padded, or the name of a folder
	N, D int
}

// Name is the name of the case that builds the graph of the set.
func (s SearchSet) Name(workers int) string {
	return fmt.Sprintf("kind=%s/n=%d/d=%d/degree=%d/workers=%d", s.Kind, s.N, s.D, searchDegree, workers)
}

// SearchSets lists the points: generated ones of n rows, or the features of the folder
// that PM_FEATURES names.
func SearchSets(sizes ...int) (out []SearchSet, err error) {
	if folder := os.Getenv("PM_FEATURES"); folder != "" {
		m, err := formats.ReadMatrix(filepath.Join(folder, "features.npy"))
		if err != nil {
			return nil, err
		}
		defer m.Close()
		return []SearchSet{{filepath.Base(folder), m.Rows, m.Cols}}, nil
	}
	for _, n := range sizes {
		out = append(out, SearchSet{"easy", n, 64}, SearchSet{"easy", n, 512}, SearchSet{"hard", n, 64})
	}
	return out, nil
}

// cliffSets are the same n uniform points in 8 dimensions, with and without a ninth column
// of zeros. They have the same graph, so one must not take much longer than the other.
func cliffSets(n int) []SearchSet { return []SearchSet{{"uniform", n, 8}, {"padded", n, 9}} }

// Points makes or reads the points. Easy ones are normalise(centre + g/2), with
// centres of unit norm and g of that norm on average: classes are separate. Hard ones
// have a cosine of 1/2 within a class and of 3/10 between classes. Uniform ones fill a
// cube; padded ones are these with a last column of zeros.
func (s SearchSet) Points() (blas32.General, error) {
	switch s.Kind {
	case "uniform":
		return uniformPoints(s.N, s.D, s.D), nil
	case "padded":
		return uniformPoints(s.N, s.D-1, s.D), nil
	}
	rng := rand.New(rand.NewPCG(uint64(s.N), uint64(s.D)))
	vector := func(norm float64) []float64 {
		v := make([]float64, s.D)
		for c := range v {
			v[c] = rng.NormFloat64() * norm / math.Sqrt(float64(s.D))
		}
		return v
	}
	centres := make([][]float64, searchClasses)
	noise := 0.5
	switch s.Kind {
	case "easy":
		for k := range centres {
			centres[k] = normalised(vector(1))
		}
	case "hard":
		common := vector(math.Sqrt(0.3))
		for k := range centres {
			centres[k] = vector(math.Sqrt(0.2))
			for c, v := range common {
				centres[k][c] += v
			}
		}
		noise = math.Sqrt(0.5)
	default:
		return readFeatures(filepath.Join(os.Getenv("PM_FEATURES"), "features.npy"))
	}
	x := Zeros(s.N, s.D)
	for i := range s.N {
		centre, v := centres[rng.IntN(searchClasses)], vector(noise)
		for c := range v {
			v[c] += centre[c]
		}
		for c, e := range normalised(v) {
			x.Data[i*s.D+c] = float32(e)
		}
	}
	return x, nil
}

func readFeatures(file string) (blas32.General, error) {
	m, err := formats.ReadMatrix(file)
	if err != nil {
		return blas32.General{}, err
	}
	defer m.Close()
	x := Zeros(m.Rows, m.Cols)
	copy(x.Data, m.Data)
	return x, nil
}

func normalised(v []float64) []float64 {
	sum := 0.0
	for _, e := range v {
		sum += e * e
	}
	for c := range v {
		v[c] /= math.Sqrt(sum)
	}
	return v
}

// Features of searchClasses classes, and the mean number of neighbours a radius is
// chosen for.
const (
	searchClasses = 200
	searchDegree  = 48
)

// uniformPoints returns points of d columns, of which the first are uniform and the others
// zero.
func uniformPoints(n, first, d int) blas32.General {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(first)))
	x := Zeros(n, d)
	for i := range n {
		for c := range first {
			x.Data[i*d+c] = rng.Float32()
		}
	}
	return x
}
