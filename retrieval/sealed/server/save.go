package server

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/sections"
)

// A file of a gallery has these sections.
const (
	fileKind    = "sealed"
	fileVersion = 1

	sectionFacts    = "facts"    // JSON of fileFacts
	sectionManifest = "manifest" // a frame
	sectionMap      = "map"      // Settings.Map; missing where there is none
	sectionNorms    = "norms"    // by name, int16
	sectionIDs      = "ids"      // by name, uint32
	sectionHint     = "hint"     // uint32
	sectionPanels   = "panels"   // of the matrix
)

// Sections of what has changed since version 0: numbers, rising, and the last versions that
// changed them.
var (
	sectionsRows  = [2]string{"changed-rows", "changed-rows.versions"}   // uint32, uint64
	sectionsNames = [2]string{"changed-names", "changed-names.versions"} // uint32, uint64
)

// fileFacts is what a file says in addition to its manifest.
type fileFacts struct {
	Source  string `json:"source,omitempty"`
	Version uint64 `json:"version"`
	History int    `json:"history"`
}

// Save writes the gallery to a file, for Open. It is written to a temporary name, synced and
// renamed; when it fails or ctx ends, a file that was there is as it was. Changes of the
// gallery wait until it is written. Errors are ErrClosed, that of ctx, and those of the system.
func (g *Gallery) Save(ctx context.Context, path string) error {
	if err := g.use(); err != nil {
		return err
	}
	defer g.calls.End()
	g.mu.RLock()
	defer g.mu.RUnlock()
	if err := sections.Write(ctx, path, fileKind, fileVersion, g.save); err != nil {
		return fmt.Errorf("sealed server: %w", err)
	}
	return nil
}

func (g *Gallery) save(w *sections.Writer) error {
	s := &g.slots
	rows, names := g.log.changed(s.version)
	steps := []func() error{
		func() error {
			return w.JSON(sectionFacts, fileFacts{Source: g.source, Version: s.version, History: g.log.most})
		},
		func() error { return w.Message(sectionManifest, &g.manifest) },
		func() error {
			if g.published == nil {
				return nil
			}
			return w.Bytes(sectionMap, g.published)
		},
		func() error { return sections.WriteNumbers(w, sectionNorms, s.norms.values) },
		func() error { return sections.WriteNumbers(w, sectionIDs, s.ids.values) },
		func() error { return saveChanged(w, sectionsRows, rows) },
		func() error { return saveChanged(w, sectionsNames, names) },
		func() error { return sections.WriteNumbers(w, sectionHint, s.hint.values) },
		func() error { return s.matrix.write(w, sectionPanels) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// changed returns the last versions that changed rows of the hint and slots, up to the current
// version.
func (h *history) changed(version uint64) (rows, names map[uint32]uint64) {
	rows, names = map[uint32]uint64{}, map[uint32]uint64{}
	maps.Copy(rows, h.rows)
	maps.Copy(names, h.names)
	oldest := version - uint64(len(h.formers))
	for i, f := range h.formers {
		made := oldest + uint64(i) + 1
		rows[f.row], names[f.name] = made, made
	}
	return rows, names
}

func saveChanged(w *sections.Writer, names [2]string, changed map[uint32]uint64) error {
	numbers := slices.Sorted(maps.Keys(changed))
	versions := make([]uint64, len(numbers))
	for i, n := range numbers {
		versions[i] = changed[n]
	}
	if err := sections.WriteNumbers(w, names[0], numbers); err != nil {
		return err
	}
	return sections.WriteNumbers(w, names[1], versions)
}
