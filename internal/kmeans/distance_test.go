package kmeans

import (
	"embed"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
)

//go:embed distance.go
var sources embed.FS

// A row and its nearest centre may be private.
func TestNearestByMasks(t *testing.T) {
	for _, problem := range inspect.Files(sources, inspect.Functions{"distance.go": {"Nearest": {"row", "best"}, "SquaredDistance": {"a"}}}) {
		t.Error(problem)
	}
}

func TestNearest(t *testing.T) {
	centres := []float32{0, 0, 3, 4, 3, 4, -1, 0}
	for want, row := range map[int][]float64{0: {0.1, 0.5}, 1: {3, 3}, 3: {-2, 0}} {
		if got := Nearest(row, centres); got != want {
			t.Errorf("%v: %d, want %d", row, got, want)
		}
	}
	if got := SquaredDistance([]float64{1, 2}, []float32{4, 6}); got != 25 {
		t.Errorf("distance %g", got)
	}
}
