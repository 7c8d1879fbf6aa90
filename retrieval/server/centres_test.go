package server

import (
	"errors"
	"math"
	"testing"
)

func TestCentres(t *testing.T) {
	for _, c := range []struct {
		share, epsilon float64
		want           int
	}{
		{1. / 8, 0.01, 12}, {1. / 8, 5, 12}, {1. / 8, 6, 20}, {1. / 8, 8, 55}, {1. / 16, 4, 24}, {1. / 16, 8, 55}, {0.5, 1, 3},
	} {
		if got, err := Centres(c.share, c.epsilon); err != nil || got != c.want {
			t.Errorf("share %g, epsilon %g: %d, %v, want %d", c.share, c.epsilon, got, err, c.want)
		}
	}
	nan := math.NaN()
	for _, c := range [][2]float64{{0, 1}, {0.6, 1}, {nan, 1}, {-1, 1}, {.1, 0}, {.1, nan}, {.1, -1}, {1e-9, 1}, {.1, 100}, {.1, math.Inf(1)}} {
		if _, err := Centres(c[0], c[1]); !errors.Is(err, ErrCells) {
			t.Errorf("%v: error %v", c, err)
		}
	}
}
