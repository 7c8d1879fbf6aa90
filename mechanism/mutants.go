//go:build mutant

package mechanism

import (
	"encoding/binary"
	"io"
	"math"
	"sync"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/mutant"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The functions of decisions.go, each with the mistakes that one can make in
// it. Without the mistake that the build names they are the same.

func classicalHolds(epsilon float64) bool {
	return epsilon < 1 || mutant.Name == "classical_anywhere"
}

func classicalMultiplier(epsilon, delta float64) float64 {
	logarithm := math.Log(1.25 / delta)
	switch mutant.Name {
	case "log_product":
		logarithm = math.Abs(math.Log(1.25 * delta))
	case "log10":
		logarithm = math.Log10(1.25 / delta)
	}
	return math.Sqrt(2*logarithm) / epsilon
}

func noiseMultiplier(p Params) (float64, error) {
	switch mutant.Name {
	case "swapped":
		return p.Rule.Multiplier(p.Delta, p.Epsilon)
	case "delta_over_m":
		return p.Rule.Multiplier(p.Epsilon, p.Delta/coordinates(p.Sensitivity))
	case "delta_times_m":
		return p.Rule.Multiplier(p.Epsilon, min(maxDelta, p.Delta*coordinates(p.Sensitivity)))
	}
	return p.Rule.Multiplier(p.Epsilon, p.Delta)
}

func totalSensitivity(b sensitivity.Bound, step float64) (total, gridError float64) {
	rows, _ := b.Size()
	root := up(math.Sqrt(coordinates(b)))
	value := b.Value()
	gridError = step * root
	switch mutant.Name {
	case "linf":
		value /= root
	case "per_row":
		value /= math.Sqrt(float64(rows))
	case "l1":
		value *= root
	case "half_replace":
		value = b.Exact()/2 + 2*b.Eta()
	case "no_operator_error":
		value = b.Exact()
	case "no_grid_error":
		return value, gridError
	}
	return up(value + gridError), gridError
}

func deviation(multiplier, sensitivity float64) float64 {
	sigma := up(multiplier * sensitivity)
	switch mutant.Name {
	case "variance":
		return sigma * sigma
	case "variance_squared":
		return math.Pow(sigma, 4)
	}
	return sigma
}

// firstSeeds are those of the first release, for one_noise.
var firstSeeds struct {
	sync.Mutex
	seeds []seed
}

func drawSeeds(source io.Reader, seeds []seed) error {
	for i := range seeds {
		if _, err := io.ReadFull(source, seeds[i][:]); err != nil {
			return err
		}
		switch mutant.Name {
		case "fixed_seed":
			seeds[i] = seed{byte(i), byte(i >> 8), 1}
		case "time_seed":
			seeds[i] = seed{byte(i), byte(i >> 8), 1}
			binary.LittleEndian.PutUint64(seeds[i][8:], uint64(time.Now().UnixNano()))
		}
	}
	if mutant.Name == "one_noise" {
		firstSeeds.Lock()
		defer firstSeeds.Unlock()
		if n := len(firstSeeds.seeds); n < len(seeds) {
			firstSeeds.seeds = append(firstSeeds.seeds, seeds[n:]...)
		}
		copy(seeds, firstSeeds.seeds)
	}
	return nil
}

func seedOf(seeds []seed, chunk int) *seed {
	if mutant.Name == "one_stream" {
		return &seeds[0]
	}
	return &seeds[chunk]
}

var half = func() uint64 {
	if mutant.Name == "truncation" {
		return 0
	}
	return 1 << 63
}()

func perturb(dst []int64, x blas64.General, lo, hi int, c Calibration, normal *sampler) {
	row, column := lo/x.Cols, lo%x.Cols
	columns := make([]int64, x.Cols)
	first, noise := row, int64(0)
	for i := lo; i < hi; i++ {
		value := x.Data[row*x.Stride+column]
		point := nearest(value, c.step)
		switch mutant.Name {
		case "row_noise":
			if i == lo || column == 0 {
				noise = normal.draw(c.multiple)
			}
			dst[i] = onGrid(point, noise)
		case "column_noise":
			if row == first || row == first+1 && i-lo < x.Cols {
				columns[column] = normal.draw(c.multiple)
			}
			dst[i] = onGrid(point, columns[column])
		case "float32_noise":
			dst[i] = onGrid(point, int64(float32(normal.draw(c.multiple))))
		case "float_sum":
			dst[i] = int64(math.RoundToEven((value + float64(normal.draw(c.multiple))*c.step) / c.step))
		case "before_grid":
			value = max(-clampSteps*c.step, min(clampSteps*c.step, value))
			dst[i] = int64(math.RoundToEven(value/c.step + float64(normal.draw(c.multiple<<10))/(1<<10)))
		case "rerounding":
			dst[i] = (onGrid(point, normal.draw(c.multiple)) + 128) &^ 255
		default:
			dst[i] = onGrid(point, normal.draw(c.multiple))
		}
		if column++; column == x.Cols {
			row, column = row+1, 0
		}
	}
}

func nearest(x, step float64) int64 {
	x = max(-clampSteps*step, min(clampSteps*step, x))
	if math.IsNaN(x) {
		return 0
	}
	if mutant.Name == "truncated_value" {
		return int64(x / step)
	}
	return int64(math.RoundToEven(x / step))
}

func spendFirst(budget Budget, unit Unit, id [16]byte, spend Spend, draw func() error) (Receipt, error) {
	switch mutant.Name {
	case "unrecorded":
		return Receipt{id: id}, draw()
	case "recorded_late":
		if err := draw(); err != nil {
			return Receipt{}, err
		}
		return budget.reserve(unit, id, spend)
	}
	receipt, err := budget.reserve(unit, id, spend)
	if err != nil {
		return Receipt{}, err
	}
	err = draw()
	if err != nil && mutant.Name == "refund" {
		spend.Epsilon, spend.Rho = -spend.Epsilon, -spend.Rho
		_, _ = budget.reserve(unit, id, spend)
	}
	return receipt, err
}
