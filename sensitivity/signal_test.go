package sensitivity

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
)

func normalQ(n, k int, scale float64, seed uint64) blas64.General {
	rng := rand.New(rand.NewPCG(seed, 2))
	q := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
	for i := range q.Data {
		q.Data[i] = scale * rng.NormFloat64()
	}
	return q
}

func TestSignalAgainstTheStepItself(t *testing.T) {
	const n, k, alpha = 23, 3, -0.7
	q := normalQ(n, k, 1e-200, 3)
	for _, table := range []Table{
		Gaussian{Classes: 5, Sigma: 2}, Gaussian{Classes: 40, Sigma: 0.5}, Gaussian{Classes: 40, Sigma: 1e9}, Equal{4}, Different{7}, Different{40},
		Values{Classes: 3, Weight: func(a, b int32) float64 { return float64(a + b) }},
	} {
		got, err := (Query{Operator: Full{}, Sigma: 2, Alpha: alpha, Table: table}).Signal(q)
		if err != nil {
			t.Fatal(err)
		}
		weight, classes, err := table.entries()
		if err != nil {
			t.Fatal(err)
		}
		squares := 0.0
		for i := range n {
			for c := range k {
				g := 0.0
				for j := range n {
					if j != i {
						u := weight(int32(i%classes), int32(j%classes))
						g += q.Data[j*k+c] + alpha*u*(q.Data[i*k+c]-q.Data[j*k+c])
					}
				}
				f := (q.Data[i*k+c] + g/(n-1)) / 2 * 1e200
				squares += f * f
			}
		}
		if want := math.Sqrt(squares/(n*k)) * 1e-200; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v: %g, want %g", table, got, want)
		}
	}
}

// The design's figure: sigma 6, alpha 0.6, 98 classes, sigma_q 1e-8.
func TestSignalOfTheDefaults(t *testing.T) {
	s, err := (Query{Operator: Full{}, Sigma: 6, Alpha: 0.6, Table: Gaussian{98, 6}}).Signal(normalQ(1001, 2, 1e-8, 1))
	if err != nil || math.Abs(s-5.4e-9) > 0.2e-9 {
		t.Errorf("%g, %v; want about 5.4e-9", s, err)
	}
}

func TestSignalRefuses(t *testing.T) {
	for _, query := range []Query{{}, {Operator: Full{}, Sigma: 1, Table: Range{0, 1}}, {Operator: Full{}, Sigma: 1, Table: DataDependent{"x"}}} {
		var e *refusal
		if _, err := query.Signal(normalQ(4, 1, 1, 1)); !errors.As(err, &e) {
			t.Errorf("%v: %v", query, err)
		}
	}
}

// A table of many classes costs no more than a table of few.
func TestSignalOfManyClasses(t *testing.T) {
	q := normalQ(200_000, 2, 1e-8, 1)
	for _, table := range []Table{Gaussian{1 << 16, 6}, Equal{1 << 16}, Different{1 << 16}} {
		began := time.Now()
		if _, err := (Query{Operator: Full{}, Sigma: 6, Alpha: 0.6, Table: table}).Signal(q); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%v took %v", table, took)
		}
	}
}
