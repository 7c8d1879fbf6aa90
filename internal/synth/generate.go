package synth

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Uniform returns n points drawn independently and uniformly from the unit cube
// [0, 1)^d, on the grid of 2^-24. The same seed gives the same bits on every
// run. The error is points.ErrShape.
func Uniform(n, d int, seed uint64) (blas32.General, error) {
	x, err := newRows(n, d)
	if err != nil {
		return blas32.General{}, fmt.Errorf("synth: uniform: %w", err)
	}
	rng := stream("uniform", seed)
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	return x, nil
}

// The parameters of Clustered.
const (
	backgroundShare = 0.1   // of the points belong to no clump
	maxClumps       = 64    // fewer if a clump would get
	pointsPerClump  = 50    // less than this many points on average
	minSpread       = 0.002 // standard deviation of the tightest clump along an axis
	maxSpread       = 0.1   // and of the widest
	weightRange     = 100.0 // weight of the heaviest clump over the lightest
)

// Clustered returns n points of the closed unit cube [0, 1]^d whose density varies by
// orders of magnitude from place to place: the hard case for methods that divide space
// into equal cells. The points are independent. A tenth of them is uniform. Each other
// point belongs to one of J = clamp(n/50, 1, 64) clumps. Clump j has
//
//	a centre   c_j uniform in the cube,
//	a spread   s_j log-uniform in [0.002, 0.1],
//	a weight   w_j log-uniform in [1, 100], chosen with probability w_j / sum w,
//
// all independent, and its points are c_j + s_j g with g standard normal,
// reflected at the faces of the cube. Rows of a clump are scattered over the
// matrix. The same seed gives the same bits on every run. The error is points.ErrShape.
func Clustered(n, d int, seed uint64) (blas32.General, error) {
	x, err := newRows(n, d)
	if err != nil {
		return blas32.General{}, fmt.Errorf("synth: clustered: %w", err)
	}
	rng := stream("clustered", seed)
	clumps := min(max(n/pointsPerClump, 1), maxClumps)
	centre := make([]float64, clumps*d)
	for i := range centre {
		centre[i] = rng.Float64()
	}
	spread := make([]float64, clumps)
	upTo := make([]float64, clumps) // running sum of the weights
	var sum float64
	for j := range clumps {
		spread[j] = minSpread * math.Pow(maxSpread/minSpread, rng.Float64())
		sum += math.Pow(weightRange, rng.Float64())
		upTo[j] = sum
	}

	for i := range n {
		row := x.Data[i*d : (i+1)*d]
		if rng.Float64() < backgroundShare {
			for t := range row {
				row[t] = rng.Float32()
			}
			continue
		}
		// Float64 < 1, but the product may round up to sum.
		j := min(sort.SearchFloat64s(upTo, rng.Float64()*sum), clumps-1)
		c := centre[j*d : (j+1)*d]
		for t := range row {
			row[t] = float32(reflect(c[t] + float64(spread[j]*rng.NormFloat64())))
		}
	}
	return x, nil
}

// reflect folds the line onto [0, 1] as a ray bounces between two mirrors.
func reflect(v float64) float64 {
	v = math.Abs(math.Mod(v, 2))
	if v > 1 {
		v = 2 - v
	}
	return v
}

// classNoise is the length of the noise of Classes relative to the distance of
// a centre from the origin.
const classNoise = 0.5

// Classes returns n unit rows with their classes 0..classes-1, a stand-in for
// normalised deep features. The class c of a row is uniform, and
//
//	x = normalise(u_c + 0.5 g / sqrt(d)),
//
// where g is standard normal in d dimensions, so that the noise has length 0.5
// or so for every d, and the centres u_c are standard normal vectors scaled to
// length 1: nearly orthogonal to each other once d is large. The same seed gives
// the same bits on every run. The error is points.ErrShape, also for classes < 1.
func Classes(n, d, classes int, seed uint64) (blas32.General, []int32, error) {
	if classes < 1 || classes > math.MaxInt32 {
		return blas32.General{}, nil, fmt.Errorf("synth: classes: %w: %d classes", points.ErrShape, classes)
	}
	x, err := newRows(n, d)
	if err != nil {
		return blas32.General{}, nil, fmt.Errorf("synth: classes: %w", err)
	}
	if classes > maxEntries/d {
		return blas32.General{}, nil, fmt.Errorf("synth: classes: %w: %d centres in %d dimensions", points.ErrShape, classes, d)
	}
	rng := stream("classes", seed)
	centre := make([]float64, classes*d)
	for c := range classes {
		u := centre[c*d : (c+1)*d]
		drawDirection(u, func(int) float64 { return rng.NormFloat64() })
	}
	labels := make([]int32, n)
	scale := classNoise / math.Sqrt(float64(d))
	v := make([]float64, d)
	for i := range n {
		c := rng.IntN(classes)
		labels[i] = int32(c)
		u := centre[c*d : (c+1)*d]
		drawDirection(v, func(t int) float64 { return u[t] + float64(scale*rng.NormFloat64()) })
		for t, e := range v {
			x.Data[i*d+t] = float32(e)
		}
	}
	return x, labels, nil
}

// drawDirection fills v entry by entry and scales it to length 1. In the rare case that
// all entries are zero it draws again.
func drawDirection(v []float64, entry func(t int) float64) {
	for {
		for t := range v {
			v[t] = entry(t)
		}
		if points.Normalize(v) > 0 {
			return
		}
	}
}

// stream returns the random numbers of one set: ChaCha8 keyed by the seed and the name,
// so that two kinds with the same seed share nothing.
func stream(name string, seed uint64) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], name)
	return rand.New(rand.NewChaCha8(key))
}

// maxEntries is the largest set that a generator makes: 2^40 entries, or the address
// space of a smaller machine. Above that make would panic.
const maxEntries = min(1<<40, math.MaxInt/8)

// newRows allocates an n x d matrix after checking that it can exist.
func newRows(n, d int) (blas32.General, error) {
	if n < 1 || d < 1 {
		return blas32.General{}, fmt.Errorf("%w: %d x %d, want at least one row and one column", points.ErrShape, n, d)
	}
	if n > maxEntries/d {
		return blas32.General{}, fmt.Errorf("%w: %d x %d exceeds %d entries", points.ErrShape, n, d, int64(maxEntries))
	}
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}, nil
}
