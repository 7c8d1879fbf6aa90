package codes

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Hubs are near to all points, and each hub is at another place of its piece. The memory
// that lists keep from pieces before stays within what the worker was granted.
func TestListsOfOtherPiecesAreDropped(t *testing.T) {
	const n, d, radius, piece = 16384, 64, 1.01, mostTogether * panelColumns
	rng := pointtest.Rand(1)
	p := blas32.General{Rows: n, Cols: d, Stride: d, Data: pointtest.Fill(n*d, func(i int) float64 {
		v := rng.NormFloat64() / math.Sqrt(d) // two points are mostly sqrt(2) apart
		if row := i / d; row%piece == row/piece {
			v *= 1e-3
		}
		return v
	})}
	workers := par.New(1)
	defer workers.Close()
	req := &rows.Request{Points: pointtest.Open(p), Radius: radius, Gamma: 0.5, Memory: 1 << 40, Workers: workers, Kernels: simd.At(simd.Best())}
	s := newSet(req.Points, nil)
	sv, err := takeSurvey(t.Context(), n, d, s.row, radius, req)
	if err != nil {
		t.Fatal(err)
	}
	if s.codes, err = sv.projection.encode(t.Context(), s.row, n, req); err != nil {
		t.Fatal(err)
	}
	if s.tiles, err = newTiles(t.Context(), s.codes, nil, workers); err != nil {
		t.Fatal(err)
	}
	if err := s.tiles.fill(t.Context(), workers); err != nil {
		t.Fatal(err)
	}
	pass, err := newFilterPass(t.Context(), s, func(int) float64 { return 1 }, req)
	if err != nil {
		t.Fatal(err)
	}
	if err := pass.memory.Begin(t.Context(), &rows.Request{Memory: 1 << 40}, 0, 0, 3*rows.EntryBytes); err != nil {
		t.Fatal(err)
	}
	if err := workers.Do(t.Context(), pass.pieceCount(), pass); err != nil {
		t.Fatal(err)
	}
	scratch, held := pass.scratches[0], 0
	for i := range scratch.ind {
		held += cap(scratch.ind[i])
	}
	// Lists grow to twice what is in them, and one list may grow before it is counted.
	if found := pass.lower()[n-1]; held > 2*(scratch.granted+listPoints) || int(found) < n/piece/2 {
		t.Errorf("lists hold %d, granted are %d; %d hubs have found the last point", held, scratch.granted, found)
	}
}
