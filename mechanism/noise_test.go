package mechanism

import (
	"context"
	"io"
	chacha "math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/noise"
)

var smallGrids = []int64{1, 2, 3, 7, 64}

// words returns the stream a chunk would use.
func words(t testing.TB, from io.Reader) noise.Source {
	t.Helper()
	seeds := make([]noise.Seed, 1)
	if err := drawSeeds(from, seeds); err != nil {
		t.Fatal(err)
	}
	return chacha.NewChaCha8(seeds[0])
}

// T-3: small multiples, where a cell is wide, against exact probabilities. A
// million draws detect a cell that is off by one or two percent; truncation
// would double the centre cell.
func TestSmallGrids(t *testing.T) {
	n := pick(1_000_000, 2_000_000)
	normal := &noise.Sampler{Words: words(t, randomness("small grids"))}
	x := blas64.General{Rows: n, Cols: 1, Stride: 1, Data: make([]float64, n)}
	grid := make([]int64, n)
	for _, multiple := range smallGrids {
		perturb(grid, x, 0, n, Calibration{step: 1, multiple: multiple}, normal)
		reach := 7 * multiple
		counts, expected := make([]float64, 2*reach+1), make([]float64, 2*reach+1)
		for _, k := range grid {
			counts[max(0, min(2*reach, k+reach))]++
		}
		for j := range expected {
			expected[j] = float64(n) * cell(multiple, int64(j)-reach)
		}
		if statistic, degrees, reject := chiSquare(counts, expected); reject {
			t.Errorf("S = %d: chi-square %.1f at %d degrees", multiple, statistic, degrees)
		}
	}
}

// T-4: the noise of whole releases is normal with standard deviation Sigma, at
// two values of Sigma far from one, and the same test rejects noise that is one
// percent off. With a million draws that is 14 deviations.
func TestNoiseIsNormal(t *testing.T) {
	const rows, columns = 500, 500
	releases := pick(4, 16)
	source := randomness("normal")
	for _, sigma := range []float64{0.0176, 37.5} {
		b := boundNear(t, rows, columns, sigma/3.73063163482)
		c, r := calibrate(t, CalibrationSettings{Epsilon: 1, Delta: 1e-5, Sensitivity: b}), request(rows, columns)
		// The expected noise follows from the bound, not from the fields of the
		// calibration.
		want := 3.73063163482 * b.Value()
		var z []float64
		for range releases {
			out, err := privatize(context.Background(), c, NoLedger, r, nil, source)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range out.Grid {
				z = append(z, float64(k)*out.Step/want)
			}
		}
		if reason := notNormal(z); reason != "" {
			t.Errorf("sigma %g: %s", sigma, reason)
		}
		factor := 1.01
		if !longtest.Wanted() {
			factor = 1.05 // 250,000 draws
		}
		for i := range z {
			z[i] *= factor
		}
		if notNormal(z) == "" {
			t.Errorf("sigma %g: noise %g times as large goes unnoticed", sigma, factor)
		}
		for i := range z {
			z[i] /= factor * factor
		}
		if notNormal(z) == "" {
			t.Errorf("sigma %g: noise %g times too small goes unnoticed", sigma, factor)
		}
	}
}
