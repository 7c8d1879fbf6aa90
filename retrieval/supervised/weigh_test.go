package supervised_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Weights follow their formula; constant columns, and those that say nothing, have none.
func TestWeigh(t *testing.T) {
	const n, d, classes = 300, 9, 4
	random := rand.New(rand.NewPCG(21, 1))
	x, labels := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}, make([]int32, n)
	for i := range n {
		labels[i] = int32(random.IntN(classes+1)) - 1
		row := x.Data[i*d:][:d]
		for j := range row {
			row[j] = float32(math.Pow(10, float64(j)-3) * (random.NormFloat64() + float64(j%3)*float64(labels[i])))
		}
		row[4], row[7] = 1e6, float32(labels[i]) // constant, and the class itself
	}
	m, err := (supervised.Recipe{Weigh: true}).NewMap(t.Context(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	zeros := 0
	for j := range d {
		of := make([][]float64, classes)
		var all []float64
		for i, label := range labels {
			if label >= 0 {
				of[label] = append(of[label], float64(x.Data[i*d+j]))
				all = append(all, float64(x.Data[i*d+j]))
			}
		}
		var within, between float64
		for _, v := range of {
			mean, variance := stat.PopMeanVariance(v, nil)
			within += variance * float64(len(v))
			between += math.Pow(mean-stat.Mean(all, nil), 2) * float64(len(v))
		}
		within = max(within, 1e-6*between)
		rows := float64(len(all))
		f := between / (classes - 1) / (within / (rows - classes))
		want := math.Sqrt(max(f-1, 0)*(classes-1)/rows) / math.Sqrt(within/rows)
		if j == 4 {
			want = 0
		}
		if got := m.Scale[j]; math.Abs(got-want) > 1e-4*want {
			t.Errorf("column %d: weight %g, want %g", j, got, want)
		}
		if m.Scale[j] == 0 {
			zeros++
		}
	}
	if zeros == 0 || zeros > 4 || m.Check() != nil {
		t.Errorf("%d weights of 0, %v", zeros, m.Check())
	}
}

func TestWeighRefuses(t *testing.T) {
	x, labels := twoClasses(40, false, 3)
	same := make([]int32, 40)
	weigh := supervised.Recipe{Weigh: true}
	if _, err := weigh.NewMap(t.Context(), x, same); !errors.Is(err, supervised.ErrEqualMeans) {
		t.Errorf("one class: %v", err)
	}
	for i := range same {
		same[i] = int32(i)
	}
	if _, err := weigh.NewMap(t.Context(), x, same); !errors.Is(err, supervised.ErrNoPairs) {
		t.Errorf("every row a class: %v", err)
	}
	flat := blas32.General{Rows: 40, Cols: 2, Stride: 2, Data: make([]float32, 80)}
	if _, err := weigh.NewMap(t.Context(), flat, labels); !errors.Is(err, supervised.ErrEqualMeans) {
		t.Errorf("constant columns: %v", err)
	}
	if _, err := supervised.ParseRecipe("standardize,weigh"); !errors.Is(err, privatemail.ErrSettings) {
		t.Errorf("two scales: %v", err)
	}
}

// Of two classes a discriminant leaves one column, whose rows are not divided by their norm:
// only their signs would be left, and no neighbours.
func TestTwoClasses(t *testing.T) {
	x, labels := twoClasses(200, false, 4)
	for _, text := range []string{"deep", "classic", "discriminate,unit-images,steps=2"} {
		fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, fixed(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if unit := fit.Map.UnitImages; unit != (fit.X.Cols > 1) {
			t.Errorf("%s: %d columns, unit images %v", text, fit.X.Cols, unit)
		}
		z, err := fit.Map.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		values := map[float32]bool{}
		for _, v := range z.Data {
			values[v] = true
		}
		if len(values) < 100 {
			t.Errorf("%s: %d places", text, len(values))
		}
	}
}

// Of fewer rows than columns a map is made in their span, and does what the formulas say: the
// same distances, but for how far all rows are from each other.
func TestMapInSpan(t *testing.T) {
	const n, d, classes = 60, 90, 5
	random := rand.New(rand.NewPCG(22, 1))
	x, labels := mat.NewDense(n, d, nil), make([]int32, n)
	for i := range n {
		labels[i] = int32(i % classes)
		for j := range d {
			x.Set(i, j, random.NormFloat64()+math.Sin(float64(int(labels[i])*(j+1))))
		}
	}
	for _, text := range []string{"whiten,ridge=1", "discriminate,ridge=0.1", "standardize,discriminate,ridge=1", "weigh,whiten,ridge=1", "columns=7", "whiten,ridge=1,columns=3"} {
		r, m, z := mapped(t, text, x, labels)
		if want := map[bool]int{true: r.Columns, false: n}[r.Columns > 0]; r.Projection != supervised.Discriminate && m.Columns() != want {
			t.Errorf("%s: %d columns, want %d", text, m.Columns(), want)
		}
		if r.Projection != supervised.Whiten || r.Columns != 0 {
			continue
		}
		// A'RA = 1 in the span of the rows: the distances of R^(-1/2).
		scaled := mat.DenseCopyOf(x)
		for j := range d {
			if m2, err := (supervised.Recipe{Weigh: r.Weigh, Standardize: r.Standardize}).NewMap(t.Context(), single(x), labels); err == nil && m2.Scale != nil {
				for i := range n {
					scaled.Set(i, j, x.At(i, j)*m2.Scale[j])
				}
			}
		}
		var inverse mat.Dense
		if err := inverse.Inverse(ridged(scaled, labels, r.Ridge)); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range i {
				diff := mat.NewVecDense(d, nil)
				diff.SubVec(scaled.RowView(i), scaled.RowView(j))
				want, got := mat.Inner(diff, &inverse, diff), 0.0
				for k := range z.Cols {
					got += math.Pow(float64(z.Data[i*z.Stride+k]-z.Data[j*z.Stride+k]), 2)
				}
				if math.Abs(got-want) > 2e-2*want {
					t.Fatalf("%s: rows %d and %d are %g apart, want %g", text, i, j, got, want)
				}
			}
		}
	}
}

// Equal rows have no span.
func TestMapOfEqualRows(t *testing.T) {
	x, labels := mat.NewDense(6, 20, nil), []int32{0, 1, 0, 1, 0, 1}
	for _, text := range []string{"deep,root", "whiten", "columns=3"} {
		r, err := supervised.ParseRecipe(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.NewMap(t.Context(), single(x), labels); !errors.Is(err, supervised.ErrNoPairs) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A row that is the nearest of many is noticed.
func TestFitNoticesHubs(t *testing.T) {
	x, labels := twoClasses(300, true, 6)
	copy(x.Data[2*17:], []float32{0, 0}) // in the middle of the rings
	for i := range 300 {
		if i%3 == 0 && i != 17 { // a third of the rows lie there, too
			copy(x.Data[2*i:], []float32{float32(i) * 1e-6, 0})
		}
	}
	raw := supervised.Recipe{}
	fit, err := supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{Recipe: &raw})
	if err != nil {
		t.Fatal(err)
	}
	if h := fit.Held; h.HubShare <= 0 || h.Hub < 0 || h.Hub >= 300 {
		t.Errorf("%+v", h)
	}
	for i := range 150 { // zeros far from all others, in turn of each class
		copy(x.Data[2*i:], []float32{0, 0})
	}
	if fit, err = supervised.Fit(t.Context(), newEngine(t), x, labels, &supervised.Settings{Recipe: &raw}); err != nil {
		t.Fatal(err)
	}
	if h := fit.Held; h.Hub > 10 || h.HubShare < 0.2 {
		t.Errorf("row %d is the nearest of %g", h.Hub, h.HubShare)
	}
}
