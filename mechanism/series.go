package mechanism

import (
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

// SeriesSettings describe vectors that are released one after the other, such as
// the steps of an iteration on private rows, or a single vector. None of the
// settings has a default, and none may depend on private data.
type SeriesSettings struct {
	// Epsilon, in [1e-6, 100], and Delta, in [1e-100, 0.1], are for all vectors
	// together.
	Epsilon, Delta float64
	// L2Sensitivity bounds how far one record can move any one of the computed
	// vectors, whatever was released before. The caller has to prove it:
	// clipping the computed vector to a ball makes it the diameter of the ball.
	L2Sensitivity float64
	// Protects says which pairs of data sets L2Sensitivity was proved for, such as
	// AnyRow(sensitivity.ReplaceOne, 1).
	Protects Protection
	// Vectors is their number and Coordinates the length of each; the product
	// is at most 2^24.
	Vectors, Coordinates int
}

const maxSeries = 1 << 24

// noise is a grid step and the standard deviation in steps.
type noise struct {
	step     float64
	multiple int64
}

func (n noise) sigma() float64 { return float64(n.multiple) * n.step }

// calibrate returns the noise of each vector. Gaussian releases compose exactly
// even when later ones depend on earlier ones: T of them at sensitivity D cost
// as much as one at sqrt(T) D (Dong, Roth and Su 2022).
func (p SeriesSettings) calibrate() (noise, error) {
	multiplier, err := Analytic.Multiplier(p.Epsilon, p.Delta)
	if err != nil {
		return noise{}, err
	}
	if p.Vectors < 1 || p.Coordinates < 1 || p.Vectors > maxSeries/p.Coordinates {
		return noise{}, &ParamError{Field: "Vectors", Value: float64(p.Vectors) * float64(p.Coordinates), Allowed: "1 to 2^24 coordinates in all"}
	}
	if !(p.L2Sensitivity >= 1e-100 && p.L2Sensitivity <= 1e100) {
		return noise{}, &ParamError{Field: "L2Sensitivity", Value: p.L2Sensitivity, Allowed: "1e-100 to 1e100"}
	}
	multiplier = up(multiplier * up(math.Sqrt(float64(p.Vectors))))
	_, exponent := math.Frexp(multiplier * p.L2Sensitivity)
	n := noise{step: math.Ldexp(1, exponent-41)} // as in Calibrate
	gridError := n.step * up(math.Sqrt(float64(p.Coordinates)))
	if gridError > p.L2Sensitivity*maxGridShare {
		return noise{}, &ParamError{Field: "Coordinates", Value: float64(p.Coordinates), Allowed: "fewer at this Epsilon and Delta: the grid would cost more than 0.001 of the noise"}
	}
	n.multiple = int64(math.Ceil(deviation(multiplier, up(p.L2Sensitivity+gridError)) / n.step))
	return n, nil
}

// Sigma returns the standard deviation of the noise on each coordinate. It
// reads no data and draws nothing.
func (p SeriesSettings) Sigma() (float64, error) {
	n, err := p.calibrate()
	return n.sigma(), err
}

// A Series has been paid for and releases vectors: as many as its settings say,
// for all its copies and callers together. It is safe for concurrent use.
type Series struct {
	settings SeriesSettings
	noise    noise
	source   io.Reader
	left     *atomic.Int64
}

// NewSeries checks that there is entropy, lets the budget write down the spend
// of all vectors, and returns the series. Errors are a *ParamError, ErrLedger
// without a budget, ErrEntropy, and the errors of the budget.
func NewSeries(budget Budget, unit Unit, p SeriesSettings) (*Series, error) {
	return newSeries(budget, unit, p, system)
}

func newSeries(budget Budget, unit Unit, p SeriesSettings, source io.Reader) (*Series, error) {
	if err := unit.Check(budget); err != nil {
		return nil, err
	}
	n, err := p.calibrate()
	if err != nil {
		return nil, err
	}
	secret, err := drawSecrets(source, 0, false)
	if err != nil {
		return nil, err
	}
	s := &Series{settings: p, noise: n, source: source, left: new(atomic.Int64)}
	_, err = spendFirst(budget, unit, secret.id, Spend{Epsilon: p.Epsilon, Delta: p.Delta, Protects: p.Protects}, func() error {
		s.left.Store(int64(p.Vectors))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Sigma is the standard deviation of the noise on each coordinate.
func (s *Series) Sigma() float64 { return s.noise.sigma() }

// Release returns x with noise: a new slice on the grid. x has the number of
// coordinates of the settings; they are clamped to 2^51 grid steps, more than
// 500 Sigma. Errors are ErrParam for another length or one vector too many,
// ErrNonFinite and ErrEntropy; none of them costs a vector.
//
// Each vector has its own stream, seeded now: a stream kept from vector to
// vector could be copied with the process, and its noise used twice.
func (s *Series) Release(x []float64) ([]float64, error) {
	if s.left == nil {
		return nil, fmt.Errorf("mechanism: the series was not made by NewSeries: %w", ErrParam)
	}
	if len(x) != s.settings.Coordinates {
		return nil, fmt.Errorf("mechanism: a vector of %d coordinates in a series of %d: %w", len(x), s.settings.Coordinates, ErrParam)
	}
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("mechanism: the vector to be released: %w", ErrNonFinite)
		}
	}
	secret, err := drawSecrets(s.source, 1, false)
	if err != nil {
		return nil, err
	}
	defer secret.forget()
	if s.left.Add(-1) < 0 {
		return nil, fmt.Errorf("mechanism: all %d vectors of the series have been released: %w", s.settings.Vectors, ErrParam)
	}
	out := make([]float64, len(x))
	stream(seedOf(secret.chunks, 0), func(words source) {
		normal := &sampler{words}
		for i, v := range x {
			out[i] = float64(onGrid(nearest(v, s.noise.step), normal.draw(s.noise.multiple))) * s.noise.step
		}
	})
	return out, nil
}
