// Package calibration keeps the measurements of kernel.Calibrate and the loops that package
// simd chose in files, so that a command that runs often measures its machine once and
// always makes the same choice. The library itself touches no such file.
package calibration

import (
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// version changes when kernel.Calibrate measures or compares something else.
const version = 2

// A file has the calibration of one machine at one level with its choices.
type file struct {
	Version int                `json:"version"`
	CPU     string             `json:"cpu"`
	Level   string             `json:"level"`
	Factors kernel.Calibration `json:"factors"`
}

// OfThisMachine returns the calibration of this machine at a level of package simd. It
// reads the file of an earlier process in the user's cache folder (os.UserCacheDir);
// if there is none, or it is damaged or of another machine, it measures, in about 30
// ms, and writes the file. A file that cannot be read or written only costs the time of
// the measurement.
func OfThisMachine(level simd.Level) kernel.Calibration {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = ""
	}
	return keptIn(folder, level)
}

// keptIn is OfThisMachine with a cache folder, "" for none.
func keptIn(folder string, level simd.Level) kernel.Calibration {
	kernels := simd.At(level)
	want := file{Version: version, CPU: runtime.GOARCH + " " + cpuid.CPU.BrandName, Level: kernels.String()}
	if folder == "" {
		return kernel.Calibrate(kernels)
	}
	path := filepath.Join(folder, "privatemail", "calibration-"+want.Level+".json")
	var got file
	if load(path, &got) {
		want.Factors = got.Factors
		if got == want && measured(got.Factors) {
			return got.Factors
		}
	}
	want.Factors = kernel.Calibrate(kernels)
	save(path, want)
	return want.Factors
}

// measured reports whether kernel.Calibrate could have returned the factors: powers of
// the square root of two from 1/16 to 256.
func measured(c kernel.Calibration) bool {
	for _, factor := range []float64{c.Scalar, c.Vector, c.Sparse} {
		steps := 2 * math.Log2(factor)
		if !(steps >= -8-1e-9 && steps <= 16+1e-9) || math.Abs(steps-math.Round(steps)) > 1e-9 {
			return false
		}
	}
	return true
}
