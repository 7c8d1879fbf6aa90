package kernel

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
)

// A Calibration says how many times longer some classes of work take on a machine
// than the constants of the planner say. The constants were measured on one core of
// an Emerald Rapids server with AVX-512. A factor of 0 counts as 1, so the zero value
// is that machine.
//
// The factors Calibrate returns are powers of the square root of two from 1/16 to
// 256: measuring the same machine twice should not change a choice.
type Calibration struct {
	Scalar float64 `json:"scalar"` // exponentials and sums in float64, one by one
	Vector float64 `json:"vector"` // arithmetic in vectors: distances and weights of candidates
	Sparse float64 `json:"sparse"` // products of stored weights
}

// A workClass is the factor of some work in d dimensions.
type workClass func(c *Calibration, d int) float64

func scalarWork(c *Calibration, _ int) float64 { return orOne(c.Scalar) }
func vectorWork(c *Calibration, _ int) float64 { return orOne(c.Vector) }
func sparseWork(c *Calibration, _ int) float64 { return orOne(c.Sparse) }

// searchWork is the factor of the neighbour search.
func searchWork(c *Calibration, d int) float64 {
	if d <= base.MaxDirect {
		return orOne(c.Vector)
	}
	return orOne(c.Scalar)
}

func orOne(factor float64) float64 {
	if factor > 0 && !math.IsInf(factor, 1) {
		return factor
	}
	return 1
}

// hosts holds what was measured in this process, by level and choices.
var hosts struct {
	sync.Mutex
	known map[string]Calibration
}

// hostCalibration returns the calibration of this machine at the level and choices of the
// kernels. The first call for them measures it, in about 30 ms.
func hostCalibration(kernels *simd.Kernels) Calibration {
	hosts.Lock()
	defer hosts.Unlock()
	name := kernels.String()
	if _, ok := hosts.known[name]; !ok {
		if hosts.known == nil {
			hosts.known = map[string]Calibration{}
		}
		hosts.known[name] = Calibrate(kernels)
	}
	return hosts.known[name]
}

// speedOf returns the speed of the machine of rank 0, which all ranks choose by. own is the
// calibration of the caller, nil for none.
func speedOf(ctx context.Context, o *base.Options, own *Calibration) (*Calibration, error) {
	speed := own
	if speed == nil {
		speed = &Calibration{}
		if o.Ranks.Rank() == 0 {
			*speed = hostCalibration(o.Kernels)
		}
	}
	if o.Ranks.Alone() {
		return speed, nil
	}
	factors, bounds := []float64{speed.Scalar, speed.Vector, speed.Sparse}, make([]int, o.Ranks.Size()+1)
	for r := range o.Ranks.Size() {
		bounds[r+1] = len(factors) // all are of rank 0
	}
	if err := exchange.Gather(ctx, o.Ranks, factors, bounds); err != nil {
		return nil, fmt.Errorf("kernel: speed of rank 0: %w", err)
	}
	return &Calibration{Scalar: factors[0], Vector: factors[1], Sparse: factors[2]}, nil
}

// These are the seconds one operation of each sample below takes on the machine the
// constants of the planner were measured on. Package internal/calibration keeps what
// Calibrate measured in a file: raise its version when these or the samples change.
const (
	scalarReference = 10.4e-9
	vectorReference = 1.07e-9
	sparseReference = 0.444e-9
)

// Calibrate measures this machine at the level and choices of the kernels, nil for the best there
// are. It runs on the caller's goroutine for about 30 ms, takes a few hundred
// kilobytes and touches no file. A program that keeps the result can hand it to later
// processes on the same machine as Options.Calibration.
func Calibrate(kernels *simd.Kernels) Calibration {
	if kernels == nil {
		kernels = simd.At(simd.Best())
	}
	return Calibration{
		Scalar: quantised(scalarSample().seconds() / scalarReference),
		Vector: quantised(vectorSample(kernels).seconds() / vectorReference),
		Sparse: quantised(sparseSample(kernels).seconds() / sparseReference),
	}
}

// A workSample runs some operations of a class.
type workSample struct {
	operations int
	run        func()
}

// seconds returns the time of one operation: the least of some measurements, for what
// else the machine does only ever adds to it.
func (w workSample) seconds() float64 {
	const samples, least = 4, 2 * time.Millisecond
	w.run() // warm up
	best := math.Inf(1)
	for range samples {
		began, done := time.Now(), 0
		for time.Since(began) < least {
			w.run()
			done += w.operations
		}
		best = min(best, time.Since(began).Seconds()/float64(done))
	}
	return best
}

// quantised returns the nearest power of the square root of two, within reason.
func quantised(ratio float64) float64 {
	return math.Exp2(min(max(math.Round(2*math.Log2(ratio)), -8), 16) / 2)
}

// scalarSample adds up exponentials one by one.
func scalarSample() workSample {
	const n = 4096
	d2, sum := make([]float64, n), 0.0
	for i := range d2 {
		d2[i] = float64(i) / n
	}
	return workSample{n, func() {
		for _, v := range d2 {
			sum += math.Exp(-v) * (1 + sum*0x1p-1000)
		}
	}}
}

// vectorSample finds the neighbours of a cluster, half of its candidates, and makes
// their weights.
func vectorSample(kernels *simd.Kernels) workSample {
	const points = 256
	axis := make([]float32, 2*points+simd.CoordinatePad)
	for i := range 2 * points {
		_, fraction := math.Modf(float64(i) * math.Phi)
		axis[i] = float32(fraction)
	}
	candidates := simd.NewCandidates(2, points)
	const out = cells.ClusterPoints*points + simd.CoordinatePad
	ind, d2, val := make([]uint32, out), make([]float64, out), make([]float32, out)
	counts := make([]uint32, cells.ClusterPoints)
	return workSample{cells.ClusterPoints * points, func() {
		kernels.Collect(candidates, simd.RowsOf(axis, points), []uint32{0, points})
		found := kernels.FindNear(ind, d2, counts, candidates, simd.RowsOf(axis, points), 0, 0.17)
		kernels.Weights(val[:found], d2[:found], 10)
	}}
}

// sparseSample multiplies a matrix of 32 entries a row, too large for the first-level
// cache, with two columns.
func sparseSample(kernels *simd.Kernels) workSample {
	const rows, entries, k = 4096, 32, 2
	ptr, ind, val := make([]uint64, rows+1), make([]uint32, rows*entries), make([]float32, rows*entries)
	for i := range ind {
		ptr[i/entries+1] = uint64(i + 1)
		ind[i], val[i] = uint32((i/entries+i%entries*i%entries)%rows), 0.5
	}
	x, dst := make([]float32, rows*k), make([]float32, rows*k)
	return workSample{len(ind), func() { kernels.MulSparse(simd.RowsOf(dst, k), k, ptr, ind, val, simd.RowsOf(x, k)) }}
}
