package baseline

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	chacha "math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

var testUnit = mechanism.Unit{Kind: release.UnitRecord, Name: "row", New: true}

// anyRow is what the sensitivities of the tests are said to be proved for.
var anyRow = mechanism.AnyRow(sensitivity.ReplaceOne, 1)

// fixed returns a stream that is the same in every run.
func fixed(name string) io.Reader {
	var s noise.Seed
	copy(s[:], "test only: "+name)
	return chacha.NewChaCha8(s)
}

// The noise of T vectors is sqrt(T) times the noise of one, up to the grid; for
// one vector of sensitivity 2.5 at (1, 1e-6) it is 10.5616972233.
func TestSeriesSigma(t *testing.T) {
	one := seriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 2.5, Vectors: 1, Coordinates: 3}
	sigma, err := one.sigma()
	if err != nil {
		t.Fatal(err)
	}
	if want := 10.5616972233; sigma < want*(1-1e-11) || sigma > want*(1+1e-9) {
		t.Errorf("sigma %.12g, want %.12g", sigma, want)
	}
	many := one
	many.Vectors = 100
	if got, err := many.sigma(); err != nil || got < 10*sigma*(1-1e-11) || got > 10*sigma*(1+1e-9) {
		t.Errorf("100 vectors: sigma %.12g, %v; one: %.12g", got, err, sigma)
	}
}

// Composition read back: the mu of all vectors together costs no more than
// (epsilon, delta).
func TestSeriesComposes(t *testing.T) {
	p := seriesSettings{Epsilon: 3, Delta: 1e-5, L2Sensitivity: 0.7, Vectors: 37, Coordinates: 2, Protects: anyRow}
	sigma, err := p.sigma()
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := mechanism.EpsilonAt(math.Sqrt(37)*0.7/sigma, 1e-5)
	if err != nil || epsilon > 3 || epsilon < 2.999999 {
		t.Errorf("37 vectors are worth epsilon %.9g, %v", epsilon, err)
	}
}

// The noise covers the rounding to the grid, equally for every vector; with many
// coordinates this is more than the rounding up of the multiplier.
func TestSeriesCoversTheGrid(t *testing.T) {
	p := seriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 2.5, Vectors: 4, Coordinates: 1 << 22, Protects: anyRow}
	n, err := p.calibrate()
	if err != nil {
		t.Fatal(err)
	}
	multiplier, err := mechanism.Analytic.Multiplier(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	apart := exact(0).Add(exact(2.5), exact(n.step*(1<<11)))
	needed, _ := apart.Mul(apart, exact(2*multiplier)).Float64()
	if sigma := n.sigma(); sigma < needed || sigma > needed*(1+1e-11) {
		t.Errorf("sigma %.17g, want %.17g or a little more", sigma, needed)
	}
}

// Mean and variance of the released coordinates, and no noise used twice.
func TestSeriesNoise(t *testing.T) {
	const n = 40000
	p := seriesSettings{Epsilon: 0.5, Delta: 1e-5, L2Sensitivity: 1, Vectors: 2, Coordinates: n, Protects: anyRow}
	source := fixed("series")
	if longtest.All() {
		source = rand.Reader
	}
	s, err := seriesFrom(mechanism.NoLedger, testUnit, p, source)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = 1000
	}
	first, err := s.release(x)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.release(x)
	if err != nil {
		t.Fatal(err)
	}
	sigma, sum, squares, cross := s.sigma(), 0.0, 0.0, 0.0
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
	good := seriesSettings{Epsilon: 1, Delta: 1e-5, L2Sensitivity: 1, Vectors: 1, Coordinates: 2, Protects: anyRow}
	for name, change := range map[string]func(*seriesSettings){
		"epsilon":     func(p *seriesSettings) { p.Epsilon = 0 },
		"delta":       func(p *seriesSettings) { p.Delta = math.NaN() },
		"protects":    func(p *seriesSettings) { p.Protects = mechanism.Protection{} },
		"sensitivity": func(p *seriesSettings) { p.L2Sensitivity = 0 },
		"infinite":    func(p *seriesSettings) { p.L2Sensitivity = math.Inf(1) },
		"vectors":     func(p *seriesSettings) { p.Vectors = 0 },
		"coordinates": func(p *seriesSettings) { p.Coordinates = -1 },
		"too many":    func(p *seriesSettings) { p.Vectors, p.Coordinates = math.MaxInt/2, 4 },
	} {
		p := good
		change(&p)
		if _, err := newSeries(mechanism.NoLedger, testUnit, p); !errors.Is(err, mechanism.ErrParam) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newSeries(nil, testUnit, good); !errors.Is(err, mechanism.ErrLedger) {
		t.Errorf("no budget: %v", err)
	}
	if _, err := newSeries(mechanism.NoLedger, mechanism.Unit{}, good); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("no unit: %v", err)
	}
	for _, source := range []io.Reader{iotest.ErrReader(io.ErrClosedPipe), io.LimitReader(fixed("short"), 15)} {
		if s, err := seriesFrom(mechanism.NoLedger, testUnit, good, source); !errors.Is(err, mechanism.ErrEntropy) || s != nil {
			t.Errorf("without entropy: %v", err)
		}
	}
	s, err := newSeries(mechanism.NoLedger, testUnit, good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.release([]float64{1}); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("another length: %v", err)
	}
	if _, err := s.release([]float64{1, math.Inf(1)}); !errors.Is(err, mechanism.ErrNonFinite) {
		t.Errorf("infinite: %v", err)
	}
	if _, err := s.release([]float64{1, 2}); err != nil {
		t.Error(err)
	}
	if _, err := s.release([]float64{1, 2}); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("one vector too many: %v", err)
	}
}

// Noise comes from entropy that is drawn when a vector is released: the state
// kept in between, which may be copied with a process or a machine, holds none.
// Without entropy nothing comes out, and the vector that was paid for can be
// released later.
func TestSeriesDrawsWhenItReleases(t *testing.T) {
	p := seriesSettings{Epsilon: 1, Delta: 1e-5, L2Sensitivity: 1, Vectors: 1, Coordinates: 2, Protects: anyRow}
	short := io.LimitReader(fixed("late"), 16+31).(*io.LimitedReader)
	s, err := seriesFrom(mechanism.NoLedger, testUnit, p, short)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.release([]float64{1, 2}); !errors.Is(err, mechanism.ErrEntropy) || out != nil {
		t.Errorf("without entropy: %v, %v", out, err)
	}
	short.N = 32
	if _, err := s.release([]float64{1, 2}); err != nil {
		t.Errorf("with entropy again: %v", err)
	}
}

// A series is paid for once, for any number of copies and simultaneous callers.
func TestSeriesCopies(t *testing.T) {
	const vectors, callers = 5, 16
	p := seriesSettings{Epsilon: 1, Delta: 1e-5, L2Sensitivity: 1, Vectors: vectors, Coordinates: 2, Protects: anyRow}
	s, err := newSeries(mechanism.NoLedger, testUnit, p)
	if err != nil {
		t.Fatal(err)
	}
	released := make([][]float64, callers)
	var wait sync.WaitGroup
	for i := range released {
		own := *s
		wait.Go(func() { released[i], _ = own.release([]float64{0, 0}) })
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
	if x, err := new(series).release(nil); !errors.Is(err, mechanism.ErrParam) || !strings.Contains(err.Error(), "newSeries") || x != nil {
		t.Errorf("a series nobody paid for: %v, %v", x, err)
	}
}

// All vectors are paid for before the first is released, and a series that does
// not fit is refused.
func TestSeriesSpends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.GDP, Epsilon: 1, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	p := seriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 1, Vectors: 5, Coordinates: 2, Protects: anyRow}
	if _, err := newSeries(ledger, testUnit, p); err != nil {
		t.Fatal(err)
	}
	if _, err := newSeries(ledger, testUnit, p); !errors.Is(err, mechanism.ErrBudgetExceeded) {
		t.Errorf("a second series: %v", err)
	}
	if _, err := newSeries(ledger, mechanism.Unit{Kind: release.UnitRecord, Name: "another", New: true}, p); err != nil {
		t.Errorf("another record: %v", err)
	}
	var none *mechanism.Ledger
	if _, err := newSeries(none, testUnit, p); !errors.Is(err, mechanism.ErrLedger) {
		t.Errorf("a ledger that is nil: %v", err)
	}
}

// A payer is a budget whose answers are chosen.
type payer struct {
	mechanism.Budget
	receipt func(id [16]byte) (mechanism.Receipt, error)
	spends  []mechanism.Spend
}

func (p *payer) LedgerID(mechanism.Unit) ([16]byte, error) { return [16]byte{1}, nil }

func (p *payer) Reserve(_ mechanism.Unit, id [16]byte, spend mechanism.Spend) (mechanism.Receipt, error) {
	p.spends = append(p.spends, spend)
	return p.receipt(id)
}

// The order is entropy, spend, noise: without entropy nothing is paid, and without a receipt for
// this series there is none. The spend says what it protects.
func TestSeriesSpendsFirst(t *testing.T) {
	p := seriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 1, Vectors: 3, Coordinates: 2, Protects: mechanism.AnyRow(sensitivity.Null, 2)}
	for name, test := range map[string]struct {
		receipt func(id [16]byte) (mechanism.Receipt, error)
		want    error
	}{
		"right":           {func(id [16]byte) (mechanism.Receipt, error) { return mechanism.NewReceipt(7, id), nil }, nil},
		"no number":       {func(id [16]byte) (mechanism.Receipt, error) { return mechanism.NewReceipt(0, id), nil }, mechanism.ErrSpent},
		"another release": {func(id [16]byte) (mechanism.Receipt, error) { id[0]++; return mechanism.NewReceipt(7, id), nil }, mechanism.ErrSpent},
		"none":            {func([16]byte) (mechanism.Receipt, error) { return mechanism.Receipt{}, nil }, mechanism.ErrSpent},
		"refused":         {func([16]byte) (mechanism.Receipt, error) { return mechanism.Receipt{}, mechanism.ErrBudgetExceeded }, mechanism.ErrBudgetExceeded},
	} {
		b := new(payer)
		source := io.LimitReader(fixed("order"), 16).(*io.LimitedReader)
		b.receipt = func(id [16]byte) (mechanism.Receipt, error) {
			if source.N != 0 {
				t.Errorf("%s: paid before the entropy was drawn", name)
			}
			return test.receipt(id)
		}
		s, err := seriesFrom(b, testUnit, p, source)
		if !errors.Is(err, test.want) || (s != nil) != (test.want == nil) || test.want == mechanism.ErrSpent && !errors.Is(err, mechanism.ErrLedger) {
			t.Errorf("%s: %v", name, err)
		}
		if want := (mechanism.Spend{Epsilon: 1, Delta: 1e-6, Protects: p.Protects}); len(b.spends) != 1 || b.spends[0] != want {
			t.Errorf("%s: spends %+v, want %+v", name, b.spends, want)
		}
	}
	b := new(payer)
	if _, err := seriesFrom(b, testUnit, p, io.LimitReader(fixed("short"), 15)); !errors.Is(err, mechanism.ErrEntropy) || len(b.spends) != 0 {
		t.Errorf("without entropy: %v, %d spends", err, len(b.spends))
	}
	p.Protects = mechanism.Protection{}
	if _, err := newSeries(b, testUnit, p); !errors.Is(err, mechanism.ErrParam) || len(b.spends) != 0 {
		t.Errorf("without a protection: %v, %d spends", err, len(b.spends))
	}
	if _, err := newSeries(mechanism.NoLedger, testUnit, p); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("without a protection and a ledger: %v", err)
	}
}

// A budget that has no number, and a wrapped NoLedger, are not asked to pay.
func TestSeriesNeedsALedger(t *testing.T) {
	p := seriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 1, Vectors: 1, Coordinates: 2, Protects: anyRow}
	type wrapped struct{ mechanism.Budget }
	for name, b := range map[string]mechanism.Budget{"wrapped": wrapped{mechanism.NoLedger}, "zero": new(mechanism.Ledger)} {
		if s, err := newSeries(b, testUnit, p); s != nil || !errors.Is(err, mechanism.ErrLedger) || errors.Is(err, mechanism.ErrSpent) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two vectors in a ball of radius 1/2, which have the sensitivity 1, are paid for together, and
// there is no third.
func TestSeriesEnds(t *testing.T) {
	s, err := newSeries(mechanism.NoLedger, testUnit, seriesSettings{
		Epsilon: 1, Delta: 1e-6, L2Sensitivity: 1, Vectors: 2, Coordinates: 3, Protects: anyRow,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%.4f", s.sigma()); got != "5.9746" {
		t.Errorf("noise %s", got)
	}
	for range 2 {
		if x, err := s.release([]float64{0.3, 0, -0.4}); err != nil || len(x) != 3 {
			t.Error(x, err)
		}
	}
	const want = "baseline: all 2 vectors of the series have been released: parameter out of range"
	if x, err := s.release([]float64{0.3, 0, -0.4}); err == nil || err.Error() != want || x != nil {
		t.Error(x, err)
	}
}
