// Package calibration keeps what kernel.Calibrate measured in a file, so that a command
// that runs often measures its machine once. The library itself touches no such file.
package calibration

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/simd"
)

// version changes with what kernel.Calibrate measures or compares with.
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
// where there is none, or one that is damaged or of another machine, it measures, in
// about 30 ms, and writes the file anew. A file that cannot be read or written costs
// the time of the measurement and nothing else.
func OfThisMachine(level simd.Level) kernel.Calibration {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = ""
	}
	return keptIn(folder, level)
}

// keptIn is OfThisMachine with a cache folder, "" when there is none.
func keptIn(folder string, level simd.Level) kernel.Calibration {
	kernels := simd.At(level)
	want := file{Version: version, CPU: runtime.GOARCH + " " + cpuid.CPU.BrandName, Level: kernels.String()}
	if folder == "" {
		return kernel.Calibrate(kernels)
	}
	path := filepath.Join(folder, "privatemail", "calibration-"+want.Level+".json")
	if got, ok := load(path, want); ok {
		return got
	}
	want.Factors = kernel.Calibrate(kernels)
	save(path, want)
	return want.Factors
}

// load returns the factors of a file that is whole and, these apart, equal to want.
func load(path string, want file) (kernel.Calibration, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return kernel.Calibration{}, false
	}
	var got file
	if json.Unmarshal(data, &got) != nil {
		return kernel.Calibration{}, false
	}
	want.Factors = got.Factors
	return got.Factors, got == want && measured(got.Factors)
}

// measured tells whether the factors are such as kernel.Calibrate returns: powers of
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

// save writes a file that another process may be reading, if it can.
func save(path string, content file) {
	data, err := json.Marshal(content)
	if err != nil {
		return
	}
	folder := filepath.Dir(path)
	if os.MkdirAll(folder, 0o755) != nil {
		return
	}
	named, base := filepath.Split(path)
	f, err := disk.Temporary(named, "."+base+".privatemail-", 0o600)
	if err != nil {
		return
	}
	if _, err = f.Write(data); err != nil || f.Rename(path) != nil {
		f.Remove() // the machine is measured again another time
	}
}
