package main

import (
	"math"
	"path/filepath"
	"testing"
)

// What comes through the C interface has the bits of the Engine: a case whose result differs
// would have no ratio. The process tells its memory.
func TestThroughC(t *testing.T) {
	for _, v := range played(t, 3, "-suite", "linked", "-n", "700", "-case", "workers=1") {
		if v["peer"] != throughC || v["difference"] != 0.0 || v["peer_peak_bytes"] == nil {
			t.Errorf("%v", v)
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
