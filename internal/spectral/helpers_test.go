package spectral

import (
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func random(rng *rand.Rand, n, k int) blas32.General {
	m := newMatrix(n, k)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func labelsOf(t interface{ Fatalf(string, ...any) }, rng *rand.Rand, n int, table kernel.Table) *kernel.Labels {
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(4)) - 1
	}
	labels, err := kernel.NewLabels(y, table, true)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return labels
}
