package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// load publishes what the file has now.
func (s *serving) load(ctx context.Context) error {
	g, err := s.openGallery(ctx)
	if err == nil {
		err = verifyGallery(ctx, g)
	}
	if err == nil {
		g.Name = cmp.Or(s.flags.name, strings.TrimSuffix(filepath.Base(s.file), filepath.Ext(s.file)))
		if shard := shardOf(g); shard != nil && s.flags.name == "" {
			g.Name = strings.TrimSuffix(g.Name, shardEnding(shard.Index, shard.Count)) // as the gallery is called
		}
		g.Aligned = s.paper
		err = s.service.Publish(*g)
	}
	if err != nil {
		return errors.Join(err, closeGallery(g))
	}
	return nil
}

// shardOf returns which shard of a gallery there is, nil for none.
func shardOf(g *service.Gallery) *server.Shard {
	if g.Cells == nil {
		return nil
	}
	return g.Cells.Shard()
}

// verifyGallery reads all of the files before the first answer: damage is found, and the time of an
// answer does not tell whether its cell was asked for before.
func verifyGallery(ctx context.Context, g *service.Gallery) error {
	if g.Cells != nil {
		if err := g.Cells.Verify(ctx); err != nil {
			return err
		}
	}
	if g.Sealed != nil {
		if err := g.Sealed.Verify(ctx); err != nil {
			return err
		}
	}
	if g.Records != nil {
		return g.Records.Verify(ctx)
	}
	return nil
}

// closeGallery closes what is not published.
func closeGallery(g *service.Gallery) error {
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

// beside returns the file with an ending that goes with MODEL or GALLERY.
func (s *serving) beside(ending string) string {
	name := cmp.Or(s.flags.cells.gallery, s.file)
	if ending == ".gallery" && s.flags.cells.gallery != "" {
		return name
	}
	return strings.TrimSuffix(name, filepath.Ext(name)) + ending
}

// openGallery opens a GALLERY, or what belongs to a MODEL, which is made where there is none.
// What it returns is to be closed even after an error.
func (s *serving) openGallery(ctx context.Context) (g *service.Gallery, err error) {
	g = new(service.Gallery)
	kind, err := s.kind()
	if err != nil {
		return g, err
	}
	if err := s.flags.checkKind(kind, s.file); err != nil {
		return g, err
	}
	f := s.flags
	switch {
	case kind == "gallery":
		g.Cells, err = server.OpenCells(s.file)
	case kind == "shard":
		g.Cells, err = server.OpenShard(s.file)
	case kind == "model" && f.cells.epsilon > 0:
		g.Cells, err = s.openCells(ctx)
	}
	if err != nil {
		return g, err
	}
	switch {
	case kind == "sealed":
		g.Sealed, err = s.openSealedFile(s.file)
	case kind == "gallery" && f.sealed.on:
		path := s.beside(".sealed")
		if g.Sealed, err = s.openSealedFile(path); err != nil {
			err = missing(path, err)
		}
	case f.sealed.on:
		g.Sealed, err = s.openSealed(ctx)
	}
	if err == nil && f.sealed.records != "" {
		g.Records, err = s.openRecords(ctx, g.Sealed)
	}
	return g, err
}

// kind returns what the file is.
func (s *serving) kind() (string, error) {
	file, err := sections.Open(s.file, "")
	if err != nil {
		return "", missing(s.file, err)
	}
	kind := file.Kind()
	return kind, file.Close()
}

// checkKind refuses flags that do not go with a file of a kind.
func (f *serveFlags) checkKind(kind, file string) error {
	if kind == "shard" {
		for _, name := range []string{"sealed", "records", "aligned"} {
			if f.set[name] {
				return cli.Usagef("-%s does not go with a shard, which answers front ends in mode cells alone", name)
			}
		}
	}
	if kind == "gallery" || kind == "sealed" || kind == "shard" {
		for _, name := range modelFlagNames {
			if f.set[name] {
				return cli.Usagef("-%s is for a MODEL: %s is a gallery, which is cut already", name, file)
			}
		}
		return f.sealed.checkRecords(kind == "sealed")
	}
	if f.cells.epsilon == 0 {
		if !f.sealed.on {
			return cli.Usagef("-epsilon is missing: what will clients spend on a query? It has no default; -sealed needs none")
		}
		for _, name := range cellsFlagNames {
			if f.set[name] {
				return cli.Usagef("-%s needs -epsilon: it is about cells, and without -epsilon only mode sealed is offered", name)
			}
		}
	}
	return f.sealed.checkRecords(false)
}
