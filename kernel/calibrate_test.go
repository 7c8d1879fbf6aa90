package kernel

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/simd"
)

func TestCalibrationIsCached(t *testing.T) {
	kernels := simd.At(simd.Generic)
	folder := t.TempDir()
	first := cachedCalibration(folder, kernels)
	for name, factor := range map[string]float64{"scalar": first.Scalar, "vector": first.Vector, "sparse": first.Sparse} {
		if steps := 2 * math.Log2(factor); !(factor > 0) || math.Abs(steps-math.Round(steps)) > 1e-9 {
			t.Errorf("%s: factor %g", name, factor)
		}
	}
	path := filepath.Join(folder, "privatemail", "calibration-generic.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// What is there is believed, and only if it is whole and of this machine.
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func() calibration { return cachedCalibration(folder, kernels) }
	marked := calibration{Scalar: 128, Vector: 1, Sparse: 1}
	mark := func(version, level string) string {
		return `{"version":` + version + `,"cpu":` + cpuOf(t, data) + `,"level":"` + level + `","factors":{"scalar":128,"vector":1,"sparse":1}}`
	}
	write(mark("1", "generic"))
	if read() != marked {
		t.Error("the cache is not read")
	}
	for _, text := range []string{mark("0", "generic"), mark("1", "avx2"), "", "{", `{"version":1}`, strings.Replace(mark("1", "generic"), "128", "181", 1)} {
		write(text)
		if got := read(); got.Scalar == 128 || got.Scalar == 181 {
			t.Errorf("believed %q", text)
		}
		if again, err := os.ReadFile(path); err != nil || len(again) < 20 {
			t.Errorf("%q was not replaced: %q, %v", text, again, err)
		}
	}
	if got := hostCalibration(kernels); !got.measured() {
		t.Errorf("calibration of this machine: %+v", got)
	}
	// No folder, or one that cannot be made.
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"", file} {
		if got := cachedCalibration(place, kernels); !(got.Scalar > 0) {
			t.Errorf("%q: %+v", place, got)
		}
	}
}

// cpuOf returns the name of the processor as a cache file has it.
func cpuOf(t *testing.T, data []byte) string {
	t.Helper()
	var file struct{ CPU json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return string(file.CPU)
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
