package scheme

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"
)

// Kappa is the largest scale under which nothing wraps.
func TestKappa(t *testing.T) {
	for _, c := range []struct {
		maxNorm          int64
		cells, dimension int
	}{{1, 1, 1}, {127 * 127, 1, 1}, {127 * 127, 4, 1}, {60000, 37, 64}, {70000, 500, 64}, {1e6, 5000, 1000}, {127 * 127 * 65536, 7, 65536}} {
		longest := math.Sqrt(float64(c.maxNorm))
		largest := func(kappa float64) float64 {
			return kappa*longest + 12*ProbeTau*longest*math.Sqrt(float64(c.cells)) + longest*math.Sqrt(float64(c.dimension))/2
		}
		kappa := float64(Kappa(c.maxNorm, c.cells, c.dimension))
		if kappa < 1 || largest(kappa) > math.MaxInt32+1e-3 || kappa < math.MaxInt32 && largest(kappa+1) <= math.MaxInt32-1e-3 {
			t.Errorf("%+v: %g gives %g", c, kappa, largest(kappa))
		}
	}
	for _, maxNorm := range []int64{math.MinInt64, 0, 1 << 40} {
		if k := Kappa(maxNorm, 1<<20, 1<<20); k != 0 {
			t.Errorf("squared norm %d: %d", maxNorm, k)
		}
	}
}

// All machines compute the same scales, also those that can fuse a product and a sum: a client
// refuses a manifest with another one. The hash is that of amd64.
func TestKappaIsTheSameEverywhere(t *testing.T) {
	all := sha256.New()
	for i := range 20_000 {
		maxNorm, cells, dimension := 1+int64(i)*int64(i)*7919%(127*127*4096), 1+i*i%9973, 1+i%1024
		binary.Write(all, binary.LittleEndian, Kappa(maxNorm, cells, dimension))
	}
	if got, want := hex.EncodeToString(all.Sum(nil)), "401da4c60764bb937cd2b7af39fb740d478fd64ae7ebaae3e3f70d89b3a3b4f3"; got != want {
		t.Errorf("their hash is %s, want %s", got, want)
	}
}

// The parameter of a probe is that of the table and of half a step of rounding.
func TestProbeTau(t *testing.T) {
	if got, want := ProbeTau, math.Hypot(6.4066, 128); math.Abs(got-want) > 1e-12*want {
		t.Errorf("%g, want %g", got, want)
	}
}
