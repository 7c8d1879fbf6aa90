package mechanism

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// fakeBudget is a Budget that remembers what it was asked.
type fakeBudget struct {
	refuse, fail error
	onReserve    func()

	units  []Unit
	ids    [][16]byte
	spends []Spend
	sums   [][sha256.Size]byte
}

func (b *fakeBudget) Reserve(unit Unit, id [16]byte, spend Spend) (Receipt, error) {
	b.units, b.ids, b.spends = append(b.units, unit), append(b.ids, id), append(b.spends, spend)
	if b.onReserve != nil {
		b.onReserve()
	}
	return Receipt{sequence: 41 + uint64(len(b.ids)), id: id}, b.refuse
}

func (b *fakeBudget) Paid([16]byte) (bool, error) { return true, nil }

func (b *fakeBudget) LedgerID(Unit) ([16]byte, error) { return [16]byte{1}, nil }

func (b *fakeBudget) Commit(r Receipt, sum [sha256.Size]byte) error {
	if r.id != b.ids[len(b.ids)-1] {
		return errors.New("the receipt is not the one given")
	}
	b.sums = append(b.sums, sum)
	return b.fail
}

var background = context.Background()

func TestPrivatize(t *testing.T) {
	b := boundOf(t, sensitivity.ReplaceOne, 6, 3, 1)
	c := calibrate(t, CalibrationSettings{Epsilon: 0.5, Delta: 1e-6, Sensitivity: b})
	r := request(6, 3)
	r.Labels = LabelSettings{Mode: release.ModeRandomised, Values: []int32{0, 9, 3, 3, 1, 2}, Epsilon: 1.5}
	ledger := &fakeBudget{}
	out, err := privatize(background, c, ledger, r, nil, fixed("fields"))
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Check(); err != nil {
		t.Error(err)
	}
	want := release.Release{
		ID: out.ID, Mechanism: terms.RoundedGaussian, Rows: 6, Columns: 3, Grid: out.Grid, Step: c.Step(), Multiple: c.Multiple(),
		Privacy: release.Privacy{Epsilon: 0.5, Delta: 1e-6, Rule: "analytic", Sigma: c.Sigma(), Mu: c.Mu(), Rho: c.Rho()},
		Sensitivity: release.Sensitivity{
			Total: c.L2Sensitivity(), Bound: b.Exact(), OperatorError: b.Eta(), GridError: c.GridError(), Norm: terms.NormFrobenius,
			Derivation: "theorem-1", Relation: "replace-one", Operator: "full", Records: 1,
		},
		Query:  r.Query,
		Labels: release.Labels{Mode: release.ModeRandomised, Epsilon: 1.5, Values: out.Labels.Values},
		Unit:   release.UnitRecord, Ledger: 42,
	}
	if got, want := fmt.Sprintf("%+v", *out), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(out.Grid) != 18 || len(out.Labels.Values) != 6 || out.ID == [16]byte{} {
		t.Error("sizes or identifier")
	}
	if !slices.Equal(ledger.units, []Unit{r.Unit}) || !slices.Equal(ledger.ids, [][16]byte{out.ID}) || !slices.Equal(ledger.spends, []Spend{said(Spend{Epsilon: 0.5, Delta: 1e-6, PureEpsilon: 1.5})}) {
		t.Errorf("reserved %+v", ledger)
	}
	encoded, err := out.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ledger.sums, [][sha256.Size]byte{sha256.Sum256(encoded)}) {
		t.Error("the committed hash is not that of the release")
	}
	if out, err = c.Privatize(background, NoLedger, r, nil); err != nil || out.Ledger != 0 {
		t.Errorf("without a ledger: %v", err)
	}
}

// Every fault is found before entropy is drawn or budget spent, and no error
// contains a value of the data.
func TestPrivatizeRefuses(t *testing.T) {
	c, good := fixture(t, 6, 3, 1)
	features := calibrate(t, CalibrationSettings{Epsilon: 1, Delta: 1e-5, Sensitivity: boundOf(t, sensitivity.FeaturesReplace, 6, 3, 1)})
	bound := func(query sensitivity.Query) Calibration {
		q := matrix(6, 3, 1)
		b, err := query.Tight(sensitivity.ReplaceOne, q, sensitivity.Rows{})
		if err != nil {
			t.Fatal(err)
		}
		eta, err := query.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 8})
		if err != nil {
			t.Fatal(err)
		}
		if b, err = b.Inflate(eta); err != nil {
			t.Fatal(err)
		}
		return calibrate(t, CalibrationSettings{Epsilon: 1, Delta: 1e-5, Sensitivity: b})
	}
	wide, ranged := testQuery, testQuery
	wide.Table = sensitivity.Gaussian{Classes: 10, Sigma: 5}
	ranged.Table = sensitivity.Range{Low: 0, High: 1}
	labels := []int32{0, 9, 3, 3, 1, 2}
	randomised := LabelSettings{Mode: release.ModeRandomised, Values: labels, Epsilon: 1}
	const secret = 7654321.0625

	for _, test := range []struct {
		name string
		want error
		set  func(c *Calibration, r *FirstStep)
	}{
		{"zero calibration", errSensitivity, func(c *Calibration, _ *FirstStep) { *c = Calibration{} }},
		{"rows", errSensitivity, func(_ *Calibration, r *FirstStep) { r.Displacement.Rows = 5 }},
		{"columns", errSensitivity, func(_ *Calibration, r *FirstStep) { r.Displacement.Cols = 2 }},
		{"stride", ErrParam, func(_ *Calibration, r *FirstStep) { r.Displacement.Stride = 2 }},
		{"huge stride", ErrParam, func(_ *Calibration, r *FirstStep) { r.Displacement.Stride = math.MaxInt / 2 }},
		{"data", ErrParam, func(_ *Calibration, r *FirstStep) { r.Displacement.Data = r.Displacement.Data[:17] }},
		{"NaN", ErrNonFinite, func(_ *Calibration, r *FirstStep) { r.Displacement.Data[17] = math.NaN() }},
		{"Inf", ErrNonFinite, func(_ *Calibration, r *FirstStep) { r.Displacement.Data[0] = math.Inf(-1) }},
		{"sigma", errSensitivity, func(_ *Calibration, r *FirstStep) { r.Query.Sigma = 5 }},
		{"alpha", errSensitivity, func(_ *Calibration, r *FirstStep) { r.Query.Alpha = 0.5 }},
		{"table", errSensitivity, func(_ *Calibration, r *FirstStep) { r.Query.Table = "equal" }},
		{"classes", errSensitivity, func(_ *Calibration, r *FirstStep) { r.Query.Classes = 11 }},
		{"another width for labels", errSensitivity, func(c *Calibration, _ *FirstStep) { *c = bound(wide) }},
		{"table without a name", errSensitivity, func(c *Calibration, _ *FirstStep) { *c = bound(ranged) }},
		{"sigma of Q", ErrParam, func(_ *Calibration, r *FirstStep) { r.Query.SigmaQ = 0 }},
		{"sigma of Q, NaN", ErrParam, func(_ *Calibration, r *FirstStep) { r.Query.SigmaQ = math.NaN() }},
		{"unit kind", ErrParam, func(_ *Calibration, r *FirstStep) { r.Unit.Kind = "" }},
		{"unit name", ErrParam, func(_ *Calibration, r *FirstStep) { r.Unit.Name = "" }},
		{"no label mode", ErrLabels, func(_ *Calibration, r *FirstStep) { r.Labels.Mode = "" }},
		{"public labels given", ErrLabels, func(_ *Calibration, r *FirstStep) { r.Labels = LabelSettings{Mode: release.ModePublic, Values: labels} }},
		{"dropped labels priced", ErrLabels, func(_ *Calibration, r *FirstStep) { r.Labels.Epsilon = 1 }},
		{"randomised public labels", ErrLabels, func(c *Calibration, r *FirstStep) { *c, r.Labels = features, randomised }},
		{"label epsilon 0", ErrParam, func(_ *Calibration, r *FirstStep) { r.Labels = randomised; r.Labels.Epsilon = 0 }},
		{"label epsilon 1e-7", ErrParam, func(_ *Calibration, r *FirstStep) { r.Labels = randomised; r.Labels.Epsilon = 1e-7 }},
		{"label epsilon 21", ErrParam, func(_ *Calibration, r *FirstStep) { r.Labels = randomised; r.Labels.Epsilon = 21 }},
		{"label epsilon NaN", ErrParam, func(_ *Calibration, r *FirstStep) { r.Labels = randomised; r.Labels.Epsilon = math.NaN() }},
		{"too few labels", ErrLabels, func(_ *Calibration, r *FirstStep) { r.Labels = randomised; r.Labels.Values = labels[:5] }},
		{"label too large", ErrLabels, func(_ *Calibration, r *FirstStep) {
			r.Labels = randomised
			r.Labels.Values = []int32{0, 0, 0, 0, 0, 10}
		}},
		{"label negative", ErrLabels, func(_ *Calibration, r *FirstStep) {
			r.Labels = randomised
			r.Labels.Values = []int32{0, 0, 0, 0, 0, -1}
		}},
	} {
		c, r := c, good
		r.Displacement.Data = slices.Repeat([]float64{secret}, 18)
		test.set(&c, &r)
		ledger := &fakeBudget{}
		out, err := privatize(background, c, ledger, r, nil, untouched{t})
		if !errors.Is(err, test.want) || out != nil {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
			continue
		}
		if errors.Is(err, errSensitivity) != (test.want == errSensitivity) {
			t.Errorf("%s: %v, want %v alone", test.name, err, test.want)
		}
		if len(ledger.ids) != 0 {
			t.Errorf("%s: budget was spent", test.name)
		}
		if strings.Contains(err.Error(), "76543") {
			t.Errorf("%s: the error tells data: %v", test.name, err)
		}
	}
	if out, err := privatize(background, c, nil, good, nil, untouched{t}); !errors.Is(err, ErrLedger) || out != nil {
		t.Errorf("no budget: %v", err)
	}
	// A matrix that is part of a larger one is accepted.
	r := good
	r.Displacement.Stride, r.Displacement.Data = 5, slices.Repeat([]float64{1, 2, 3, math.NaN(), math.NaN()}, 6)[:28]
	strided, err := privatize(background, c, NoLedger, r, nil, fixed("stride"))
	if err != nil {
		t.Fatal(err)
	}
	r.Displacement.Stride, r.Displacement.Data = 3, slices.Repeat([]float64{1, 2, 3}, 6)
	dense, err := privatize(background, c, NoLedger, r, nil, fixed("stride"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(strided.Grid, dense.Grid) {
		t.Error("the stride matters")
	}
}

// untouched is entropy that must not be read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("entropy was drawn for a request that is refused")
	return 0, io.ErrUnexpectedEOF
}

// The order: entropy, then the spend, then noise; nothing is given back.
func TestSpendFirst(t *testing.T) {
	c, r := fixture(t, 6, 3, 1)
	price := []Spend{said(Spend{Epsilon: 1, Delta: 1e-5})}

	t.Run("recorded", func(t *testing.T) {
		ledger := &fakeBudget{}
		if _, err := privatize(background, c, ledger, r, nil, fixed("order")); err != nil || !slices.Equal(ledger.spends, price) {
			t.Errorf("%v, %+v", err, ledger.spends)
		}
	})
	t.Run("refused", func(t *testing.T) {
		ledger := &fakeBudget{refuse: ErrBudgetExceeded}
		out, err := privatize(background, c, ledger, r, nil, fixed("order"))
		if out != nil || !errors.Is(err, ErrBudgetExceeded) || errors.Is(err, ErrSpent) || len(ledger.sums) != 0 {
			t.Errorf("%v, %v", out, err)
		}
	})
	// The context ends while the spend is written. Noise made after the spend
	// must notice; a release here means that the noise was made before.
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(background)
		ledger := &fakeBudget{onReserve: cancel}
		out, err := privatize(ctx, c, ledger, r, nil, fixed("order"))
		if out != nil || !errors.Is(err, context.Canceled) || !errors.Is(err, ErrSpent) {
			t.Errorf("%v, %v", out, err)
		}
		if !slices.Equal(ledger.spends, price) || len(ledger.sums) != 0 {
			t.Errorf("spends %+v, %d commits", ledger.spends, len(ledger.sums))
		}
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(background)
		cancel()
		ledger := &fakeBudget{}
		out, err := privatize(ctx, c, ledger, r, nil, fixed("order"))
		if out != nil || !errors.Is(err, context.Canceled) || len(ledger.ids) != 0 {
			t.Errorf("%v, %v, %d spends", out, err, len(ledger.ids))
		}
	})
	t.Run("commit fails", func(t *testing.T) {
		ledger := &fakeBudget{fail: ErrLedger}
		out, err := privatize(background, c, ledger, r, nil, fixed("order"))
		if !errors.Is(err, ErrLedger) || !errors.Is(err, ErrSpent) || !slices.Equal(ledger.spends, price) {
			t.Errorf("%v, spends %+v", err, ledger.spends)
		}
		if out == nil || out.Check() != nil {
			t.Error("a release that was paid for is lost")
		}
	})
	t.Run("entropy first", func(t *testing.T) {
		source := &counted{from: fixed("order")}
		read := 0
		ledger := &fakeBudget{onReserve: func() { read = source.n }}
		if _, err := privatize(background, c, ledger, r, nil, source); err != nil {
			t.Fatal(err)
		}
		if read != 32+16 || source.n != read {
			t.Errorf("%d bytes before the spend, %d in all", read, source.n)
		}
	})
}

// A context that ends while the last chunk is made is noticed too.
func TestCancelledAtTheEnd(t *testing.T) {
	c, r := fixture(t, 6, 3, 1)
	secret, err := drawSecrets(fixed("end"), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	out := describe(c, r, secret.id)
	if err := fill(&until{background, &out.Grid[17]}, out, c, r, nil, secret); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// until is a context that ends when a number is written.
type until struct {
	context.Context
	number *int64
}

func (u *until) Err() error {
	if *u.number != 0 {
		return context.Canceled
	}
	return nil
}

// counted counts the bytes read and keeps the slices they were read into.
type counted struct {
	from io.Reader
	n    int
	put  [][]byte
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	c.put = append(c.put, p[:n])
	return n, err
}

// shortReader fails after a number of bytes, with or without an error.
type shortReader struct {
	left int
	err  error
}

func (s *shortReader) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, s.err
	}
	n := min(s.left, len(p))
	s.left -= n
	for i := range p[:n] {
		p[i] = 1 // an identifier of zeros is invalid
	}
	return n, nil
}

// T-11: entropy that fails or ends anywhere gives no release and costs nothing.
func TestEntropyFails(t *testing.T) {
	b := boundOf(t, sensitivity.ReplaceOne, 40, 2000, 1) // two chunks
	c, r := calibrate(t, CalibrationSettings{Epsilon: 1, Delta: 1e-5, Sensitivity: b}), request(40, 2000)
	r.Labels = LabelSettings{Mode: release.ModeRandomised, Values: make([]int32, 40), Epsilon: 1}
	const needed = 2*32 + 32 + 16
	broken := errors.New("broken")
	for _, at := range []int{0, 1, 31, 32, 33, 63, 64, 95, 96, needed - 1} {
		for _, cause := range []error{broken, io.EOF} {
			ledger := &fakeBudget{}
			out, err := privatize(background, c, ledger, r, nil, &shortReader{at, cause})
			if out != nil || !errors.Is(err, ErrEntropy) || len(ledger.ids) != 0 {
				t.Errorf("%v at byte %d: %v, %d spends", cause, at, err, len(ledger.ids))
			}
		}
	}
	if _, err := privatize(background, c, NoLedger, r, nil, &shortReader{needed, broken}); err != nil {
		t.Errorf("just enough: %v", err)
	}
	// Seeds are overwritten where they were read to, the identifier is not.
	source := &counted{from: fixed("overwritten")}
	if _, err := privatize(background, c, NoLedger, r, nil, source); err != nil {
		t.Fatal(err)
	}
	if len(source.put) != 4 {
		t.Fatalf("%d reads", len(source.put))
	}
	for i, p := range source.put[:3] {
		if !bytes.Equal(p, make([]byte, 32)) {
			t.Errorf("seed %d is still there", i)
		}
	}
}

// T-12: with the same entropy the bytes are the same for any number of workers
// and processors, and with the system's entropy they differ.
func TestWorkersDoNotMatter(t *testing.T) {
	const rows, columns = 140, 1000 // three chunks
	c, r := fixture(t, rows, columns, 1)
	for i := range r.Displacement.Data {
		r.Displacement.Data[i] = math.Sin(float64(i))
	}
	r.Labels = LabelSettings{Mode: release.ModeRandomised, Values: make([]int32, rows), Epsilon: 1}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []byte
	for _, count := range []int{0, 1, 2, 8} {
		runtime.GOMAXPROCS(max(1, count))
		var workers *par.Workers
		if count > 0 {
			workers = par.New(count)
		}
		out, err := privatize(background, c, NoLedger, r, workers, fixed("workers"))
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		got, err := out.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d workers change the release", count)
		}
	}
}

func TestSystemEntropy(t *testing.T) {
	c, r := fixture(t, 6, 3, 1)
	r.Labels = LabelSettings{Mode: release.ModeRandomised, Values: make([]int32, 6), Epsilon: 1e-3}
	seen := map[[16]byte]bool{}
	grids := map[string]bool{}
	for range 3 {
		out, err := c.Privatize(background, NoLedger, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen[out.ID] = true
		grids[fmt.Sprint(out.Grid)] = true
	}
	if len(seen) != 3 || len(grids) != 3 {
		t.Errorf("%d identifiers and %d matrices of three releases", len(seen), len(grids))
	}
	// A source that another package has substituted is refused before the spend.
	defer func(old io.Reader) { rand.Reader = old }(rand.Reader)
	rand.Reader = fixed("replaced")
	budget := new(fakeBudget)
	if _, err := c.Privatize(background, budget, r, nil); !errors.Is(err, ErrEntropy) || len(budget.spends) != 0 {
		t.Errorf("a source that was replaced is used: %v", err)
	}
}

// constant is a release of a matrix with one value everywhere.
func constant(t *testing.T, c Calibration, r FirstStep, value float64, source io.Reader) *release.Release {
	t.Helper()
	r.Displacement.Data = slices.Repeat([]float64{value}, r.Displacement.Rows*r.Displacement.Cols)
	out, err := privatize(background, c, NoLedger, r, nil, source)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// T-5: the low bits of the output are uniform and its trailing zeros geometric,
// for every value: its precision does not show. A quarter of a million draws
// for each value detect a low byte that is five percent off.
func TestLowBits(t *testing.T) {
	const rows, columns = 500, 500
	c, r := fixture(t, rows, columns, 10)
	source := randomness("low bits")
	for _, value := range []float64{0, c.Step(), 1. / 3, 1e6 * c.Step()} {
		low, lowWant := make([]float64, 256), make([]float64, 256)
		zeros, zerosWant := make([]float64, 24), make([]float64, 24)
		total := 0.0
		for range pick(1, 16) {
			out := constant(t, c, r, value, source)
			displacement := out.Displacement().RawMatrix().Data
			for i, k := range out.Grid {
				if y := displacement[i] / out.Step; y != float64(k) || int64(y) != k {
					t.Fatalf("an output is off the grid")
				}
				low[k&255]++
				n := 0
				for ; n < 23 && k&1 == 0; n++ {
					k >>= 1
				}
				zeros[n]++
				total++
			}
		}
		for i := range lowWant {
			lowWant[i] = total / 256
		}
		for i := range zerosWant {
			zerosWant[i] = total * math.Ldexp(1, -min(i+1, 23))
		}
		if statistic, _, reject := chiSquare(low, lowWant); reject {
			t.Errorf("low bits at %g: chi-square %.1f", value, statistic)
		}
		if statistic, _, reject := chiSquare(zeros, zerosWant); reject {
			t.Errorf("trailing zeros at %g: chi-square %.1f", value, statistic)
		}
	}
}

// T-5: with the same entropy the noise is the same for every value, and only
// the nearest grid point of the value counts.
func TestNoiseIgnoresTheValue(t *testing.T) {
	c, r := fixture(t, 40, 50, 10)
	want := constant(t, c, r, 0, fixed("shift")).Grid
	g := c.Step()
	for _, test := range []struct {
		value float64
		point int64
	}{
		{0.4 * g, 0}, {(0.5 - 0x1p-20) * g, 0}, {-(0.5 - 0x1p-20) * g, 0}, {0.75 * g, 1}, {-0.6 * g, -1}, {g, 1},
		{1e6 * g, 1e6}, {(1e6 + 0.499999) * g, 1e6}, {1.0 / 3, int64(math.Round(1 / g / 3))}, {0x1p51 * g, 1 << 51}, {-1e200, -1 << 51},
	} {
		got := constant(t, c, r, test.value, fixed("shift")).Grid
		for i := range got {
			if got[i]-want[i] != test.point {
				t.Errorf("%g steps count as %d, want %d", test.value/g, got[i]-want[i], test.point)
				break
			}
		}
	}
}

// T-6: no correlation inside a release, between its chunks or with another
// release of the same matrix, and no four consecutive numbers that repeat.
func TestNoiseIsIndependent(t *testing.T) {
	const rows, columns = 30_000, 7 // four chunks, the last not full
	c, r := fixture(t, rows, columns, 1)
	source := randomness("independence")
	sigma := float64(c.Multiple())
	windows := make(map[[4]int64]bool)
	var releases [2][]float64
	for i := range releases {
		out, err := privatize(background, c, NoLedger, r, nil, source)
		if err != nil {
			t.Fatal(err)
		}
		for j, k := range out.Grid {
			releases[i] = append(releases[i], float64(k)/sigma)
			if j < 4 {
				continue
			}
			window := [4]int64(out.Grid[j-4 : j])
			if windows[window] {
				t.Fatalf("release %d repeats four numbers at %d", i, j)
			}
			windows[window] = true
		}
	}
	first, second := releases[0], releases[1]
	for lag := 1; lag <= 8; lag++ {
		if z := correlation(first[lag:], first[:len(first)-lag]); math.Abs(z) > criticalNormal {
			t.Errorf("lag %d: %.1f", lag, z)
		}
	}
	if z := correlation(first[:chunkSize], first[chunkSize:2*chunkSize]); math.Abs(z) > criticalNormal {
		t.Errorf("first and second chunk: %.1f", z)
	}
	if z := correlation(first[chunkSize:2*chunkSize], first[2*chunkSize:3*chunkSize]); math.Abs(z) > criticalNormal {
		t.Errorf("second and third chunk: %.1f", z)
	}
	if z := correlation(first, second); math.Abs(z) > criticalNormal {
		t.Errorf("two releases: %.1f", z)
	}
	sum := 0.0
	for i, v := range first {
		sum += (v-second[i])*(v-second[i])/2 - 1
	}
	if z := sum / math.Sqrt(2*float64(len(first))); math.Abs(z) > criticalNormal {
		t.Errorf("variance of the difference of two releases: %.1f", z)
	}
}

// T-15, the part of this package: the bytes of a release contain no seed and no
// word of the noise streams.
func TestReleaseHoldsNoSecrets(t *testing.T) {
	c, r := fixture(t, 40, 50, 1)
	source := &keptReader{from: fixed("secrets")}
	out, err := privatize(background, c, NoLedger, r, nil, source)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := out.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	windows := make(map[uint64]bool)
	for i := 0; i+8 <= len(encoded); i++ {
		windows[binary.LittleEndian.Uint64(encoded[i:])] = true
	}
	for i := 0; i+8 <= 32; i++ {
		if windows[binary.LittleEndian.Uint64(source.bytes[i:])] {
			t.Errorf("bytes %d of the seed are in the release", i)
		}
	}
	stream := words(t, bytes.NewReader(source.bytes[:32]))
	for range 100_000 {
		if w := stream.Uint64(); windows[w] || windows[bits.ReverseBytes64(w)] {
			t.Fatal("a word of the noise is in the release")
		}
	}
	if !windows[binary.LittleEndian.Uint64(source.bytes[32:])] {
		t.Error("the identifier is not found; the search finds nothing")
	}
}

// keptReader is a reader that keeps a copy of the bytes it returned.
type keptReader struct {
	from  io.Reader
	bytes []byte
}

func (k *keptReader) Read(p []byte) (int, error) {
	n, err := k.from.Read(p)
	k.bytes = append(k.bytes, p[:n]...)
	return n, err
}

// Several releases may be made at the same time with one set of workers.
func TestPrivatizeConcurrently(t *testing.T) {
	c, r := fixture(t, 70, 1000, 1)
	workers := par.New(2)
	defer workers.Close()
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := c.Privatize(background, NoLedger, r, workers)
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Unit.Check and LabelSettings.Check, the checks before any work.
func TestChecksBeforeWork(t *testing.T) {
	unit := Unit{Kind: release.UnitRecord, Name: "photo", New: true}
	randomised := func(epsilon float64) LabelSettings {
		return LabelSettings{Mode: release.ModeRandomised, Epsilon: epsilon}
	}
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"payer", unit.Check(NoLedger), nil},
		{"no budget", unit.Check(nil), ErrLedger},
		{"no ledger", unit.Check((*Ledger)(nil)), ErrLedger},
		{"no unit", Unit{}.Check(NoLedger), ErrParam},
		{"public", LabelSettings{Mode: release.ModePublic}.Check(sensitivity.FeaturesNull), nil},
		{"public, replace-one", LabelSettings{Mode: release.ModePublic}.Check(sensitivity.ReplaceOne), ErrLabels},
		{"public, null", LabelSettings{Mode: release.ModePublic}.Check(sensitivity.Null), ErrLabels},
		{"randomised", randomised(1).Check(sensitivity.ReplaceOne), nil},
		{"randomised, labels public", randomised(1).Check(sensitivity.FeaturesReplace), ErrLabels},
		{"randomised, no relation", randomised(1).Check(0), ErrLabels},
		{"randomised for nothing", randomised(0).Check(sensitivity.Null), ErrParam},
		{"priced, dropped", LabelSettings{Mode: release.ModeDropped, Epsilon: 1}.Check(sensitivity.Null), ErrLabels},
		{"no mode", LabelSettings{}.Check(sensitivity.Null), ErrLabels},
	} {
		if !errors.Is(c.err, c.want) || (c.err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}
