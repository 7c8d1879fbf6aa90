package published

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// Notice goes with every figure of this package.
const Notice = "query label disclosed, noise not valid"

// ErrSettings reports a number out of its range.
var ErrSettings = kernel.ErrOption

// A Set is rows of features with their labels.
type Set struct {
	Features blas64.General
	Labels   []int32
}

// Data is what is retrieved, and from where. Labels are 0 .. Classes-1; the
// authors number the classes of public and gallery rows from 0 each, also where
// they are different classes.
type Data struct {
	Public, Gallery, Queries Set
	Classes                  int
}

func (d *Data) check() error {
	_, columns, err := points.Dims(d.Public.Features)
	if err != nil {
		return fmt.Errorf("published: public: %w", err)
	}
	for _, s := range []struct {
		name string
		Set
	}{{"public", d.Public}, {"gallery", d.Gallery}, {"queries", d.Queries}} {
		n, m, err := points.Dims(s.Features)
		if err != nil {
			return fmt.Errorf("published: %s: %w", s.name, err)
		}
		if n < 1 || m != columns || m < 1 || len(s.Labels) != n {
			return fmt.Errorf("published: %s: %w: %d x %d with %d labels", s.name, points.ErrShape, n, m, len(s.Labels))
		}
		if err := points.CheckFinite(s.Features); err != nil {
			return fmt.Errorf("published: %s: %w", s.name, err)
		}
		for i, y := range s.Labels {
			if y < 0 || int(y) >= d.Classes {
				return fmt.Errorf("published: %s: %w: row %d, want 0 to %d", s.name, kernel.ErrLabels, i+1, d.Classes-1)
			}
		}
	}
	if d.Public.Features.Rows < 2 || d.Classes < 2 {
		return fmt.Errorf("published: %w: %d public rows, %d classes", points.ErrShape, d.Public.Features.Rows, d.Classes)
	}
	return nil
}

// Settings are the numbers of the method.
type Settings struct {
	Sigma, Alpha, SigmaQ float64
	Columns, Steps       int
	// Delta of the Gaussian rule.
	Delta float64
	// Matches is the number K of answers.
	Matches int
	// Seed of the starts, of noise and of what takes the place of a query's
	// feature or label.
	Seed uint64
	// Workers share the work, such as those that an Engine lends; nil when the caller works
	// alone.
	Workers *par.Workers
}

// PaperSettings returns the paper's numbers, for Recall@8.
func PaperSettings(seed uint64) Settings {
	return Settings{Sigma: 6, Alpha: 0.6, SigmaQ: 1e-8, Columns: 2, Steps: 5, Delta: 1e-5, Matches: 8, Seed: seed}
}

func (s *Settings) check(gallery int) error {
	for _, c := range []struct {
		name   string
		v      float64
		lo, hi float64
	}{
		{"sigma", s.Sigma, 1e-3, 1e6}, {"alpha", s.Alpha, 0, 1e6}, {"sigma_q", s.SigmaQ, 1e-20, 1e20}, {"delta", s.Delta, 1e-100, 0.5},
		{"columns", float64(s.Columns), 1, 1e4}, {"steps", float64(s.Steps), 1, 1e6}, {"matches", float64(s.Matches), 1, float64(gallery)},
	} {
		if !(c.v >= c.lo && c.v <= c.hi) {
			return fmt.Errorf("published: %w: %s %g, want %g to %g", ErrSettings, c.name, c.v, c.lo, c.hi)
		}
	}
	return nil
}

// Source says whether the text or the program is followed; see the package's
// table.
type Source int

// The sources.
const (
	Text Source = iota
	Program
)

// Noise says how much is added after the first step.
type Noise int

// The rules. With NoNoise there is no step before the T others, as in the
// program's own comparison.
const (
	NoNoise      Noise = iota
	TextNoise          // deviation s
	ProgramNoise       // deviation s^2
)

// Instead says what stands in the place of something of the query.
type Instead int

// What may stand there.
const (
	Itself  Instead = iota
	Nothing         // of a label: the query has none
	Other           // a random unit row; another class, uniformly
)

// A Variant is one way to run the method.
type Variant struct {
	Source  Source
	Noise   Noise
	Epsilon float64 // of the noise
	// Feature and Label of the query. A feature is Itself or Other.
	Feature, Label Instead
	// ConstantKernel sets all feature weights to 1, on both sides: no feature
	// enters at all.
	ConstantKernel bool
}

func (v *Variant) check() error {
	switch {
	case v.Source != Text && v.Source != Program, v.Noise < NoNoise || v.Noise > ProgramNoise,
		v.Feature != Itself && v.Feature != Other, v.Label < Itself || v.Label > Other:
		return fmt.Errorf("published: %w: no such variant", ErrSettings)
	case v.Noise != NoNoise && !(v.Epsilon >= 1e-6 && v.Epsilon <= 1e6):
		return fmt.Errorf("published: %w: epsilon %g, want 1e-6 to 1e6", ErrSettings, v.Epsilon)
	}
	return nil
}

// bandwidth returns that of the weights.
func (s *Settings) bandwidth(source Source) kernel.Bandwidth {
	if source == Program {
		return kernel.SigmaProgram(s.Sigma)
	}
	return kernel.Sigma(s.Sigma)
}

// labels returns L_Y; -1 is a row without a label.
func (s *Settings) labels(source Source, y []int32) (*kernel.Labels, error) {
	table := "gaussian"
	if source == Program {
		table = "centred"
	}
	t, err := kernel.TableByName(table, s.bandwidth(Text))
	if err != nil {
		return nil, err
	}
	return kernel.NewLabels(y, t, true)
}

// deviation returns the standard deviation of the noise for the printed Delta.
func (v *Variant) deviation(printed, delta float64) float64 {
	s := math.Sqrt(2*math.Log(1.25/delta)) * printed / v.Epsilon
	if v.Noise == ProgramNoise {
		return s * s
	}
	return s
}
