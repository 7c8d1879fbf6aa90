package server

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// Centres returns the number m of cells that mode cells has for lists of the
// given share of the gallery (0 to 1/2) and clients that spend epsilon a query
// and name one cell:
//
//	m = max(round(1.5/share), round(e^(epsilon/2))).
//
// The true cell is reported with probability p = e^epsilon/(e^epsilon + m - 1), so it
// is reported more often where there are few cells, and many cells describe the gallery
// better. With the lists of one length, not a partition, the best number hardly depends
// on the gallery: m grows with epsilon only where p stays near 1.
func Centres(share, epsilon float64) (int, error) {
	if !(share > 0 && share <= 0.5) || !(epsilon > 0) {
		return 0, fmt.Errorf("server: %w: share %g, want 0 to 1/2; epsilon %g", ErrCells, share, epsilon)
	}
	m := max(math.Round(1.5/share), math.Round(math.Exp(epsilon/2)))
	if m > limits.MaxCells {
		return 0, fmt.Errorf("server: %w: share %g and epsilon %g ask for %g cells", ErrCells, share, epsilon, m)
	}
	return int(m), nil
}
