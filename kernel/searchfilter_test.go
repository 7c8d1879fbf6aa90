package kernel

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/par"
)

// Hubs are near to all points, each at another place of its piece. What lists of
// pieces before hold stays within what the worker was granted.
func TestListsOfOtherPiecesAreDropped(t *testing.T) {
	const n, d, radius, piece = 16384, 64, 1.01, codes.mostTogether * codes.panelColumns
	rng := rngOf(1)
	p := blas32.General{Rows: n, Cols: d, Stride: d, Data: fill(n*d, func(i int) float64 {
		v := rng.NormFloat64() / math.Sqrt(d) // two of them are mostly sqrt(2) apart
		if row := i / d; row%piece == row/piece {
			v *= 1e-3
		}
		return v
	})}
	workers := par.New(1)
	defer workers.Close()
	o, err := (&Options{Workers: workers}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	s := codes.newSet(mustPoints(t, p), nil)
	sv, err := codes.takeSurvey(t.Context(), n, d, s.row, radius, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.codes, err = sv.projection.encode(t.Context(), s.row, n, o); err != nil {
		t.Fatal(err)
	}
	if s.tiles, err = codes.newTiles(t.Context(), s.codes, nil, false, workers); err != nil {
		t.Fatal(err)
	}
	pass, err := codes.newFilterPass(t.Context(), s, Sigma(1), radius, func(int) float64 { return 1 }, o)
	if err != nil {
		t.Fatal(err)
	}
	pass.memory.entry, pass.memory.writers = 3*entryBytes, 1
	pass.memory.left.Store(1 << 40)
	if err := workers.Do(t.Context(), pass.pieceCount(), pass); err != nil {
		t.Fatal(err)
	}
	room, held := pass.rooms[0], 0
	for i := range room.ind {
		held += cap(room.ind[i])
	}
	// Lists grow to twice what is in them, and one may do so before it is counted.
	if found := pass.lower()[n-1]; held > 2*(room.granted+codes.listPoints) || int(found) < n/piece/2 {
		t.Errorf("lists hold %d, granted are %d; %d hubs have found the last point", held, room.granted, found)
	}
}

// What comes before a search ends with the context, too.
func TestPreparationsStopWithTheContext(t *testing.T) {
	workers := par.New(1)
	defer workers.Close()
	o, err := (&Options{Workers: workers}).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := mustPoints(t, makePoints("uniform", 100, 16, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func() error{
		"distances":      func() error { _, err := newDistancer(ctx, p, nil, workers); return err },
		"unit distances": func() error { _, err := newUnitDistancer(ctx, p, workers); return err },
		"typical radii":  func() error { _, _, err := codes.typicalRadii(ctx, codes.newSet(p, nil), 3, o); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
