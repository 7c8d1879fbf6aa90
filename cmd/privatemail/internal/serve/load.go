package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// load publishes what the file has now.
func (s *Serving) load(ctx context.Context) error {
	g, err := s.openGallery(ctx)
	if err == nil {
		g.Name = cmp.Or(s.Flags.name, strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File)))
		if shard := shardOf(g); shard != nil && s.Flags.name == "" {
			g.Name = strings.TrimSuffix(g.Name, files.ShardEnding(shard.Index, shard.Count)) // as the gallery is called
		}
		err = s.publish(ctx, *g)
	}
	if err != nil {
		return errors.Join(err, closeGallery(g))
	}
	return nil
}

// shardOf returns which shard of a gallery there is, nil for none.
func shardOf(g *service.Offer) *server.Shard {
	if g.Cells == nil {
		return nil
	}
	return g.Cells.Shard()
}

// closeGallery closes what is not published.
func closeGallery(g *service.Offer) error {
	var errs []error
	if g.Cells != nil {
		errs = append(errs, g.Cells.Close())
	}
	if g.Sealed != nil {
		errs = append(errs, g.Sealed.Close())
	}
	if g.Records != nil {
		errs = append(errs, g.Records.Close())
	}
	return errors.Join(errs...)
}

// Beside returns the file with an ending that goes with MODEL or GALLERY.
func (s *Serving) Beside(ending string) string {
	name := cmp.Or(s.Flags.Cells.Gallery, s.File)
	if ending == ".gallery" && s.Flags.Cells.Gallery != "" {
		return name
	}
	return strings.TrimSuffix(name, filepath.Ext(name)) + ending
}

// openGallery opens a GALLERY, or what belongs to a MODEL, which is made where there is none.
// The result must be closed even after an error.
func (s *Serving) openGallery(ctx context.Context) (g *service.Offer, err error) {
	g = new(service.Offer)
	kind, err := s.kind()
	if err != nil {
		return g, err
	}
	if err := s.Flags.checkKind(kind, s.File); err != nil {
		return g, err
	}
	if kind == "gallery" || kind == "shard" || kind == "sealed" {
		return g, s.openParts(ctx, g, kind, nil)
	}
	saved, err := s.OpenModel(ctx)
	if err != nil {
		return g, err
	}
	defer saved.Close() // only read from: nothing is lost when closing fails
	return g, s.Reading(func() error { return s.openParts(ctx, g, kind, saved) })
}

// Reading reads a MODEL, which is mapped. One that is truncated meanwhile is an error, and does not
// end the service.
func (s *Serving) Reading(read func() error) error {
	err := func() (err error) {
		defer disk.Faults(&err)()
		return read()
	}()
	thrown, ok := errors.AsType[*par.PanicError](err) // of a worker
	if errors.Is(err, disk.ErrLost) || ok && disk.IsFault(thrown.Value) {
		return fmt.Errorf("%s: %w", s.File, disk.ErrLost)
	}
	return err
}

// openParts opens the parts of a gallery, and makes those of a MODEL that are missing. saved is
// nil without a MODEL.
func (s *Serving) openParts(ctx context.Context, g *service.Offer, kind string, saved *supervised.Saved) (err error) {
	f := s.Flags
	switch {
	case kind == "gallery":
		g.Cells, err = server.OpenCells(ctx, s.File)
	case kind == "shard":
		g.Cells, err = server.OpenShard(ctx, s.File)
	case saved != nil && f.Cells.Epsilon > 0:
		g.Cells, err = s.OpenCells(ctx, saved)
	}
	if err != nil {
		return err
	}
	switch {
	case kind == "sealed":
		g.Sealed, err = s.openSealedFile(ctx, s.File)
	case kind == "gallery" && f.sealed.on:
		path := s.Beside(".sealed")
		if g.Sealed, err = s.openSealedFile(ctx, path); err != nil {
			err = files.Missing(path, err)
		} else if !sameRows(g) {
			err = fmt.Errorf("%s and %s have other rows: they belong to two versions of a model, and would give other answers in each mode; serve the MODEL, which makes both again", s.File, path)
		}
	case f.sealed.on:
		g.Sealed, err = s.openSealed(ctx, saved)
	}
	if err == nil && f.sealed.records != "" {
		g.Records, err = s.openRecords(ctx, g.Sealed)
	}
	return err
}

// sameRows reports whether cells and a sealed gallery have the same rows, all bytes of them. Of a sealed
// gallery that was not made here only their number is known.
func sameRows(g *service.Offer) bool {
	rows := g.Cells.Rows()
	if rows.Rows != g.Sealed.Rows() {
		return false
	}
	of, ok := parseSealedSource(g.Sealed.Source())
	return !ok || of.Hash == "" || of.Hash == hashRows(rows, rows.Rows)
}

// OpenModel opens the MODEL and verifies all of it, before anything is made of it.
func (s *Serving) OpenModel(ctx context.Context) (*supervised.Saved, error) {
	m := progress.NewMeter(s.Env)
	defer m.Close()
	return supervised.Open(ctx, s.File, files.BytesRead(m, "MiB of the model"))
}

// kind returns what the file is.
func (s *Serving) kind() (string, error) {
	file, err := sections.Open(s.File, "")
	if err != nil {
		return "", files.Missing(s.File, err)
	}
	kind := file.Kind()
	return kind, file.Close()
}

// checkKind refuses flags that do not go with a file of a kind.
func (f *Flags) checkKind(kind, file string) error {
	if kind == "shard" {
		for _, name := range []string{"sealed", "records", "labels"} {
			if f.Set[name] {
				return cli.Usagef("-%s does not go with a shard, which answers front ends in mode cells alone", name)
			}
		}
	}
	if kind == "gallery" || kind == "sealed" || kind == "shard" {
		for _, name := range modelFlagNames {
			if f.Set[name] {
				return cli.Usagef("-%s is for a MODEL: %s is a gallery, which is cut already", name, file)
			}
		}
		return f.sealed.checkRecords(kind == "sealed")
	}
	if f.Cells.Epsilon == 0 {
		if !f.sealed.on {
			return cli.Usagef("-epsilon is missing: what will clients spend on a query? It has no default; -sealed needs none")
		}
		for _, name := range cellsFlagNames {
			if f.Set[name] {
				return cli.Usagef("-%s needs -epsilon: it is about cells, and without -epsilon only mode sealed is offered", name)
			}
		}
	}
	return f.sealed.checkRecords(false)
}
