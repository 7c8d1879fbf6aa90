package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Open opens a gallery that Save has written, at its version: the same epoch, so that clients
// keep their hints, and the same answers. Changes leads to no version before that of the file,
// from any. All of the file is read into memory, and its checksums are compared: what becomes of
// the file later changes no answer. Insert and Remove copy what they change. Whoever opens a
// gallery calls Close, which gives the memory back. Answers are computed by their callers alone
// until SetWorkers lends others.
//
// Errors match formats.ErrUnsupported for a file that is no sealed gallery, or one of another
// version, formats.ErrFormat for one that was truncated or changed, or are that of ctx and those
// of the system.
func Open(ctx context.Context, path string) (*Gallery, error) {
	file, err := sections.Load(ctx, path, fileKind)
	if err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	g := &Gallery{file: file}
	if err := g.open(); err != nil {
		return nil, fmt.Errorf("sealed server: %w", errors.Join(err, file.Close()))
	}
	return g, nil
}

// open sets g to what its file has. Parts are checked against the manifest, in the order in
// which they need each other.
func (g *Gallery) open() error {
	if err := g.file.CheckVersion(fileVersion); err != nil {
		return err
	}
	for _, read := range []func() error{g.openManifest, g.openFacts, g.openSlots, g.openHint, g.openChanged} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

func (g *Gallery) openManifest() error {
	if err := g.file.Message(sectionManifest, &g.manifest); err != nil {
		return err
	}
	if !g.file.Has(sectionMap) {
		if g.manifest.Map != (wire.Hash{}) {
			return g.file.Damagedf("section %q: it is missing, and the manifest has a hash of it", sectionMap)
		}
		return nil
	}
	var err error
	if g.published, err = g.file.Bytes(sectionMap); err != nil {
		return err
	}
	if sha256.Sum256(g.published) != g.manifest.Map {
		return g.file.Damagedf("section %q: it does not belong to the manifest", sectionMap)
	}
	return nil
}

func (g *Gallery) openFacts() error {
	var facts fileFacts
	if err := g.file.JSON(sectionFacts, &facts); err != nil {
		return err
	}
	if facts.History < 1 || facts.Version > math.MaxInt64 || len(facts.Source) > maxSource {
		return g.file.Damagedf("section %q: version %d, a history of %d, and a source of %d bytes", sectionFacts, facts.Version, facts.History, len(facts.Source))
	}
	g.source, g.log.most, g.slots.version = facts.Source, facts.History, facts.Version
	return nil
}

// numbers returns a section, which must have count numbers.
func numbers[T sections.Number](f *sections.File, section string, count int) ([]T, error) {
	out, err := sections.Numbers[T](f, section)
	if err != nil {
		return nil, err
	}
	if len(out) != count {
		return nil, f.Damagedf("section %q: %d numbers, want %d", section, len(out), count)
	}
	return out, nil
}

// openSlots reads norms and ids, whose every number is looked at: growth takes them for what
// they say.
func (g *Gallery) openSlots() (err error) {
	m, s := &g.manifest, &g.slots
	if s.norms.values, err = numbers[int16](g.file, sectionNorms, m.Slots()); err != nil {
		return err
	}
	if s.ids.values, err = numbers[uint32](g.file, sectionIDs, m.Slots()); err != nil {
		return err
	}
	for name, norm := range s.norms.values {
		if !m.FitsNorm(norm) {
			return g.file.Damagedf("section %q: slot %d has a norm that no row has", sectionNorms, name)
		}
		if (norm == wire.EmptySlot) != (s.ids.values[name] == wire.Padding) {
			return g.file.Damagedf("section %q: slot %d has a row in one of ids and norms", sectionIDs, name)
		}
	}
	if s.version == 0 && !slices.Equal(s.norms.values, m.Norms) {
		return g.file.Damagedf("section %q: other norms than those of the manifest, at version 0", sectionNorms)
	}
	s.norms.lend()
	s.ids.lend()
	if err := g.begin(); err != nil {
		return g.file.Damagedf("section %q: %v", sectionManifest, err)
	}
	return nil
}

func (g *Gallery) openHint() (err error) {
	m, s := &g.manifest, &g.slots
	if s.hint.values, err = sections.Numbers[uint32](g.file, sectionHint); err != nil {
		return err
	}
	if int64(len(s.hint.values)) != int64(m.Length)*scheme.SecretWords {
		return g.file.Damagedf("section %q: %d words for %d rows", sectionHint, len(s.hint.values), m.Length)
	}
	s.hint.lend()
	if s.matrix, err = openMatrix(g.file, sectionPanels, m.Length, m.Columns()); err != nil {
		return err
	}
	g.centres = newCentres(m.Centres, m.Dimension, s.matrix.kernels)
	return nil
}

// openChanged reads which rows and slots have changed since version 0.
func (g *Gallery) openChanged() (err error) {
	if g.log.rows, err = g.openVersions(sectionsRows, g.manifest.Length); err != nil {
		return err
	}
	g.log.names, err = g.openVersions(sectionsNames, g.manifest.Slots())
	return err
}

// openVersions reads numbers below a limit and the versions that changed them last.
func (g *Gallery) openVersions(names [2]string, limit int) (map[uint32]uint64, error) {
	changed, err := sections.Numbers[uint32](g.file, names[0])
	if err != nil {
		return nil, err
	}
	if len(changed) > limit {
		return nil, g.file.Damagedf("section %q: %d numbers below %d", names[0], len(changed), limit)
	}
	versions, err := numbers[uint64](g.file, names[1], len(changed))
	if err != nil {
		return nil, err
	}
	out := make(map[uint32]uint64, len(changed))
	for i, n := range changed {
		if int64(n) >= int64(limit) || i > 0 && n <= changed[i-1] || versions[i] < 1 || versions[i] > g.slots.version {
			return nil, g.file.Damagedf("section %q: want rising numbers below %d, and versions of 1 to %d", names[0], limit, g.slots.version)
		}
		out[n] = versions[i]
	}
	return out, nil
}
