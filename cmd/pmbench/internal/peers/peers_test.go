package peers

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/spectral"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// peersLab is a small lab until the test ends.
func peersLab(t *testing.T) *measure.Lab {
	t.Helper()
	l := measure.SmallLab()
	t.Cleanup(l.Close)
	return l
}

// Rayleigh quotients of our own eigenvectors are the eigenvalues; those of other
// vectors are not.
func TestEigenDifference(t *testing.T) {
	l := peersLab(t)
	op, err := suites.ConvergeGraph(t.Context(), l, 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	out, err := spectral.Converge(t.Context(), op, kernel.Step{Form: kernel.Attract}, &spectral.ConvergeSettings{Dim: 4})
	if err != nil {
		t.Fatal(err)
	}
	y := suites.Zeros(300, 4)
	for i := range 300 { // to the operator's order
		given := i
		if order := op.Order(); order != nil {
			given = int(order[i])
		}
		copy(y.Data[4*i:4*i+4], out.Points.Data[4*given:])
	}
	if got, err := eigenDifference(t.Context(), op, y.Data, out.Values); err != nil || got > 1e-6 {
		t.Errorf("%g, %v", got, err)
	}
	y.Data[0] += 1
	if got, err := eigenDifference(t.Context(), op, y.Data, out.Values); err != nil || got < 1e-2 {
		t.Errorf("with another vector %g, %v", got, err)
	}
	a, err := suites.WeightsOf(t.Context(), op)
	if err != nil || int64(a.NNZ()) != op.Cost().NNZ {
		t.Errorf("%d weights, want %d: %v", a.NNZ(), op.Cost().NNZ, err)
	}
}

// Rows in the order of the points come out in that of the operator.
func TestInOrder(t *testing.T) {
	l := peersLab(t)
	x, err := suites.SearchSet{Kind: "easy", N: 300, D: 20}.Points()
	if err != nil {
		t.Fatal(err)
	}
	op, err := nearestGraph(t.Context(), x, l.Workers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	got := inOrder(op, x.Data, 20)
	for row := range 300 {
		given := row
		if order := op.Order(); order != nil {
			given = int(order[row])
		}
		if !slices.Equal(got[row*20:][:20], x.Data[given*20:][:20]) {
			t.Fatalf("row %d", row)
		}
	}
}

// fake is an opponent that takes a given time and has a given result.
type fake struct {
	seconds float64
	result  []float32
	rounds  int
}

func (f *fake) Round(_, _ int, _ float64, check string) ([]float64, error) {
	if check != "" {
		return []float64{0}, writeLittle(check, f.result)
	}
	f.rounds++
	return []float64{f.seconds}, nil
}
func (*fake) Version() string { return "1" }
func (*fake) Close() error    { return nil }

func TestNoRatioForAWrongResult(t *testing.T) {
	right, wrong, noNumber := &fake{0.01, []float32{1, 2}, 0}, &fake{0.01, []float32{1, 3}, 0}, &fake{0.01, []float32{1, float32(math.NaN())}, 0}
	c := &contest{lab: peersLab(t), e: &cli.Env{Quiet: true}, folder: t.TempDir(), rounds: 5}
	rivals := []*rival{
		{peer: peer{name: "right", pairing: serial}, opponent: right}, {peer: peer{name: "wrong", pairing: serial}, opponent: wrong},
		{peer: peer{name: "no number", pairing: serial}, opponent: noNumber}, {peer: peer{name: "absent", pairing: serial}, missing: "gone"},
	}
	m := &match{
		ratio: record.Ratio{Suite: "spmm", Workers: 1}, most: 0.1,
		ours: func(context.Context) error { time.Sleep(time.Millisecond); return nil },
		differ: func(file string) (float64, error) {
			v, err := readFloats(file, 2)
			if err != nil {
				return 0, err
			}
			return math.Abs(float64(v[1]) - 2), nil
		},
	}
	if err := c.play(t.Context(), m, rivals, measure.AllWork); err != nil {
		t.Fatal(err)
	}
	if len(c.ratios) != 4 || c.ratios[0].Ratio == nil || c.ratios[0].Rounds != 5 || right.rounds != 5 {
		t.Fatalf("%+v", c.ratios[0])
	}
	for _, r := range c.ratios[1:] {
		if r.Ratio != nil {
			t.Errorf("%s has the ratio %g", r.Peer, *r.Ratio)
		}
	}
	if wrong.rounds != 0 || noNumber.rounds != 0 || c.ratios[3].Missing != "gone" {
		t.Errorf("%d and %d rounds of wrong results", wrong.rounds, noNumber.rounds)
	}
	// With two workers nobody here plays.
	m.ratio.Workers, c.ratios = 2, nil
	if err := c.play(t.Context(), m, rivals, measure.AllWork); err != nil || len(c.ratios) != 0 {
		t.Errorf("%v, %v", c.ratios, err)
	}
}

func TestProductDifference(t *testing.T) {
	a, err := sparse.New(2, 2, []uint64{0, 2, 2}, []uint32{0, 1}, []float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	x, y := suites.Block(2, 1), suites.Zeros(2, 1)
	x.Data[0], x.Data[1] = -1, 1
	if err := a.MulTo(t.Context(), nil, nil, y, x); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		theirs []float32
		want   float64
	}{
		{[]float32{1, 0}, 0}, {[]float32{1.5, 0}, 0.5 / 3}, {[]float32{1, 1}, math.Inf(1)}, {[]float32{float32(math.NaN()), 0}, math.NaN()},
	} {
		got, err := productDifference(t.Context(), a, x, y, c.theirs)
		if err != nil || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v: %g, want %g, %v", c.theirs, got, c.want, err)
		}
	}
}

// The fingerprint of neighbours is the one a plain search gives.
func TestFingerprint(t *testing.T) {
	for _, kind := range []string{"uniform", "clustered"} {
		for _, d := range []int{2, 3} {
			l := peersLab(t)
			s, err := suites.PointsOfKind(t.Context(), l, kind, 700, d)
			if err != nil {
				t.Fatal(err)
			}
			copy(s.Points.Data[:d], s.Points.Data[d:]) // two equal points
			got, nnz, err := fingerprint(t.Context(), l, s)
			if err != nil {
				t.Fatal(err)
			}
			want, pairs := make([]float32, 3*700), int64(0)
			for i := range uint32(700) {
				for j := range uint32(700) {
					d2 := 0.0
					for c := range d {
						v := float64(s.Points.Data[int(i)*d+c]) - float64(s.Points.Data[int(j)*d+c])
						d2 += v * v
					}
					if i != j && math.Sqrt(d2) <= s.Radius {
						want[3*i]++
						want[3*i+1] += float32((j * 2654435761) >> 20)
						want[3*i+2] += float32((j * 2246822519) >> 20)
						pairs++
					}
				}
			}
			if rows := rowsThatDiffer(got, want); rows != 0 || nnz != pairs {
				t.Errorf("%s in %d dimensions: %d rows differ, %d pairs, want %d", kind, d, rows, nnz, pairs)
			}
		}
	}
	if rowsThatDiffer([]float32{1, 2, 3, 1, 2, 3}, []float32{1, 2, 3, 1, 2, 4}) != 1 {
		t.Error("one row differs")
	}
}

func TestReadFloatsRefusesAnotherLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 10), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readFloats(path, 3); err == nil {
		t.Error("10 bytes are no 3 numbers")
	}
}

// The flags that choose a part are those that leave out cases or peers, or change sizes.
func TestFlagsOfAPartOfPeers(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&Options{N: suites.DefaultRows, Count: 9}).part(), false},
		{(&Options{N: suites.DefaultRows, Pattern: "k=8"}).part(), true},
		{(&Options{N: suites.DefaultRows, Peer: "scipy"}).part(), true},
		{(&Options{N: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}

func TestDifferentWords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result")
	if err := os.WriteFile(file, []byte{1, 0, 0, 0, 2, 0, 0, 0}, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := differentWords(file, []uint32{1, 3}); got != 1 || err != nil {
		t.Errorf("%g, %v", got, err)
	}
	if _, err := differentWords(file, []uint32{1}); err == nil {
		t.Error("a result of another length")
	}
}

func TestDistanceDifference(t *testing.T) {
	ours := []float64{0, 1, 4}
	for _, c := range []struct {
		theirs []float32
		want   float64
	}{
		{[]float32{0, 1, 4}, 0},
		{[]float32{0, 1.5, 5}, 0.5},
		{[]float32{1, 1, 4}, math.Inf(1)},
		{[]float32{0, float32(math.NaN()), 4}, math.Inf(1)},
		{[]float32{0, 1, float32(math.Inf(1))}, math.Inf(1)},
	} {
		if got := distanceDifference(ours, c.theirs); got != c.want {
			t.Errorf("%v differs by %g, want %g", c.theirs, got, c.want)
		}
	}
}

func TestDifferingEntries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result")
	zero, nan := float32(0), float32(math.NaN())
	if err := writeLittle(file, []float32{1, zero, nan, 4}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ours []float32
		want float64
	}{
		{[]float32{1, zero, nan, 4}, 0},
		{[]float32{1, float32(math.Copysign(0, -1)), nan, 5}, 2},
	} {
		if got, err := differingEntries(file, c.ours); err != nil || got != c.want {
			t.Errorf("%v: %g, want %g, %v", c.ours, got, c.want, err)
		}
	}
	if _, err := differingEntries(file, []float32{1}); err == nil {
		t.Error("four entries are not one")
	}
}
