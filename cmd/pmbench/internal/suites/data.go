package suites

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Neighbours is the mean number of neighbours of the graphs measured here.
const Neighbours = 32

// Block returns an n x k matrix whose entries are a function of their place
// that any language computes exactly: the peers make the same.
func Block(n, k int) blas32.General {
	x := Zeros(n, k)
	for e := range x.Data {
		x.Data[e] = float32((uint32(e)*2654435761)>>8)*0x1p-24 - 0.5
	}
	return x
}

// Zeros returns an n x k matrix of zeros.
func Zeros(n, k int) blas32.General {
	x := blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
	mem.Huge(x.Data) // as every engine's own blocks
	return x
}

// curveGraph returns the Gaussian graph of n uniform points of the unit square
// with about 32 neighbours each, points in the order of a Morton curve. It is
// made here and not by package kernel so that the matrix under test is the
// same in every revision.
func curveGraph(n int) (*sparse.CSR, error) {
	radius := math.Sqrt(Neighbours / (math.Pi * float64(n)))
	side := 1 << bits.Len(uint(0.5/radius)) // cells an axis: about half a radius wide or more
	reach := int(math.Ceil(radius * float64(side)))
	pts, err := synth.Uniform(n, 2, 1)
	if err != nil {
		return nil, err
	}
	sorted, start := alongCurve(pts.Data, side)
	ptr := make([]uint64, 1, n+1)
	ind := make([]uint32, 0, n*(Neighbours+1))
	val := make([]float32, 0, n*(Neighbours+1))
	mem.Huge(ind) // as package kernel does
	mem.Huge(val)
	gamma := -math.Log(kernel.DegreeCutoff) / (radius * radius)
	var near []int
	for cell := range side * side {
		if start[cell] == start[cell+1] {
			continue
		}
		cx, cy := deinterleave(cell), deinterleave(cell>>1)
		near = near[:0]
		for y := max(cy-reach, 0); y <= min(cy+reach, side-1); y++ {
			for x := max(cx-reach, 0); x <= min(cx+reach, side-1); x++ {
				near = append(near, interleave(uint32(x))|interleave(uint32(y))<<1)
			}
		}
		slices.Sort(near)
		for i := start[cell]; i < start[cell+1]; i++ {
			for _, c := range near {
				for j := start[c]; j < start[c+1]; j++ {
					dx, dy := float64(sorted[2*i]-sorted[2*j]), float64(sorted[2*i+1]-sorted[2*j+1])
					if d2 := dx*dx + dy*dy; d2 <= radius*radius && j != i {
						ind, val = append(ind, uint32(j)), append(val, float32(math.Exp(-gamma*d2)))
					}
				}
			}
			ptr = append(ptr, uint64(len(ind)))
		}
	}
	return sparse.New(n, n, ptr, ind, val)
}

// alongCurve sorts points of the plane by cells in the order of a Morton curve, so that
// rows are in its order too. The points of cell c begin at start[c].
func alongCurve(points []float32, side int) (sorted []float32, start []int) {
	n := len(points) / 2
	cellOf := func(i int) int {
		return interleave(uint32(points[2*i]*float32(side))) | interleave(uint32(points[2*i+1]*float32(side)))<<1
	}
	start = make([]int, side*side+1)
	for i := range n {
		start[cellOf(i)+1]++
	}
	for c := range side * side {
		start[c+1] += start[c]
	}
	next := slices.Clone(start)
	sorted = make([]float32, 2*n)
	for i := range n {
		at := &next[cellOf(i)]
		copy(sorted[2**at:], points[2*i:2*i+2])
		*at++
	}
	return sorted, start
}

// interleave spreads the bits of v to the even places.
func interleave(v uint32) int {
	out := 0
	for b := range 31 {
		out |= int(v>>b&1) << (2 * b)
	}
	return out
}

// deinterleave collects the even bits of v.
func deinterleave(v int) int {
	out := 0
	for b := range 31 {
		out |= v >> (2 * b) & 1 << b
	}
	return out
}

// shuffled returns the graph with its rows and columns in random order.
func shuffled(a *sparse.CSR) (*sparse.CSR, error) {
	order := make([]uint32, a.Rows())
	for i, j := range rand.New(rand.NewPCG(3, 4)).Perm(len(order)) {
		order[i] = uint32(j)
	}
	return a.Permute(order)
}

// PointSet are points with a bandwidth and radius that give them about 32
// neighbours.
type PointSet struct {
	Points blas32.General
	sigma  kernel.Bandwidth
	Radius float64
}

// Graph builds the truncated graph of the points.
func (s *PointSet) Graph(ctx context.Context, workers *par.Workers) (kernel.Truncated, error) {
	return s.graphWith(ctx, kernel.Options{Workers: workers})
}

// graphWith builds the truncated graph of the points with options of the caller.
func (s *PointSet) graphWith(ctx context.Context, o kernel.Options) (kernel.Truncated, error) {
	o.CutoffRadius = s.Radius
	return BuildCSR(ctx, s.Points, s.sigma, o)
}

// BuildCSR builds the operator csr of points.
func BuildCSR(ctx context.Context, x blas32.General, sigma kernel.Bandwidth, o kernel.Options) (kernel.Truncated, error) {
	o.Operator = "csr"
	op, err := kernel.Build(ctx, x, sigma, &o)
	if err != nil {
		return nil, err
	}
	return op.(kernel.Truncated), nil
}

// Synthetic returns points of a kind of package synth, and their classes where the kind has
// some.
func Synthetic(kind string, n, d int) (blas32.General, []int32, error) {
	k, err := synth.KindNamed(kind)
	if err != nil {
		return blas32.General{}, nil, err
	}
	return k.Make(synth.Request{N: n, D: d, Seed: 1})
}

// PointsOfKind returns points of a kind of package synth.
func PointsOfKind(ctx context.Context, l *measure.Lab, kind string, n, d int) (*PointSet, error) {
	return measure.Shared(l, fmt.Sprint("points ", kind, n, " ", d), func() (*PointSet, error) {
		x, _, err := Synthetic(kind, n, d)
		if err != nil {
			return nil, err
		}
		s := &PointSet{Points: x}
		s.sigma, s.Radius, err = bandwidthForDegree(ctx, x, Neighbours, &kernel.Options{Workers: l.Workers(measure.AllWorkers())})
		return s, err
	})
}

// bandwidthForDegree returns the bandwidth and the radius for a mean degree of points.
func bandwidthForDegree(ctx context.Context, x blas32.General, degree float64, o *kernel.Options) (kernel.Bandwidth, float64, error) {
	p, err := kernel.Open(x, o)
	if err != nil {
		return kernel.Bandwidth{}, 0, err
	}
	return p.BandwidthForDegree(ctx, degree, 0, o)
}

// uniformGraph returns the truncated graph of uniform points of the plane or of space.
func uniformGraph(ctx context.Context, l *measure.Lab, n, d, workers int) (kernel.Truncated, error) {
	return measure.Shared(l, operatorKey(n, d, workers), func() (kernel.Truncated, error) {
		s, err := PointsOfKind(ctx, l, "uniform", n, d)
		if err != nil {
			return nil, err
		}
		return s.Graph(ctx, l.Workers(workers))
	})
}

func operatorKey(n, d, workers int) string { return fmt.Sprint("operator ", n, d, workers) }

// labelsOf returns random labels of ten classes.
func labelsOf(n int) []int32 {
	rng := rand.New(rand.NewPCG(5, 6))
	y := make([]int32, n)
	for i := range y {
		y[i] = rng.Int32N(10)
	}
	return y
}

// DefaultRows is the number of rows unless -n says otherwise.
const DefaultRows = 1_000_000

// WeightsOf reads the weights of an operator, rows in its order, by its products
// with unit vectors.
func WeightsOf(ctx context.Context, op kernel.Truncated) (*sparse.CSR, error) {
	const atOnce = 128
	n := op.N()
	x, y := Zeros(n, atOnce), Zeros(n, atOnce)
	ptr, ind, val := make([]uint64, 1, n+1), make([]uint32, 0, op.Cost().NNZ), make([]float32, 0, op.Cost().NNZ)
	for from := 0; from < n; from += atOnce {
		columns := min(atOnce, n-from)
		clear(x.Data)
		for j := range columns {
			x.Data[(from+j)*atOnce+j] = 1
		}
		if err := op.Apply(ctx, y, x); err != nil {
			return nil, err
		}
		for j := range columns { // the weights are symmetric: a column is a row
			for i := range n {
				if v := y.Data[i*atOnce+j]; v != 0 {
					ind, val = append(ind, uint32(i)), append(val, v)
				}
			}
			ptr = append(ptr, uint64(len(ind)))
		}
	}
	return sparse.New(n, n, ptr, ind, val)
}

// Given returns the number of the point that is a row of the operator.
func Given(op kernel.Truncated, row int) uint32 {
	if order := op.Order(); order != nil {
		return order[row]
	}
	return uint32(row)
}

// UnitGraph returns the graph of all pairs within a radius with weights so near 1 that
// they round to it.
func UnitGraph(ctx context.Context, x blas32.General, radius float64, o kernel.Options) (kernel.Truncated, error) {
	o.CutoffRadius = radius
	return BuildCSR(ctx, x, kernel.Gamma(1e-9/(radius*radius)), o)
}
