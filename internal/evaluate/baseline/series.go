package baseline

import (
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/entropy"
	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// seriesSettings describe vectors that are released one after the other, such as
// the steps of an iteration on private rows, or a single vector. None of the
// settings has a default, and none may depend on private data.
type seriesSettings struct {
	// Epsilon, in [1e-6, 100], and Delta, in [1e-100, 0.1], are for all vectors
	// together.
	Epsilon, Delta float64
	// L2Sensitivity bounds how far one record can move any one of the computed
	// vectors, whatever was released before. The caller has to prove it:
	// clipping the computed vector to a ball makes it the diameter of the ball.
	L2Sensitivity float64
	// Protects says which pairs of data sets L2Sensitivity was proved for, such as
	// mechanism.AnyRow(sensitivity.ReplaceOne, 1).
	Protects mechanism.Protection
	// Vectors is their number and Coordinates the length of each; the product
	// is at most 2^24.
	Vectors, Coordinates int
}

const maxSeries = 1 << 24

// maxGridShare is the largest share of the sensitivity that the grid may add.
const maxGridShare = 1e-3

// gridNoise is a grid step and the standard deviation in steps.
type gridNoise struct {
	step     float64
	multiple int64
}

func (n gridNoise) sigma() float64 { return float64(n.multiple) * n.step }

// calibrate returns the noise of each vector. Gaussian releases compose exactly
// even when later ones depend on earlier ones: T of them at sensitivity D cost
// as much as one at sqrt(T) D (Dong, Roth and Su 2022).
func (p seriesSettings) calibrate() (gridNoise, error) {
	multiplier, err := mechanism.Analytic.Multiplier(p.Epsilon, p.Delta)
	if err != nil {
		return gridNoise{}, err
	}
	if p.Vectors < 1 || p.Coordinates < 1 || p.Vectors > maxSeries/p.Coordinates {
		return gridNoise{}, fmt.Errorf("baseline: %d vectors of %d coordinates, want 1 to 2^24 coordinates in all: %w", p.Vectors, p.Coordinates, mechanism.ErrParam)
	}
	if !(p.L2Sensitivity >= 1e-100 && p.L2Sensitivity <= 1e100) {
		return gridNoise{}, fmt.Errorf("baseline: sensitivity %g, want 1e-100 to 1e100: %w", p.L2Sensitivity, mechanism.ErrParam)
	}
	multiplier = up(multiplier * up(math.Sqrt(float64(p.Vectors))))
	_, exponent := math.Frexp(multiplier * p.L2Sensitivity)
	n := gridNoise{step: math.Ldexp(1, exponent-41)} // as in mechanism.Calibrate
	gridError := n.step * up(math.Sqrt(float64(p.Coordinates)))
	if gridError > p.L2Sensitivity*maxGridShare {
		return gridNoise{}, fmt.Errorf("baseline: %d coordinates at this epsilon and delta, where the grid would cost more than 0.001 of the noise: %w", p.Coordinates, mechanism.ErrParam)
	}
	n.multiple = int64(math.Ceil(up(multiplier*up(p.L2Sensitivity+gridError)) / n.step))
	return n, nil
}

// up returns the next larger number.
func up(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// sigma returns the standard deviation of the noise on each coordinate. It
// reads no data and draws nothing.
func (p seriesSettings) sigma() (float64, error) {
	n, err := p.calibrate()
	return n.sigma(), err
}

// A series has been paid for and releases vectors: as many as its settings say,
// for all its copies and callers together. It is safe for concurrent use.
type series struct {
	settings seriesSettings
	noise    gridNoise
	source   io.Reader
	left     *atomic.Int64
}

// newSeries checks that there is entropy, lets the budget write down the spend
// of all vectors, and returns the series. Errors are mechanism.ErrParam, ErrLedger
// without a budget, ErrEntropy, and the errors of the budget.
func newSeries(budget mechanism.Budget, unit mechanism.Unit, p seriesSettings) (*series, error) {
	return seriesFrom(budget, unit, p, entropy.System{})
}

// seriesFrom is newSeries with the source of randomness as a parameter.
func seriesFrom(budget mechanism.Budget, unit mechanism.Unit, p seriesSettings, source io.Reader) (*series, error) {
	if err := unit.Check(budget); err != nil {
		return nil, err
	}
	n, err := p.calibrate()
	if err != nil {
		return nil, err
	}
	if p.Protects == (mechanism.Protection{}) {
		return nil, fmt.Errorf("baseline: the series does not say which data sets it protects: %w", mechanism.ErrParam)
	}
	var id [16]byte
	if err := draw(source, id[:]); err != nil {
		return nil, err
	}
	receipt, err := budget.Reserve(unit, id, mechanism.Spend{Epsilon: p.Epsilon, Delta: p.Delta, Protects: p.Protects})
	if err != nil {
		return nil, err
	}
	if receipt.ReleaseID() != id || (receipt.Sequence() == 0) != (budget == mechanism.NoLedger) {
		return nil, fmt.Errorf("baseline: %w: the receipt of the budget is not for this series, or has no number: %w", mechanism.ErrLedger, mechanism.ErrSpent)
	}
	s := &series{settings: p, noise: n, source: source, left: new(atomic.Int64)}
	s.left.Store(int64(p.Vectors))
	return s, nil
}

// draw fills p with entropy.
func draw(source io.Reader, p []byte) error {
	if _, err := io.ReadFull(source, p); err != nil {
		return fmt.Errorf("baseline: %w: %w", mechanism.ErrEntropy, err)
	}
	return nil
}

// sigma is the standard deviation of the noise on each coordinate.
func (s *series) sigma() float64 { return s.noise.sigma() }

// release returns x with noise: a new slice on the grid. x has the number of
// coordinates of the settings; they are clamped to 2^51 grid steps, more than
// 500 sigma. Errors are mechanism.ErrParam for another length or one vector too
// many, ErrNonFinite and ErrEntropy; none of them costs a vector.
//
// Each vector has its own stream, seeded now: a stream kept from vector to
// vector could be copied with the process, and its noise used twice.
func (s *series) release(x []float64) ([]float64, error) {
	if s.left == nil {
		return nil, fmt.Errorf("baseline: the series was not made by newSeries: %w", mechanism.ErrParam)
	}
	if len(x) != s.settings.Coordinates {
		return nil, fmt.Errorf("baseline: a vector of %d coordinates in a series of %d: %w", len(x), s.settings.Coordinates, mechanism.ErrParam)
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("baseline: the vector to be released: %w", mechanism.ErrNonFinite)
		}
	}
	var seed noise.Seed
	defer clear(seed[:])
	if err := draw(s.source, seed[:]); err != nil {
		return nil, err
	}
	if s.left.Add(-1) < 0 {
		return nil, fmt.Errorf("baseline: all %d vectors of the series have been released: %w", s.settings.Vectors, mechanism.ErrParam)
	}
	out := make([]float64, len(x))
	noise.Stream(&seed, func(words noise.Source) {
		normal := &noise.Sampler{Words: words}
		for i, v := range x {
			out[i] = float64(noise.OnGrid(noise.Nearest(v, s.noise.step), normal.Draw(s.noise.multiple))) * s.noise.step
		}
	})
	return out, nil
}
