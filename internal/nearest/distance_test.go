package nearest

import (
	"math/rand/v2"
	"testing"
)

func TestSquaredDistances(t *testing.T) {
	a, b := []float64{1, 2}, []float64{-1, 0}
	panel := []float64{
		0, 1, 2, 3, // first coordinates of the four rows
		5, 2, 0, -1,
	}
	want := [8]float64{1 + 9, 0, 1 + 4, 4 + 9, 1 + 25, 4 + 4, 9, 16 + 1}
	if got := squaredDistances(a, b, panel); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Four rows that are not packed have the sums of a packed panel, bit for bit.
func TestFourDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for d := range 40 {
		x := drawn(rng, 9, d, "normal")
		query, row, panel := make([]float64, d), make([]float64, d), make([]float64, panelRows*d)
		for j := range query {
			query[j] = rng.NormFloat64()
		}
		rows := [panelRows]int{8, 0, 3, 3}
		pack(panel, row, x, rows[:])
		want := squaredDistances(query, query, panel)
		if got := distancesTo(query, x, rows); got != [panelRows]float64(want[:panelRows]) {
			t.Errorf("d=%d: got %v, want %v", d, got, want)
		}
	}
}
