package simd

import (
	"sync"
	"testing"
)

// Two goroutines add rows of a matrix to later ones, each in its own columns. Neither
// touches what the other writes, and the race detector gets no report that it does.
func TestAddRowsInColumns(t *testing.T) {
	const stride, half = 16, 8
	x := make([]float64, 3*stride)
	for i := range x {
		x[i] = 1
	}
	var both sync.WaitGroup
	for from := 0; from < stride; from += half {
		both.Go(func() {
			for i := 1; i < 3; i++ {
				At(Best()).AddRows(x[i*stride+from:][:half], []float64{1, 1}[:i], RowsOf(x[from:], stride))
			}
		})
	}
	both.Wait()
	for i, v := range x {
		if want := []float64{1, 2, 4}[i/stride]; v != want {
			t.Errorf("entry %d is %g, want %g", i, v, want)
		}
	}
}
