package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// openSealedFile opens a sealed gallery as it is.
func (h *Host) openSealedFile(ctx context.Context, path string) (*sealedserver.Gallery, error) {
	g, err := sealedserver.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	g.SetWorkers(h.workers)
	return g, nil
}

// openSealed opens the sealed gallery of a model. It is made where there is none, and grows
// where the model has.
func (h *Host) openSealed(ctx context.Context, saved *supervised.Saved) (*sealedserver.Gallery, error) {
	want, err := h.sourceOf(saved.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.settings.File, err)
	}
	path := h.beside(".sealed")
	g, err := h.openSealedFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return h.newSealed(ctx, saved, want, path)
	}
	if err != nil {
		return nil, err
	}
	if g.Source() == want.String() {
		return g, nil
	}
	rebuild := h.settings.Rebuild
	if before, ok := parseSealedSource(g.Source()); ok && want.continues(before, saved.Model) {
		err := h.grow(ctx, g, saved, before.Rows, want, path)
		if err == nil {
			h.log().Info("the model has grown, and its new rows are in the epoch", "rows", want.Rows-before.Rows, "version", g.Version())
			return g, nil
		}
		if !errors.Is(err, sealedserver.ErrFull) {
			return nil, errors.Join(err, g.Close())
		}
		h.log().Warn("the model has grown, and its new rows do not fit the epoch: a new one is made", "rows", want.Rows-before.Rows)
		rebuild = true
	}
	if err := g.Close(); err != nil {
		return nil, err
	}
	if !rebuild {
		return nil, &SourceError{File: path, Sealed: true}
	}
	return h.newSealed(ctx, saved, want, path)
}

// newSealed lays the rows of a model out, writes them to a file and opens it.
func (h *Host) newSealed(ctx context.Context, saved *supervised.Saved, source sealedSource, path string) (*sealedserver.Gallery, error) {
	if err := h.makeSealed(ctx, saved, source, path); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what the making took is not needed again
	return h.openSealedFile(ctx, path)
}

// makeSealed lays the rows of a model out and writes them to a file.
func (h *Host) makeSealed(ctx context.Context, saved *supervised.Saved, source sealedSource, path string) error {
	model := saved.Model
	chart, err := publishedMap(model)
	if err != nil {
		return fmt.Errorf("%s: %w", h.settings.File, err)
	}
	f := &h.settings
	report, end := h.meter()
	defer end()
	workers := par.New(f.Workers) // those of the answers are not kept waiting
	defer workers.Close()
	g, err := sealedserver.New(ctx, model.X, sealedserver.Settings{
		Cells: f.SealedCells, Probes: f.Probes, Seed: f.Seed, Map: chart, Source: source.String(), Workers: workers, Progress: report,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", h.settings.File, err)
	}
	if err := saved.Verify(ctx); err != nil { // it may have changed meanwhile, and nothing is kept of that
		return errors.Join(err, g.Close())
	}
	return errors.Join(g.Save(ctx, path), g.Close())
}

// grow adds the rows of a model from a number on, and writes the gallery to its file again. The
// error is ErrFull where the rows do not fit; the file is as it was then.
func (h *Host) grow(ctx context.Context, g *sealedserver.Gallery, saved *supervised.Saved, from int, source sealedSource, path string) error {
	model := saved.Model
	report, end := h.meter()
	defer end()
	for i := from; i < model.X.Rows; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := make([]float64, model.X.Cols)
		points.ReadRow(row, model.X, i)
		if _, err := g.Insert(row, uint32(i)); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		report("new rows", i+1-from, model.X.Rows-from)
	}
	if err := saved.Verify(ctx); err != nil { // as in makeSealed
		return err
	}
	if err := g.SetSource(source.String()); err != nil {
		return err
	}
	return g.Save(ctx, path)
}

// openRecords opens the records of a sealed gallery, which are made where there are none or
// where they are others than those of the text file.
func (h *Host) openRecords(ctx context.Context, g *sealedserver.Gallery) (*sealedserver.Records, error) {
	path, lines := h.beside(".records"), sealedserver.Lines(h.settings.Records)
	if filepath.Clean(h.settings.Records) == filepath.Clean(path) {
		return nil, fmt.Errorf("%s: %w", path, errRecordsFile)
	}
	r, err := sealedserver.OpenRecords(ctx, path)
	switch {
	case err == nil:
		same := r.Manifest().Gallery == g.Epoch() && r.Manifest().Records == g.Rows()
		if same {
			same, err = r.Holds(ctx, lines)
		}
		if err == nil && same {
			r.SetWorkers(h.workers)
			return r, nil
		}
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := h.makeRecords(ctx, g, path); err != nil {
		return nil, fmt.Errorf("%s: %w", h.settings.Records, err)
	}
	debug.FreeOSMemory() // what the making took is not needed again
	if r, err = sealedserver.OpenRecords(ctx, path); err != nil {
		return nil, err
	}
	r.SetWorkers(h.workers)
	return r, nil
}

func (h *Host) makeRecords(ctx context.Context, g *sealedserver.Gallery, path string) error {
	report, end := h.meter()
	defer end()
	workers := par.New(h.settings.Workers)
	defer workers.Close()
	r, err := sealedserver.NewRecords(ctx, g.Epoch(), sealedserver.Lines(h.settings.Records), sealedserver.RecordsSettings{
		Rows: g.Rows(), Workers: workers, Progress: report,
	})
	if err != nil {
		return err
	}
	return errors.Join(r.Save(ctx, path), r.Close())
}

// log returns where it is told that a gallery grows.
func (h *Host) log() *slog.Logger {
	if log := h.settings.Service.Log; log != nil {
		return log
	}
	return slog.New(slog.DiscardHandler)
}
