package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// openCells opens the cells of a model, which are made where there are none.
func (h *Host) openCells(ctx context.Context, saved *supervised.Saved) (*server.Cells, error) {
	source, err := h.cellsSource(ctx, saved)
	if err != nil {
		return nil, err
	}
	path := h.beside(".gallery")
	cells, err := server.OpenCells(ctx, path)
	version := uint64(1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case cells.Source() == source:
		return cells, nil
	default:
		version = cells.Codebook().Version + 1
		earlier := earlierSource(cells.Source())
		if err := cells.Close(); err != nil {
			return nil, err
		}
		if !h.settings.Rebuild {
			return nil, &SourceError{File: path, Earlier: earlier}
		}
	}
	if err := h.makeGallery(ctx, saved, path, source, version); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what the making took is not needed again
	return server.OpenCells(ctx, path)
}

// cellsSource distinguishes galleries by what they were made from: all bytes of the model's file,
// and the settings.
func (h *Host) cellsSource(ctx context.Context, saved *supervised.Saved) (string, error) {
	report, end := h.meter()
	defer end()
	hash, err := saved.Hash(ctx, bytesRead(report, "MiB of the model hashed"))
	if err != nil {
		return "", err
	}
	f := &h.settings
	return fmt.Sprintf("model sha256 %x; epsilon %g share %g base %g cells %d partition %t seed %d",
		hash, f.Epsilon, f.Share, f.Base, f.Cells, f.Partition, f.Seed), nil
}

// earlierSource reports whether a source is that of a version that hashed the end of a model alone.
func earlierSource(source string) bool {
	return strings.HasPrefix(source, "model ") && strings.Contains(source, " bytes, end ")
}

// makeGallery cuts a model into cells and writes them to a file.
func (h *Host) makeGallery(ctx context.Context, saved *supervised.Saved, path, source string, version uint64) error {
	f := &h.settings
	model := saved.Model
	if model.Z.Rows == 0 {
		return fmt.Errorf("%s: the model has no images of its rows, from which cells are cut", f.File)
	}
	chart, err := publishedMap(model)
	if err != nil {
		return fmt.Errorf("%s: %w", f.File, err)
	}
	// Rows as float32, as int8 twice while they are put together, and the distances from a
	// centre. Answers are encoded in what is left, if all of them fit.
	n, d := float64(model.X.Rows), float64(model.X.Cols)
	own := n*(4*d+2*(d+4)) + 16*n
	rest, err := pipeline.Reserve(cmp.Or(f.MaxMemory, mem.DefaultLimit()), own, fmt.Sprintf("a gallery of %d rows", model.X.Rows))
	if err != nil {
		return fmt.Errorf("%s: %w", f.File, err)
	}
	report, end := h.meter()
	defer end()
	workers := par.New(f.Workers)
	defer workers.Close()
	cells, err := server.NewCells(ctx, model.Z, model.X, server.CellsSettings{
		Share: f.Share, Epsilon: f.Epsilon, Cells: f.Cells, Partition: f.Partition, Base: f.Base, Encoded: max(1, min(rest, mostEncoded)),
		Version: version, Seed: f.Seed, Workers: workers, Map: chart, Source: source,
		Progress: func(done, total int) { report("cells", done, total) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.File, err)
	}
	if err := saved.Verify(ctx); err != nil { // it may have changed meanwhile, and nothing is kept of that
		return errors.Join(err, cells.Close())
	}
	return errors.Join(cells.Save(ctx, path), cells.Close())
}
