package server

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A history knows the versions of a gallery that came before the current one.
type history struct {
	most    int      // versions that it can lead back to
	formers []former // the oldest first: what the last len(formers) changes have replaced
	// rows and names are the last versions that changed a row of the hint and a slot, of
	// changes that are older than formers.
	rows, names map[uint32]uint64
}

// A former is what a change has replaced.
type former struct {
	name uint32
	norm int16
	id   uint32
	row  uint32 // of the hint
	hint []uint32
}

// add remembers what a change to a version has replaced, and forgets the oldest of more than
// there may be.
func (h *history) add(version uint64, f former) {
	h.formers = append(h.formers, f)
	for len(h.formers) > h.most {
		h.forget(version - uint64(len(h.formers)) + 2)
	}
}

// forget drops the oldest change, which made a version: that there was one is kept.
func (h *history) forget(version uint64) {
	if h.rows == nil {
		h.rows, h.names = map[uint32]uint64{}, map[uint32]uint64{}
	}
	oldest := h.formers[0]
	h.rows[oldest.row], h.names[oldest.name] = version, version
	h.formers[0] = former{} // its memory is free before the slice moves on
	h.formers = h.formers[1:]
}

// Changes returns what takes a client from version since to version to: all rows of the hint and
// all slots that changed between them, as they were at version to. since may be any
// version up to to, however old; ErrChanges is returned where to is older than Settings.History,
// or later than the current version. A gallery that was opened from a file leads to no version
// that is older than its file.
func (g *Gallery) Changes(since, to uint64) (*wire.SealedChanges, error) {
	if err := g.use(); err != nil {
		return nil, err
	}
	defer g.calls.End()
	g.mu.RLock()
	defer g.mu.RUnlock()
	s := &g.slots
	oldest := s.version - uint64(len(g.log.formers))
	if since > to || to > s.version || to < oldest {
		return nil, fmt.Errorf("sealed server: %w: from version %d to %d, and versions %d to %d are known", ErrChanges, since, to, oldest, s.version)
	}
	rows, names := g.log.between(since, to, oldest)
	out := &wire.SealedChanges{Epoch: g.epoch, Since: since, Version: to, Rows: slices.Sorted(maps.Keys(rows)), Names: slices.Sorted(maps.Keys(names))}
	// What a later change has replaced first is what was there at version to.
	formerRows, formerNames := map[uint32]*former{}, map[uint32]*former{}
	later := g.log.formers[to-oldest:]
	for i := len(later) - 1; i >= 0; i-- {
		f := &later[i]
		formerRows[f.row], formerNames[f.name] = f, f
	}
	for _, r := range out.Rows {
		words := s.hint.values[int(r)*scheme.SecretWords : (int(r)+1)*scheme.SecretWords]
		if f := formerRows[r]; f != nil {
			words = f.hint
		}
		out.Words = append(out.Words, words...)
	}
	for _, name := range out.Names {
		norm, id := s.norms.values[name], s.ids.values[name]
		if f := formerNames[name]; f != nil {
			norm, id = f.norm, f.id
		}
		out.Norms, out.IDs = append(out.Norms, norm), append(out.IDs, id)
	}
	return out, nil
}

// between returns the rows of the hint and the slots that changed after version since, up to
// version to.
func (h *history) between(since, to, oldest uint64) (rows, names map[uint32]bool) {
	rows, names = map[uint32]bool{}, map[uint32]bool{}
	for r, version := range h.rows {
		if version > since {
			rows[r] = true
		}
	}
	for name, version := range h.names {
		if version > since {
			names[name] = true
		}
	}
	for _, f := range h.formers[max(since, oldest)-oldest : to-oldest] {
		rows[f.row], names[f.name] = true, true
	}
	return rows, names
}
