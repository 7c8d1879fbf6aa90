package server

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// mostEntry is the largest size of an entry of a row that is inserted. It is far beyond those that
// an epoch may have (mostScale), and the rotation of such a row and its distances are finite.
const mostEntry = 1e150

// Insert puts a row into the gallery, in the first free slot of the nearest cell with room, and
// returns its name. id is its row number, which need not be new. The row is rounded with the scale of
// the epoch and clipped to what a byte has room for. It makes a version, and waits for the
// passes that are running.
//
// Errors are ErrFull where no cell has room, or where the norm of the row does not fit the
// epoch: a new epoch is due; ErrGallery for a row of another dimension or with numbers that
// are not finite and for an id that means none, and ErrClosed.
func (g *Gallery) Insert(row []float64, id uint32) (name uint32, err error) {
	m := &g.manifest
	if len(row) != m.Dimension {
		return 0, fmt.Errorf("sealed server: %w: a row of %d numbers, want %d", ErrGallery, len(row), m.Dimension)
	}
	for j, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("sealed server: %w: %w", ErrGallery, &points.NonFiniteError{What: "row", Col: j})
		}
		if math.Abs(v) > mostEntry {
			return 0, fmt.Errorf("sealed server: %w: the row is longer than those of the epoch", ErrFull)
		}
	}
	if id == wire.Padding {
		return 0, fmt.Errorf("sealed server: %w: id %d means that there is no row", ErrGallery, id)
	}
	code := make([]int8, m.Dimension)
	norm := quantise(code, slices.Clone(row), m.Scale)
	number, fits := g.norms.number(norm)
	if !fits || norm > m.MaxNorm {
		return 0, fmt.Errorf("sealed server: %w: the row is longer or shorter than those of the epoch", ErrFull)
	}
	distances := make([]float64, m.Cells)
	g.centres.distances(distances, row)
	if err := g.use(); err != nil {
		return 0, err
	}
	defer g.calls.End()
	g.mu.Lock()
	defer g.mu.Unlock()
	slot, found := g.slots.free(m, distances)
	if !found {
		return 0, fmt.Errorf("sealed server: %w: all %d slots have a row", ErrFull, m.Slots())
	}
	g.change(slot, code, number, id)
	return slot, nil
}

// free returns the first free slot of the nearest cell with room.
func (s *slots) free(m *wire.SealedManifest, distances []float64) (name uint32, found bool) {
	room := make([]int, len(s.used))
	for c, used := range s.used {
		room[c] = m.Length - used
	}
	near := make([]uint32, 1)
	if nearest(near, distances, room) == 0 {
		return 0, false
	}
	name = near[0] * uint32(m.Length)
	for s.norms.values[name] != wire.EmptySlot {
		name++
	}
	return name, true
}

// Remove takes the row of a name out of the gallery. It makes a version, and waits for the
// passes that are running. Changes that clients fetch disclose the row that was there. Errors
// are ErrGallery for a name that no row has, and ErrClosed.
func (g *Gallery) Remove(name uint32) error {
	if err := g.use(); err != nil {
		return err
	}
	defer g.calls.End()
	g.mu.Lock()
	defer g.mu.Unlock()
	if int64(name) >= int64(len(g.slots.norms.values)) || g.slots.norms.values[name] == wire.EmptySlot {
		return fmt.Errorf("sealed server: %w: %d", errName, name)
	}
	g.change(name, make([]int8, g.manifest.Dimension), wire.EmptySlot, wire.Padding)
	return nil
}

// change sets a slot and makes a version.
func (g *Gallery) change(name uint32, code []int8, norm int16, id uint32) {
	s, m := &g.slots, &g.manifest
	cell, r := int(name)/m.Length, int(name)%m.Length
	hint := s.hint.own()[r*scheme.SecretWords : (r+1)*scheme.SecretWords]
	norms, ids := s.norms.own(), s.ids.own()
	g.log.add(s.version, former{name: name, norm: norms[name], id: ids[name], row: uint32(r), hint: append([]uint32(nil), hint...)})

	before := make([]int8, m.Dimension)
	s.matrix.row(before, r, cell*m.Dimension)
	s.matrix.setRow(r, cell*m.Dimension, code)
	public := make([]uint32, scheme.SecretWords)
	for j, v := range code {
		g.public.Rows(public, cell*m.Dimension+j)
		times := uint32(int32(v) - int32(before[j]))
		for i, w := range public {
			hint[i] += times * w
		}
	}
	for _, v := range []struct {
		norm int16
		by   int
	}{{norms[name], -1}, {norm, 1}} {
		if v.norm != wire.EmptySlot {
			s.rows += v.by
			s.used[cell] += v.by
		}
	}
	norms[name], ids[name] = norm, id
	s.version++
}
