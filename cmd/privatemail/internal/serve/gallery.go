package serve

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// CellsFlags say how a MODEL is cut into cells.
type CellsFlags struct {
	Epsilon, Share, Base float64
	cells                int
	partition            bool
	seed                 uint64
	Gallery              string
	rebuild              bool
}

// modelFlagNames are the flags that go with a MODEL alone: a GALLERY is made already.
var modelFlagNames = []string{"epsilon", "share", "base", "cells", "partition", "seed", "gallery", "rebuild", "sealed-cells", "probes"}

// cellsFlagNames are the flags that need -epsilon.
var cellsFlagNames = []string{"share", "base", "cells", "partition"}

func (f *CellsFlags) Define(fs *flag.FlagSet) {
	settings.NumberVar(fs, &f.Epsilon, "epsilon", 0, settings.Positive(), "make cells for clients that spend `E` on a query\na MODEL needs this or -sealed")
	settings.NumberVar(fs, &f.Share, "share", 0.125, settings.Fraction(), "an answer has the share `S` of the gallery, at most 0.5")
	settings.NumberVar(fs, &f.Base, "base", 0.0625, settings.Fraction(), "clients take the share `S` of the gallery once, without a query")
	cli.CountVar(fs, &f.cells, "cells", 0, "make `M` cells (default: as -epsilon and -share say)")
	fs.BoolVar(&f.partition, "partition", false, "put each row in one list only\nbetter for an epsilon up to 3")
	settings.SeedVar(fs, &f.seed, "seed `Q` of the first centres and of the base")
	fs.StringVar(&f.Gallery, "gallery", "", "keep the gallery of a MODEL in `FILE`\nWhat -sealed and -records make is next to it, with .sealed and .records (default: the name of the model with .gallery)")
	fs.BoolVar(&f.rebuild, "rebuild", false, "replace a -gallery of another model or other settings\nand its .sealed file")
}

// OpenCells opens the cells of a MODEL, which are made where there are none.
func (s *Serving) OpenCells(ctx context.Context, saved *supervised.Saved) (*server.Cells, error) {
	f := s.Flags
	source, err := s.cellsSource(ctx, saved)
	if err != nil {
		return nil, err
	}
	path := s.Beside(".gallery")
	cells, err := server.OpenCells(ctx, path)
	version := uint64(1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case cells.Source() == source:
		return cells, nil
	default:
		came := "came from another model or other settings"
		if earlierSource(cells.Source()) {
			came = "was made by an earlier version, which did not verify the model first"
		}
		version = cells.Codebook().Version + 1
		if err := cells.Close(); err != nil {
			return nil, err
		}
		if !f.Cells.rebuild {
			return nil, fmt.Errorf("%s %s. A new codebook costs every client its epsilon again: -rebuild makes one, -gallery names another file, and 'privatemail serve %s' serves it as it is", path, came, path)
		}
	}
	if err := s.MakeGallery(ctx, saved, path, source, version); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what the making took is not needed again
	return server.OpenCells(ctx, path)
}

// cellsSource distinguishes galleries by what they were made from: all bytes of the model's file,
// and the settings.
func (s *Serving) cellsSource(ctx context.Context, saved *supervised.Saved) (string, error) {
	m := progress.NewMeter(s.Env)
	defer m.Close()
	hash, err := saved.Hash(ctx, files.BytesRead(m, "MiB of the model hashed"))
	if err != nil {
		return "", err
	}
	f := &s.Flags.Cells
	return fmt.Sprintf("model sha256 %x; epsilon %g share %g base %g cells %d partition %t seed %d",
		hash, f.Epsilon, f.Share, f.Base, f.cells, f.partition, f.seed), nil
}

// earlierSource reports whether a source is that of a version that hashed the end of a model alone.
func earlierSource(source string) bool {
	return strings.HasPrefix(source, "model ") && strings.Contains(source, " bytes, end ")
}

// MakeGallery cuts a model into cells and writes them to a file.
func (s *Serving) MakeGallery(ctx context.Context, saved *supervised.Saved, path, source string, version uint64) error {
	f := &s.Flags.Cells
	model := saved.Model
	if model.Z.Rows == 0 {
		return fmt.Errorf("%s: the model has no images of its rows, from which cells are cut", s.File)
	}
	chart, err := publishedMap(model)
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	// Rows as float32, as int8 twice while they are put together, and the distances from a
	// centre. Answers are encoded in what is left, if all of them fit.
	n, d := float64(model.X.Rows), float64(model.X.Cols)
	own := n*(4*d+2*(d+4)) + 16*n
	rest, err := pipeline.Reserve(cmp.Or(s.Flags.work.MaxMemory, mem.DefaultLimit()), own, fmt.Sprintf("a gallery of %d rows", model.X.Rows))
	if err != nil {
		return fmt.Errorf("%s: %w; -max-memory allows more", s.File, err)
	}
	m := progress.NewMeter(s.Env)
	defer m.Close()
	workers := par.New(s.Flags.work.Workers)
	defer workers.Close()
	cells, err := server.NewCells(ctx, model.Z, model.X, server.CellsSettings{
		Share: f.Share, Epsilon: f.Epsilon, Cells: f.cells, Partition: f.partition, Base: f.Base, Encoded: max(1, min(rest, files.MostEncoded)),
		Version: version, Seed: f.seed, Workers: workers, Map: chart, Source: source,
		Progress: func(done, total int) {
			m.Report(privatemail.Progress{Stage: "cells", Done: done, Total: total})
		},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	if err := saved.Verify(ctx); err != nil { // it may have changed meanwhile, and nothing is kept of that
		return errors.Join(err, cells.Close())
	}
	return errors.Join(cells.Save(ctx, path), cells.Close())
}
