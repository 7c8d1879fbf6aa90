package mechanism

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

var testUnit = Unit{Kind: release.UnitRecord, Name: "row", New: true}

// The noise of T vectors is sqrt(T) times the noise of one, up to the grid; for
// one vector of sensitivity 2.5 at (1, 1e-6) it is 10.5616972233.
func TestSeriesSigma(t *testing.T) {
	one := SeriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 2.5, Vectors: 1, Coordinates: 3}
	sigma, err := one.Sigma()
	if err != nil {
		t.Fatal(err)
	}
	if want := 10.5616972233; sigma < want*(1-1e-11) || sigma > want*(1+1e-9) {
		t.Errorf("sigma %.12g, want %.12g", sigma, want)
	}
	many := one
	many.Vectors = 100
	if got, err := many.Sigma(); err != nil || got < 10*sigma*(1-1e-11) || got > 10*sigma*(1+1e-9) {
		t.Errorf("100 vectors: sigma %.12g, %v; one: %.12g", got, err, sigma)
	}
}

// Composition read back: the mu of all vectors together costs no more than
// (epsilon, delta).
func TestSeriesComposes(t *testing.T) {
	p := SeriesSettings{Epsilon: 3, Delta: 1e-5, L2Sensitivity: 0.7, Vectors: 37, Coordinates: 2, Protects: oneUnit.Protects}
	sigma, err := p.Sigma()
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := EpsilonAt(math.Sqrt(37)*0.7/sigma, 1e-5)
	if err != nil || epsilon > 3 || epsilon < 2.999999 {
		t.Errorf("37 vectors are worth epsilon %.9g, %v", epsilon, err)
	}
}

// The noise covers the rounding to the grid, equally for every vector; with many
// coordinates this is more than the rounding up of the multiplier.
func TestSeriesCoversTheGrid(t *testing.T) {
	p := SeriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 2.5, Vectors: 4, Coordinates: 1 << 22, Protects: oneUnit.Protects}
	n, err := p.calibrate()
	if err != nil {
		t.Fatal(err)
	}
	apart := bigAdd(bigOf(2.5), bigMul(bigOf(n.step), bigOf(1<<11)))
	needed, _ := bigMul(bigMul(bigOf(2), apart), bigOf(multiplier(1, 1e-6))).Float64()
	if sigma := n.sigma(); sigma < needed || sigma > needed*(1+1e-11) {
		t.Errorf("sigma %.17g, want %.17g or a little more", sigma, needed)
	}
}

// Mean and variance of the released coordinates, and no noise used twice.
func TestSeriesNoise(t *testing.T) {
	const n = 40000
	p := SeriesSettings{Epsilon: 0.5, Delta: 1e-5, L2Sensitivity: 1, Vectors: 2, Coordinates: n, Protects: oneUnit.Protects}
	s, err := newSeries(NoLedger, testUnit, p, randomness("series"))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = 1000
	}
	first, err := s.Release(x)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Release(x)
	if err != nil {
		t.Fatal(err)
	}
	sigma, sum, squares, cross := s.Sigma(), 0.0, 0.0, 0.0
	for i := range x {
		a, b := (first[i]-1000)/sigma, (second[i]-1000)/sigma
		sum += a
		squares += a * a
		cross += a * b
	}
	// Each is normal to good accuracy; 6.11 allows one false alarm in 1e9.
	root := math.Sqrt(n)
	for name, z := range map[string]float64{"mean": sum / root, "variance": (squares - n) / (root * math.Sqrt2), "independence": cross / root} {
		if math.Abs(z) > 6.11 {
			t.Errorf("%s: z = %.2f", name, z)
		}
	}
}

func TestSeriesRefuses(t *testing.T) {
	good := SeriesSettings{Epsilon: 1, Delta: 1e-5, L2Sensitivity: 1, Vectors: 1, Coordinates: 2, Protects: oneUnit.Protects}
	for name, change := range map[string]func(*SeriesSettings){
		"epsilon":     func(p *SeriesSettings) { p.Epsilon = 0 },
		"delta":       func(p *SeriesSettings) { p.Delta = math.NaN() },
		"protects":    func(p *SeriesSettings) { p.Protects = Protection{} },
		"sensitivity": func(p *SeriesSettings) { p.L2Sensitivity = 0 },
		"infinite":    func(p *SeriesSettings) { p.L2Sensitivity = math.Inf(1) },
		"vectors":     func(p *SeriesSettings) { p.Vectors = 0 },
		"coordinates": func(p *SeriesSettings) { p.Coordinates = -1 },
		"too many":    func(p *SeriesSettings) { p.Vectors, p.Coordinates = math.MaxInt/2, 4 },
	} {
		p := good
		change(&p)
		if _, err := NewSeries(NoLedger, testUnit, p); !errors.Is(err, ErrParam) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewSeries(nil, testUnit, good); !errors.Is(err, ErrLedger) {
		t.Errorf("no budget: %v", err)
	}
	if _, err := NewSeries(NoLedger, Unit{}, good); !errors.Is(err, ErrParam) {
		t.Errorf("no unit: %v", err)
	}
	for _, source := range []io.Reader{iotest.ErrReader(io.ErrClosedPipe), io.LimitReader(fixed("short"), 15)} {
		if s, err := newSeries(NoLedger, testUnit, good, source); !errors.Is(err, ErrEntropy) || s != nil {
			t.Errorf("without entropy: %v", err)
		}
	}
	s, err := NewSeries(NoLedger, testUnit, good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Release([]float64{1}); !errors.Is(err, ErrParam) {
		t.Errorf("another length: %v", err)
	}
	if _, err := s.Release([]float64{1, math.Inf(1)}); !errors.Is(err, ErrNonFinite) {
		t.Errorf("infinite: %v", err)
	}
	if _, err := s.Release([]float64{1, 2}); err != nil {
		t.Error(err)
	}
	if _, err := s.Release([]float64{1, 2}); !errors.Is(err, ErrParam) {
		t.Errorf("one vector too many: %v", err)
	}
}

// Noise comes from entropy that is drawn when a vector is released: the state
// kept in between, which may be copied with a process or a machine, holds none.
// Without entropy nothing comes out, and the vector that was paid for can be
// released later.
func TestSeriesDrawsWhenItReleases(t *testing.T) {
	p := SeriesSettings{Epsilon: 1, Delta: 1e-5, L2Sensitivity: 1, Vectors: 1, Coordinates: 2, Protects: oneUnit.Protects}
	short := io.LimitReader(fixed("late"), 16+31).(*io.LimitedReader)
	s, err := newSeries(NoLedger, testUnit, p, short)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Release([]float64{1, 2}); !errors.Is(err, ErrEntropy) || out != nil {
		t.Errorf("without entropy: %v, %v", out, err)
	}
	short.N = 32 + 16
	if _, err := s.Release([]float64{1, 2}); err != nil {
		t.Errorf("with entropy again: %v", err)
	}
}

// A series is paid for once, for any number of copies and simultaneous callers.
func TestSeriesCopies(t *testing.T) {
	const vectors, callers = 5, 16
	p := SeriesSettings{Epsilon: 1, Delta: 1e-5, L2Sensitivity: 1, Vectors: vectors, Coordinates: 2, Protects: oneUnit.Protects}
	s, err := NewSeries(NoLedger, testUnit, p)
	if err != nil {
		t.Fatal(err)
	}
	released := make([][]float64, callers)
	var wait sync.WaitGroup
	for i := range released {
		own := *s
		wait.Go(func() { released[i], _ = own.Release([]float64{0, 0}) })
	}
	wait.Wait()
	seen := make(map[[2]float64]bool)
	for _, x := range released {
		if x != nil {
			seen[[2]float64(x)] = true
		}
	}
	if len(seen) != vectors {
		t.Errorf("%d different vectors of %d", len(seen), vectors)
	}
	if x, err := new(Series).Release(nil); !errors.Is(err, ErrParam) || x != nil {
		t.Errorf("a series nobody paid for: %v, %v", x, err)
	}
}

// All vectors are paid for before the first is released, and a series that does
// not fit is refused.
func TestSeriesSpends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if err := CreateLedger(path, Total{Kind: GDP, Epsilon: 1, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	ledger, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	p := SeriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 1, Vectors: 5, Coordinates: 2, Protects: oneUnit.Protects}
	if _, err := NewSeries(ledger, testUnit, p); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSeries(ledger, testUnit, p); !errors.Is(err, ErrBudgetExceeded) {
		t.Errorf("a second series: %v", err)
	}
	if _, err := NewSeries(ledger, Unit{Kind: release.UnitRecord, Name: "another", New: true}, p); err != nil {
		t.Errorf("another record: %v", err)
	}
	var none *Ledger
	if _, err := NewSeries(none, testUnit, p); !errors.Is(err, ErrLedger) {
		t.Errorf("a ledger that is nil: %v", err)
	}
}
