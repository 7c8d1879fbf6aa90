package peers

import (
	"math"
	"path/filepath"
	"testing"
)

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
