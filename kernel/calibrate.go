package kernel

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A calibration says how many times longer than the constants of the planner some
// classes of work take on a machine. They were measured on one core of an Emerald
// Rapids server with AVX-512; a factor of 0 counts as 1, so the zero value is that
// machine.
//
// Factors are powers of the square root of two: measuring the same machine twice
// should not change a choice.
type calibration struct {
	Scalar float64 `json:"scalar"` // exponentials and sums in float64, one by one
	Vector float64 `json:"vector"` // arithmetic in vectors: distances and weights of candidates
	Sparse float64 `json:"sparse"` // products of stored weights
}

// A workClass is the factor of some work in d dimensions.
type workClass func(c *calibration, d int) float64

func scalarWork(c *calibration, _ int) float64 { return orOne(c.Scalar) }
func vectorWork(c *calibration, _ int) float64 { return orOne(c.Vector) }
func sparseWork(c *calibration, _ int) float64 { return orOne(c.Sparse) }

// searchWork is that of the neighbour search.
func searchWork(c *calibration, d int) float64 {
	if d <= maxDirect {
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

var hosts struct {
	sync.Mutex
	known map[simd.Level]calibration
}

// hostCalibration returns the calibration of this machine at the level of the
// kernels. It is measured once, in about 30 ms, and kept in the user's cache folder
// (os.UserCacheDir); where there is none it is measured once per process.
func hostCalibration(kernels *simd.Kernels) calibration {
	hosts.Lock()
	defer hosts.Unlock()
	level := kernels.Level()
	if _, ok := hosts.known[level]; !ok {
		if hosts.known == nil {
			hosts.known = map[simd.Level]calibration{}
		}
		folder, err := os.UserCacheDir()
		if err != nil {
			folder = ""
		}
		hosts.known[level] = cachedCalibration(folder, kernels)
	}
	return hosts.known[level]
}

// calibrationVersion changes with the measurements or what they are compared with.
const calibrationVersion = 1

// calibrationFile is what is kept in the cache, for one machine and level.
type calibrationFile struct {
	Version int         `json:"version"`
	CPU     string      `json:"cpu"`
	Level   string      `json:"level"`
	Factors calibration `json:"factors"`
}

// cachedCalibration reads the calibration from a folder, or measures it and writes it
// there. Nothing depends on whether that is possible but the time it takes.
func cachedCalibration(folder string, kernels *simd.Kernels) calibration {
	want := calibrationFile{Version: calibrationVersion, CPU: runtime.GOARCH + " " + cpuid.CPU.BrandName, Level: kernels.Level().String()}
	path := filepath.Join(folder, "privatemail", "calibration-"+want.Level+".json")
	if folder != "" {
		var got calibrationFile
		if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &got) == nil {
			if want.Factors = got.Factors; got == want && got.Factors.measured() {
				return got.Factors
			}
		}
	}
	want.Factors = calibrate(kernels)
	if data, err := json.Marshal(want); err == nil && folder != "" {
		writeCache(path, data)
	}
	return want.Factors
}

// writeCache writes a file that another process may be reading, if it can.
func writeCache(path string, data []byte) {
	folder := filepath.Dir(path)
	if os.MkdirAll(folder, 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(folder, filepath.Base(path)+".*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// Seconds of the machine the constants are of for one of the operations below.
const (
	scalarReference = 10.4e-9
	vectorReference = 1.07e-9
	sparseReference = 0.444e-9
)

// calibrate measures.
func calibrate(kernels *simd.Kernels) calibration {
	return calibration{
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

// measured tells whether the factors are such as calibrate returns.
func (c calibration) measured() bool {
	for _, factor := range []float64{c.Scalar, c.Vector, c.Sparse} {
		if !(factor > 0) || quantised(factor) != factor {
			return false
		}
	}
	return true
}

// scalarSample is the inner loop of dense.
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
		kernels.Collect(candidates, axis, points, []uint32{0, points})
		found := kernels.Near(ind, d2, counts, candidates, axis, points, 0, 0.17)
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
	return workSample{len(ind), func() { kernels.MulRowsF32(dst, k, k, ptr, ind, val, x, k) }}
}
