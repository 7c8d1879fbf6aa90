package kernel

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pairwise"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Every kind of input an operator cannot work with gives its error, from every
// entry point.
func TestDegenerateInput(t *testing.T) {
	good := func() blas32.General { return pointtest.Make("uniform", 30, 3, 1) }
	with := func(row, col int, v float32) blas32.General {
		p := good()
		p.Data[row*3+col] = v
		return p
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		p    blas32.General
		b    Bandwidth
		opt  *Options
		want error
		says string
	}{
		{"NaN", with(17, 2, nan), Sigma(1), nil, ErrNonFinite, "row 18, column 3"},
		{"Inf", with(3, 0, inf), Sigma(1), nil, ErrNonFinite, "row 4, column 1"},
		{"sigma zero", good(), Sigma(0), nil, ErrBandwidth, "positive"},
		{"sigma negative", good(), Sigma(-2), nil, ErrBandwidth, "positive"},
		{"sigma NaN", good(), Sigma(math.NaN()), nil, ErrBandwidth, "positive"},
		{"sigma infinite", good(), Sigma(math.Inf(1)), nil, ErrBandwidth, "positive"},
		{"sigma tiny", good(), Sigma(1e-170), nil, ErrBandwidth, ""},
		{"gamma negative", good(), Gamma(-1), nil, ErrBandwidth, ""},
		{"no bandwidth", good(), Bandwidth{}, nil, ErrBandwidth, ""},
		{"exponent overflows", with(0, 0, 3e38), Gamma(1e300), nil, ErrBandwidth, "extent"},
		{"no rows", blas32.General{Cols: 3, Stride: 3}, Sigma(1), nil, ErrEmpty, ""},
		{"no columns", blas32.General{Rows: 3, Stride: 3, Data: make([]float32, 9)}, Sigma(1), nil, ErrEmpty, ""},
		{"short data", blas32.General{Rows: 3, Cols: 3, Stride: 3, Data: make([]float32, 8)}, Sigma(1), nil, ErrShape, ""},
		{"absurd rows", blas32.General{Rows: math.MaxInt, Cols: 3, Stride: 3, Data: make([]float32, 9)}, Sigma(1), nil, ErrShape, ""},
		{"stride below columns", blas32.General{Rows: 3, Cols: 3, Stride: 2, Data: make([]float32, 9)}, Sigma(1), nil, ErrShape, ""},
		{"negative rows", blas32.General{Rows: -3, Cols: 3, Stride: 3}, Sigma(1), nil, ErrEmpty, ""},
		{"tolerance negative", good(), Sigma(1), &Options{Tolerance: -1}, ErrOption, "tolerance"},
		{"tolerance one", good(), Sigma(1), &Options{Tolerance: 1}, ErrOption, "tolerance"},
		{"tolerance NaN", good(), Sigma(1), &Options{Tolerance: math.NaN()}, ErrOption, "tolerance"},
		{"cutoff negative", good(), Sigma(1), &Options{CutoffRadius: -1}, ErrOption, "cutoff"},
		{"steps negative", good(), Sigma(1), &Options{Steps: -1}, ErrOption, ""},
		{"unknown policy", good(), Sigma(1), &Options{Isolated: 9}, ErrOption, ""},
		{"small limit", good(), Sigma(1), &Options{MaxMemory: 100}, ErrMemory, "limit 100 B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := map[string]func() error{
				"Build": func() error { _, err := Build(t.Context(), c.p, c.b, c.opt); return err },
				"NewDense": func() error {
					_, err := NewDense(t.Context(), c.p, c.b, c.opt)
					return err
				},
				"openCSR":  func() error { _, err := openCSR(t.Context(), c.p, c.b, c.opt); return err },
				"openGrid": func() error { _, err := openGrid(t.Context(), c.p, c.b, c.opt); return err },
			}
			if c.want != ErrMemory { // a plan says what does not fit and is no failure
				build["Plan"] = func() error { _, err := planOf(t.Context(), c.p, c.b, c.opt); return err }
			}
			for name, f := range build {
				if err := f(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: err = %v, want %v saying %q", name, err, c.want, c.says)
				}
			}
		})
	}
}

func TestOnePoint(t *testing.T) {
	p := pointtest.Make("uniform", 1, 2, 1)
	for _, op := range operatorsOf(t, p, Sigma(1), nil) {
		if d := op.Degrees(); len(d) != 1 || d[0] != 0 {
			t.Errorf("%s: degrees %v", op.Name(), d)
		}
		x := pointtest.RandomBlock(pointtest.Rand(1), 1, 3)
		got := stepGiven(t, op, x, []int32{0}, Paper, 0.6)
		for c, v := range x.Data {
			if got.Data[c] != v {
				t.Errorf("%s: the point moved from %v to %v", op.Name(), v, got.Data[c])
			}
		}
	}
}

func TestUnderflowIsolatesRows(t *testing.T) {
	p := pointtest.Make("outlier", 40, 2, 1) // row 0 is 1e7 away
	for _, op := range operatorsOf(t, p, Sigma(1), nil) {
		cert := op.Certificate()
		if cert.Isolated != 1 {
			t.Errorf("%s: %d isolated rows, want 1", op.Name(), cert.Isolated)
		}
		if !math.IsInf(cert.RowMax, 1) {
			t.Errorf("%s: RowMax = %g with an isolated row", op.Name(), cert.RowMax)
		}
	}
	for _, name := range []string{"dense", "csr", "pairs"} { // it is out of reach of the others
		if _, err := Build(t.Context(), p, Sigma(1), &Options{Operator: name, Isolated: Fail}); !errors.Is(err, ErrIsolated) {
			t.Errorf("%s, policy fail: err = %v", name, err)
		}
	}
	op, err := openCSR(t.Context(), p, Sigma(1), &Options{Isolated: Repair})
	if err != nil {
		t.Fatal(err)
	}
	if op.Certificate().Isolated != 1 {
		t.Errorf("repair made a weight of %g", Sigma(1).Weight(1e14))
	}
}

func TestRepairReachesOutTheCutoff(t *testing.T) {
	// A far row whose weights are small but not zero: 6 sigma from the others.
	p := pointtest.Make("uniform", 100, 2, 3)
	p.Data[0], p.Data[1] = 7, 0.5
	opt := &Options{CutoffRadius: 2, Tolerance: 1e-3}
	kept, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(1), opt))
	if err != nil {
		t.Fatal(err)
	}
	if kept.Certificate().Isolated != 1 {
		t.Fatalf("%d isolated rows before the repair, want 1", kept.Certificate().Isolated)
	}
	opt.Isolated = Repair
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(1), opt))
	if err != nil {
		t.Fatal(err)
	}
	if cert := op.Certificate(); cert.Isolated != 0 {
		t.Errorf("after the repair: %v", cert)
	}
	at := slices.Index(op.Order(), 0)
	if eta := op.Certificate().Eta(at); !(eta < 100) {
		t.Errorf("the repaired row has eta %g", eta)
	}
	// The graph was to be cut: nothing else is added to it.
	added, _ := op.Weights.Row(at, nil)
	if got, want := op.Weights.NNZ(), kept.Weights.NNZ()+2*len(added); got != want || len(added) != truncated.MostMended {
		t.Errorf("%d weights, want %d", got, want)
	}
	checkAgainstDense(t, public(op), p, Sigma(1))
}

// Without a cutoff of the caller's every row meets the tolerance, or the
// builder says that it cannot.
func TestRepairMeetsTheTolerance(t *testing.T) {
	p := pointtest.Make("clustered", 600, 2, 3)
	kept, err := openCSR(t.Context(), p, Sigma(0.5), &Options{Tolerance: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	if kept.Certificate().RowMax <= 1e-3 {
		t.Fatal("the test wants rows that miss the tolerance")
	}
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(0.5), &Options{Tolerance: 1e-3, Isolated: Repair}))
	if err != nil {
		t.Fatal(err)
	}
	if worst := op.WorstRepairable(1e-3); worst > 1e-3 || !op.Weights.IsSymmetric() {
		t.Errorf("repaired, yet eta = %g", worst)
	}
	checkAgainstDense(t, public(op), p, Sigma(0.5))
	if _, err := openCSR(t.Context(), p, Sigma(0.5), &Options{Tolerance: 1e-9, Isolated: Repair}); !errors.Is(err, ErrTolerance) {
		t.Errorf("a tolerance below float32: err = %v", err)
	}
	uniform := pointtest.Make("uniform", 3000, 2, 1)
	if _, err := openCSR(t.Context(), uniform, Sigma(0.01), &Options{Tolerance: 1e-3, Isolated: Fail}); err == nil || !(errors.Is(err, ErrTolerance) || errors.Is(err, ErrIsolated)) {
		t.Errorf("policy fail: err = %v", err)
	}
	// With less and less memory there is none for the repair first.
	limit := op.Cost().PeakBytes
	for err == nil {
		limit -= limit / 50
		_, err = openCSR(t.Context(), p, Sigma(0.5), &Options{Tolerance: 1e-3, Isolated: Repair, MaxMemory: limit})
	}
	if !errors.Is(err, ErrMemory) {
		t.Errorf("no memory for the repair: err = %v", err)
	}
	if _, err := openCSR(t.Context(), p, Sigma(0.5), &Options{Tolerance: 1e-3, MaxMemory: limit}); err != nil {
		t.Errorf("there is no memory for the graph itself: %v", err)
	}
}

// Every pair: no cutoff, nothing dropped.
func TestCompleteGraph(t *testing.T) {
	for _, d := range []int{2, 12} {
		p := pointtest.Make("uniform", 300, d, 1)
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(5), nil))
		if err != nil {
			t.Fatal(err)
		}
		if cert := op.Certificate(); !math.IsInf(op.Radius(), 1) || op.Weights.NNZ() != 300*299 || cert.RowMax > 0x1p-23 {
			t.Errorf("d=%d: radius %g, %d weights, %v", d, op.Radius(), op.Weights.NNZ(), cert)
		}
		if !op.Weights.IsSymmetric() {
			t.Errorf("d=%d: not symmetric", d)
		}
		checkAgainstDense(t, public(op), p, Sigma(5))
	}
}

func TestBadCalls(t *testing.T) {
	p := pointtest.Make("uniform", 30, 3, 1)
	labels, err := NewLabels(pointtest.RandomLabels(pointtest.Rand(1), 30, 3, false), EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	short, err := NewLabels([]int32{1, 2}, EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	centred, err := NewLabels(pointtest.RandomLabels(pointtest.Rand(1), 30, 3, false), centredTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	x := pointtest.RandomBlock(pointtest.Rand(2), 30, 2)
	bad := pointtest.RandomBlock(pointtest.Rand(2), 30, 2)
	bad.Data[9] = float32(math.NaN())
	for _, op := range operatorsOf(t, p, Sigma(1), nil) {
		ctx := t.Context()
		for name, c := range map[string]struct {
			err, want error
		}{
			"alias":        {op.Apply(ctx, x, x), sparse.ErrAlias},
			"overlap":      {op.Apply(ctx, blas32.General{Rows: 30, Cols: 1, Stride: 1, Data: x.Data[1:31]}, blas32.General{Rows: 30, Cols: 1, Stride: 1, Data: x.Data[:30]}), sparse.ErrAlias},
			"rows":         {op.Apply(ctx, pointtest.Zeros32(29, 2), pointtest.RandomBlock(pointtest.Rand(2), 29, 2)), ErrShape},
			"columns":      {op.Apply(ctx, pointtest.Zeros32(30, 3), x), ErrShape},
			"NaN in x":     {op.Apply(ctx, pointtest.Zeros32(30, 2), bad), ErrNonFinite},
			"no Gather":    {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{Labels: labels}, new(Stats)), ErrShape},
			"label count":  {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{Labels: short}, new(Stats)), ErrLabels},
			"alpha NaN":    {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{Coefficient: math.NaN()}, new(Stats)), ErrNonFinite},
			"beta < 0":     {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{Form: Attract, Coefficient: -1}, new(Stats)), ErrOption},
			"no Stats":     {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{}, nil), ErrShape},
			"no such form": {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{Form: 7}, new(Stats)), ErrOption},
			"signed table": {op.Step(ctx, pointtest.Zeros32(30, 2), x, &Step{Form: Attract, Labels: centred, Coefficient: 1}, new(Stats)), base.ErrTable},
			"gather NaN":   {new(Stats).Gather(bad, labels), ErrNonFinite},
			"gather short": {new(Stats).Gather(x, short), ErrLabels},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s, %s: err = %v, want %v", op.Name(), name, c.err, c.want)
			}
		}
		if err := op.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, cutoff := range []float64{0, 1} {
		if _, err := Build(t.Context(), p, Sigma(1), &Options{Operator: "magic", CutoffRadius: cutoff}); !errors.Is(err, ErrOperator) {
			t.Errorf("err = %v", err)
		}
	}
	if _, err := planOf(t.Context(), p, Sigma(1), &Options{Operator: "magic"}); !errors.Is(err, ErrOperator) {
		t.Errorf("err = %v", err)
	}
	if _, err := labels.Permute(make([]uint32, 29)); !errors.Is(err, ErrShape) {
		t.Errorf("err = %v", err)
	}
	outside := make([]uint32, 30)
	outside[3] = 30
	if _, err := labels.Permute(outside); !errors.Is(err, ErrShape) {
		t.Errorf("err = %v", err)
	}
	// Sums of other labels are not those of x.
	var st Stats
	if err := st.Gather(x, centred); err != nil {
		t.Fatal(err)
	}
	for _, op := range operatorsOf(t, p, Sigma(1), nil) {
		if err := op.Step(t.Context(), pointtest.Zeros32(30, 2), x, &Step{Labels: labels}, &st); !errors.Is(err, ErrShape) {
			t.Errorf("%s: sums of other labels: err = %v", op.Name(), err)
		}
	}
	if err := st.Transform([]float64{1}, 2); !errors.Is(err, ErrShape) {
		t.Errorf("err = %v", err)
	}
	if _, err := Build(t.Context(), p, Sigma(1), &Options{Operator: "dense", CutoffRadius: 1}); !errors.Is(err, ErrOperator) {
		t.Errorf("dense with a cutoff: err = %v", err)
	}
}

// The memory is refused before it is taken.
func TestMemoryIsKnownBeforeItIsTaken(t *testing.T) {
	p := pointtest.Make("uniform", 4000, 2, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := openCSR(t.Context(), p, Sigma(10), &Options{MaxMemory: 20 << 20}) // 16 million pairs, 128 MB
	runtime.ReadMemStats(&after)
	var m *MemoryError
	if !errors.As(err, &m) || m.Need < 128e6 || m.Limit != 20<<20 || !strings.Contains(m.Error(), "; ") {
		t.Fatalf("err = %v", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 60<<20 {
		t.Errorf("%d bytes were allocated before the refusal", taken)
	}
}

// More than 2^32 weights: the arithmetic, not the memory.
func TestMoreThan32BitsOfWeights(t *testing.T) {
	allocate := func(o *base.Options, counts []uint64, held int64) error {
		_, err := graph.RequestOf(o, nil, Sigma(1).own, 1).Allocate(t.Context(), counts, held)
		if err != nil {
			err = graph.SearchError(o, err)
		}
		return err
	}
	o := &base.Options{MaxMemory: 1 << 30}
	err := allocate(o, []uint64{0, 1 << 31, 1 << 31, 1 << 31, 5}, 1000)
	var m *MemoryError
	if !errors.As(err, &m) {
		t.Fatalf("err = %v", err)
	}
	if want := int64(8*(3<<31+5) + 8*5 + 1000); m.Need != want || m.Limit != o.MaxMemory {
		t.Errorf("need %d bytes of %d, want %d", m.Need, m.Limit, want)
	}
	if err := allocate(o, []uint64{0, math.MaxUint64 / 2}, 0); !errors.Is(err, ErrMemory) {
		t.Errorf("err = %v", err)
	}
	// Nor where the limit is more than any machine has.
	for _, limit := range []int64{0, math.MaxInt64} {
		o, err := (&Options{MaxMemory: limit}).withDefaults()
		if err != nil || o.MaxMemory >= mem.AddressSpace {
			t.Fatalf("limit %d: %d bytes, %v", limit, o.MaxMemory, err)
		}
		if err := allocate(o, []uint64{0, mem.AddressSpace / 4}, 0); !errors.Is(err, ErrMemory) {
			t.Errorf("limit %d: err = %v", limit, err)
		}
	}
	// To the byte: 10 weights and a row are 96 bytes, and 1000 are held.
	for limit, want := range map[int64]error{1096: nil, 1095: ErrMemory} {
		if err := allocate(&base.Options{MaxMemory: limit}, []uint64{0, 10}, 1000); !errors.Is(err, want) {
			t.Errorf("limit %d: err = %v", limit, err)
		}
	}
	// And 34 more to convert them.
	for limit, want := range map[int64]error{1130: nil, 1129: ErrMemory} {
		for _, layout := range []sparse.Layout{sparse.Compact, sparse.Compact16} {
			if err := allocate(&base.Options{MaxMemory: limit, Layout: layout}, []uint64{0, 10}, 1000); !errors.Is(err, want) {
				t.Errorf("%v, limit %d: err = %v", layout, limit, err)
			}
		}
	}
	// Without slabs, which have room for more than there is.
	plain, compact := truncated.CSRCost(1000, base.MaxDirect+1, 1e6, &base.Options{}), truncated.CSRCost(1000, base.MaxDirect+1, 1e6, &base.Options{Layout: sparse.Compact})
	if compact.PeakBytes != plain.PeakBytes+3e6+4000 {
		t.Errorf("plain takes %d bytes at most and compact %d", plain.PeakBytes, compact.PeakBytes)
	}
	huge := &base.Options{Columns: math.MaxInt / 4}
	for name, c := range map[string]base.Cost{
		"csr": truncated.CSRCost(2_000_000_000, 2, 4e18, &base.Options{Columns: 2}), "dense": pairwise.DenseCost(1000, 2, huge),
	} {
		if c.PeakBytes < 1<<40 || c.StreamedBytes < 0 || c.Flops < 0 {
			t.Errorf("%s: an impossible size comes out as %+v", name, c)
		}
	}
}

func TestCertificateRoundsUp(t *testing.T) {
	rng := pointtest.Rand(1)
	eta := make([]float64, 1000)
	for i := range eta {
		eta[i] = rng.Float64() * 1e-3
	}
	var c base.Certificate
	c.SetRows(eta)
	for i, e := range eta {
		if got := c.Eta(i); got < e || got > e*(1+0x1p-22) {
			t.Errorf("eta %g became %g", e, got)
		}
	}
	if c.RowMax < slices.Max(eta) {
		t.Errorf("RowMax %g", c.RowMax)
	}
}

// Weights next to the end of float64 have no precision; their rows are isolated.
func TestWeightsNextToUnderflow(t *testing.T) {
	// exp(-d^2/2) = 1e-285 at d = 36.2 and 1e-270 at 35.3.
	for distance, isolated := range map[float32]int{36.2: 2, 35.2: 0} {
		p := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0, distance}}
		op, err := NewDense(t.Context(), p, Sigma(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := op.Certificate().Isolated; got != isolated {
			t.Errorf("distance %g: %d isolated rows, want %d", distance, got, isolated)
		}
	}
	// The stored weights are normal float32, whatever the cutoff asked for.
	p := blas32.General{Rows: 40, Cols: 1, Stride: 1, Data: pointtest.Fill(40, func(i int) float64 { return float64(i) })}
	for _, radius := range []float64{30, 50} { // 50 takes in every pair
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: radius}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			_, val := op.Weights.Row(i, nil)
			for _, v := range val {
				if v < 0x1p-126 {
					t.Fatalf("row %d has the weight %g", i, v)
				}
			}
		}
		if op.Cert.Rounding <= 0 {
			t.Error("no rounding is admitted")
		}
		checkAgainstDense(t, public(op), p, Sigma(1))
	}
}

// Any scale gives the same graph: the profile knows no absolute size.
func TestScaleDoesNotMatter(t *testing.T) {
	unit := pointtest.Make("uniform", 1500, 2, 4)
	var want float64
	for _, scale := range []float64{1, 1e-25, 1e-19, 1e15, 1e30} {
		p := blas32.General{Rows: 1500, Cols: 2, Stride: 2, Data: pointtest.Fill(3000, func(i int) float64 { return float64(unit.Data[i]) * scale })}
		op, err := openCSR(t.Context(), p, Sigma(0.02*scale), nil)
		if err != nil {
			t.Fatalf("scale %g: %v", scale, err)
		}
		b, _, err := bandwidthForDegree(t.Context(), p, 20, 0, nil)
		if err != nil {
			t.Fatalf("scale %g: %v", scale, err)
		}
		if want == 0 {
			want = op.MeanNeighbours()
		}
		if got := op.MeanNeighbours(); math.Abs(got-want) > 0.05*want || math.Abs(b.Sigma()/scale-0.0175) > 0.003 {
			t.Errorf("scale %g: %g neighbours, want %g; sigma %g", scale, got, want, b.Sigma()/scale)
		}
	}
}

func TestByteCount(t *testing.T) {
	for b, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 3 << 40: "3.0 TiB", math.MaxInt64: "8192.0 PiB"} {
		if got := base.ByteCount(b); got != want {
			t.Errorf("byteCount(%d) = %q, want %q", b, got, want)
		}
	}
}

func TestIsolatedNames(t *testing.T) {
	for policy, name := range map[IsolatedPolicy]string{Keep: "keep", Repair: "repair", Fail: "fail"} {
		if got, err := IsolatedByName(name); got != policy || err != nil || policy.String() != name {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "Keep", "IsolatedPolicy(3)"} {
		if p, err := IsolatedByName(name); p != 0 || !errors.Is(err, ErrOption) {
			t.Errorf("%q: %v, %v", name, p, err)
		}
	}
}
