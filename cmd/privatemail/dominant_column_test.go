package main

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// A map of rows that one column decides comes with a note that names it; others do not.
func TestDominantColumn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	temp := t.TempDir()
	for _, c := range []struct {
		scale float32
		noted bool
	}{{1000, true}, {1, false}} {
		rows := make([]float32, 100*3)
		for i := range rows {
			rows[i] = 5000 + float32(random.NormFloat64())
			if i%3 == 1 {
				rows[i] = 5000 + c.scale*float32(random.NormFloat64())
			}
		}
		path := filepath.Join(temp, "x.npy")
		writeMatrix(t, path, 100, 3, rows)
		_, stderr := succeed(t, "embed", path, "-out", filepath.Join(temp, "z.npy"))
		if got := strings.Contains(stderr, "column 2 has 100.0 % of the variance"); got != c.noted {
			t.Errorf("scale %g: noted %v:\n%s", c.scale, got, stderr)
		}
	}
}
