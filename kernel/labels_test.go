package kernel

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// plainLaplacian builds L_Y row by row from the weight of two labels.
func plainLaplacian(y []int32, weight func(i, j int) float64) *mat.Dense {
	l := mat.NewDense(len(y), len(y), nil)
	for i := range y {
		for j := range y {
			if i == j || y[i] == Unlabelled || y[j] == Unlabelled {
				continue
			}
			w := weight(i, j)
			l.Set(i, j, -w)
			l.Set(i, i, l.At(i, i)+w)
		}
	}
	return l
}

func TestTablesEqualTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed"))
		y := pointtest.RandomLabels(rng, n, 1+rng.IntN(6), rapid.Bool().Draw(t, "unlabelled"))
		size := make(map[int32]float64)
		for _, v := range y {
			size[v]++
		}
		equal := func(a, b float64) func(i, j int) float64 {
			return func(i, j int) float64 {
				if y[i] == y[j] {
					return a
				}
				return b
			}
		}
		for _, c := range []struct {
			table  Table
			weight func(i, j int) float64
		}{
			{EqualTable(), equal(1, 0)},
			{DifferentTable(), equal(0, 1)},
			{BalancedTable(), func(i, j int) float64 { return equal(1/(size[y[i]]-1), 0)(i, j) }},
			{GaussianTable(Sigma(2)), func(i, j int) float64 { d := float64(y[i] - y[j]); return math.Exp(-d * d / 8) }},
			// So narrow that the table is banded: labels 0, 3, 6, .. at sigma 0.1.
			{GaussianTable(Sigma(0.1)), func(i, j int) float64 { d := float64(y[i] - y[j]); return math.Exp(-d * d / 0.02) }},
			{TableFunc("sum", func(a, b int32) float64 { return float64(a + b) }), func(i, j int) float64 { return float64(y[i] + y[j]) }},
		} {
			checkLabels(t, y, c.table, plainLaplacian(y, c.weight))
		}
		checkLabels(t, y, centredTable(), centredLaplacian(y))
	})
}

// centredLaplacian is 1/2 J D J over the labelled rows, by matrix products.
func centredLaplacian(y []int32) *mat.Dense {
	n := len(y)
	labelled := 0.0
	for _, v := range y {
		if v >= 0 {
			labelled++
		}
	}
	j, d := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for a := range n {
		for b := range n {
			if y[a] < 0 || y[b] < 0 {
				continue
			}
			d.Set(a, b, math.Abs(float64(y[a]-y[b])))
			v := -1 / labelled
			if a == b {
				v++
			}
			j.Set(a, b, v)
		}
	}
	out := mat.NewDense(n, n, nil)
	out.Product(j, d, j)
	out.Scale(0.5, out)
	return out
}

func checkLabels(t pointtest.Tester, y []int32, table Table, want *mat.Dense) {
	t.Helper()
	labels, err := NewLabels(y, table, true)
	if err != nil {
		t.Fatalf("%s: %v", table.Name(), err)
	}
	n, k := len(y), 2
	x := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(uint64(n)), n, k))
	got := pointtest.Zeros64(n, k)
	if err := labels.LaplacianTo64(got, x); err != nil {
		t.Fatalf("%s: %v", table.Name(), err)
	}
	var product mat.Dense
	product.Mul(want, mat.NewDense(n, k, x.Data))
	size := 1 + mat.Norm(want, 1)
	for i := range n {
		if e := math.Abs(labels.Degree(i) - want.At(i, i)); e > 1e-13*size*float64(n) {
			t.Fatalf("%s: degree of row %d is %g, want %g", table.Name(), i, labels.Degree(i), want.At(i, i))
		}
		for c := range k {
			if e := math.Abs(got.Data[i*k+c] - product.At(i, c)); e > 1e-13*size*float64(n) {
				t.Fatalf("%s: (L_Y x)[%d, %d] = %g, want %g", table.Name(), i, c, got.Data[i*k+c], product.At(i, c))
			}
		}
	}
}

// Numbering the classes differently changes nothing with the equality table.
func TestEqualTableIgnoresTheNumbering(t *testing.T) {
	y := []int32{0, 1, 2, 1, 0, 2, 2}
	renamed := []int32{70, 5, 9, 5, 70, 9, 9}
	x := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(1), len(y), 2))
	a, b := pointtest.Zeros64(len(y), 2), pointtest.Zeros64(len(y), 2)
	for labels, out := range map[*[]int32][]float64{&y: a.Data, &renamed: b.Data} {
		l, err := NewLabels(*labels, EqualTable(), false)
		if err != nil {
			t.Fatal(err)
		}
		dst := pointtest.Zeros64(len(y), 2)
		if err := l.LaplacianTo64(dst, x); err != nil {
			t.Fatal(err)
		}
		copy(out, dst.Data)
	}
	for i := range a.Data {
		if math.Abs(a.Data[i]-b.Data[i]) > 1e-14 {
			t.Fatalf("entry %d: %g and %g", i, a.Data[i], b.Data[i])
		}
	}
}

func TestManyClassesNeedNoTable(t *testing.T) {
	y := make([]int32, 100_000)
	for i := range y {
		y[i] = int32(i) * 1000
	}
	for _, table := range []Table{EqualTable(), DifferentTable(), BalancedTable(), GaussianTable(Sigma(1))} {
		if _, err := NewLabels(y, table, false); err != nil {
			t.Errorf("%s: %v", table.Name(), err)
		}
	}
	_, err := NewLabels(y, centredTable(), false)
	var m *MemoryError
	if !errors.As(err, &m) || !errors.Is(err, ErrMemory) {
		t.Errorf("centred: err = %v, want a refusal of 80 GB", err)
	}
}

func TestBadLabels(t *testing.T) {
	asymmetric := TableFunc("asymmetric", func(a, b int32) float64 { return float64(a - b) })
	infinite := TableFunc("infinite", func(a, b int32) float64 { return math.Inf(1) })
	for _, c := range []struct {
		name  string
		y     []int32
		table Table
		allow bool
		want  error
	}{
		{"none", nil, EqualTable(), false, ErrEmpty},
		{"negative", []int32{0, -2}, EqualTable(), true, ErrLabels},
		{"unlabelled, not allowed", []int32{0, -1}, EqualTable(), false, ErrLabels},
		{"no table", []int32{0}, Table{}, false, base.ErrTable},
		{"asymmetric table", []int32{0, 1}, asymmetric, false, base.ErrTable},
		{"infinite table", []int32{0, 1}, infinite, false, base.ErrTable},
		{"gaussian without bandwidth", []int32{0, 1}, GaussianTable(Sigma(0)), false, ErrBandwidth},
	} {
		if _, err := NewLabels(c.y, c.table, c.allow); !errors.Is(err, c.want) {
			t.Errorf("%s: err = %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := TableByName("nonsense", Sigma(1)); !errors.Is(err, base.ErrTable) {
		t.Errorf("err = %v", err)
	}
	for _, name := range []string{"equal", "different", "balanced", "gaussian", "centred"} {
		if table, err := TableByName(name, Sigma(1)); err != nil || table.Name() != name {
			t.Errorf("%s: %v, %v", name, table.Name(), err)
		}
	}
}

func TestPermutedLabels(t *testing.T) {
	labels, err := NewLabels([]int32{4, 7, 4, -1}, EqualTable(), true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := labels.Permute([]uint32{3, 1, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	got := []float64{p.Degree(0), p.Degree(1), p.Degree(2), p.Degree(3)}
	if want := []float64{0, 0, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("degrees %v, want %v", got, want)
	}
	if labels.Classes() != 2 {
		t.Errorf("%d classes", labels.Classes())
	}
	if _, err := labels.Permute([]uint32{0}); !errors.Is(err, ErrShape) {
		t.Errorf("err = %v", err)
	}
}

// The size of a table is known before the time is spent, with an int of 32 bits too.
func TestTooManyClasses(t *testing.T) {
	y := make([]int32, 1<<16)
	for i := range y {
		y[i] = int32(i)
	}
	for _, table := range []Table{centredTable(), TableFunc("one", func(_, _ int32) float64 { return 1 })} {
		var e *MemoryError
		if _, err := NewLabels(y, table, false); !errors.As(err, &e) || e.Need != 8<<32 {
			t.Errorf("%s: %v", table.Name(), err)
		}
	}
}
