package kernel

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// Calibrate returns factors of the documented form, and a plan without a calibration
// measures once.
func TestCalibrate(t *testing.T) {
	kernels := simd.At(simd.Generic)
	for name, c := range map[string]Calibration{"best": Calibrate(nil), "generic": Calibrate(kernels), "host": hostCalibration(kernels)} {
		for _, factor := range []float64{c.Scalar, c.Vector, c.Sparse} {
			if !(factor >= 1./16 && factor <= 256) || quantised(factor) != factor {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
	if first, again := hostCalibration(kernels), hostCalibration(kernels); first != again {
		t.Errorf("measured twice: %+v, %+v", first, again)
	}
}

func TestQuantised(t *testing.T) {
	for ratio, want := range map[float64]float64{1: 1, 1.18: 1, 0.86: 1, 1.3: math.Sqrt2, 2: 2, 1e9: 256, 0: 1. / 16} {
		if got := quantised(ratio); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantised(%g) = %g, want %g", ratio, got, want)
		}
	}
}

// BenchmarkCalibrationSamples gives the reference constants: ns of one operation.
func BenchmarkCalibrationSamples(b *testing.B) {
	kernels := simd.At(simd.Best())
	for _, c := range []struct {
		name   string
		sample workSample
	}{{"scalar", scalarSample()}, {"vector", vectorSample(kernels)}, {"sparse", sparseSample(kernels)}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.sample.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.sample.operations), "ns/operation")
		})
	}
}
