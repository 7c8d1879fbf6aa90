package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/par"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// sealedFlags say how mode sealed is offered.
type sealedFlags struct {
	on            bool
	cells, probes int
	records       string
}

func (f *sealedFlags) define(fs *flag.FlagSet, limits *service.Settings) {
	fs.BoolVar(&f.on, "sealed", false, "answer queries under encryption, too: mode sealed")
	cli.CountVar(fs, &f.cells, "sealed-cells", 0, "with -sealed, lay the rows out in `M` cells (default: half the root of their number)")
	cli.CountVar(fs, &f.probes, "probes", 0, "with -sealed, a query is scored in the `P` cells nearest to it (default: 8)")
	cli.CountVar(fs, &limits.SealedMost, "sealed-most", 16, "with -sealed, `N` queries that wait share a pass over the gallery")
	fs.DurationVar(&limits.SealedWait, "sealed-wait", 0, "with -sealed, let a query wait `TIME` for others to share its pass; those that come while one runs share the next one anyway")
	fs.StringVar(&f.records, "records", "", "with -sealed, let clients fetch lines of the text file `FILE`, one a row, without disclosing which")
}

// check refuses flags that lack others, but for those that depend on the file.
func (f *sealedFlags) check(set map[string]bool, wait time.Duration) error {
	if wait < 0 {
		return cli.Usagef("-sealed-wait is a time of 0 or more, such as 5ms")
	}
	for _, name := range []string{"sealed-cells", "probes"} {
		if set[name] && !f.on {
			return cli.Usagef("-%s needs -sealed", name)
		}
	}
	return nil
}

// checkRecords refuses records without mode sealed, which a .sealed file offers by itself.
func (f *sealedFlags) checkRecords(offered bool) error {
	if f.records != "" && !f.on && !offered {
		return cli.Usagef("-records needs -sealed: records are fetched under encryption")
	}
	return nil
}

// openSealedFile opens a sealed gallery as it is.
func (s *serving) openSealedFile(ctx context.Context, path string) (*sealedserver.Gallery, error) {
	g, err := sealedserver.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	g.SetWorkers(s.workers)
	return g, nil
}

// openSealed opens the sealed gallery of a MODEL. It is made where there is none, and grows
// where the model has.
func (s *serving) openSealed(ctx context.Context, saved *supervised.Saved) (*sealedserver.Gallery, error) {
	want, err := s.flags.sealedSource(saved.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	path := s.beside(".sealed")
	g, err := s.openSealedFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.newSealed(ctx, saved, want, path)
	}
	if err != nil {
		return nil, err
	}
	if g.Source() == want.String() {
		return g, nil
	}
	log := s.flags.log
	rebuild := s.flags.cells.rebuild
	if before, ok := parseSealedSource(g.Source()); ok && want.continues(before, saved.Model) {
		err := s.grow(ctx, g, saved, before.Rows, want, path)
		if err == nil {
			log.Info("the model has grown, and its new rows are in the epoch", "rows", want.Rows-before.Rows, "version", g.Version())
			return g, nil
		}
		if !errors.Is(err, sealedserver.ErrFull) {
			return nil, errors.Join(err, g.Close())
		}
		log.Warn("the model has grown, and its new rows do not fit the epoch: a new one is made", "rows", want.Rows-before.Rows)
		rebuild = true
	}
	if err := g.Close(); err != nil {
		return nil, err
	}
	if !rebuild {
		return nil, fmt.Errorf("%s came from another model or other settings. A new epoch costs every client a download: -rebuild makes one, -gallery names another file, and 'privatemail serve %s' serves it as it is", path, path)
	}
	return s.newSealed(ctx, saved, want, path)
}

// newSealed lays the rows of a model out, writes them to a file and opens it.
func (s *serving) newSealed(ctx context.Context, saved *supervised.Saved, source sealedSource, path string) (*sealedserver.Gallery, error) {
	if err := s.makeSealed(ctx, saved, source, path); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what the making took is not needed again
	return s.openSealedFile(ctx, path)
}

func (s *serving) makeSealed(ctx context.Context, saved *supervised.Saved, source sealedSource, path string) error {
	model := saved.Model
	chart, err := publishedMap(model)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	m := newMeter(s.env)
	defer m.close()
	workers := par.New(s.flags.work.workers) // those of the answers are not kept waiting
	defer workers.Close()
	f := s.flags
	g, err := sealedserver.New(ctx, model.X, sealedserver.Settings{
		Cells: f.sealed.cells, Probes: f.sealed.probes, Seed: f.cells.seed, Map: chart, Source: source.String(), Workers: workers,
		Progress: func(stage string, done, total int) {
			m.report(privatemail.Progress{Stage: stage, Done: done, Total: total})
		},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if err := saved.Verify(ctx); err != nil { // it may have changed meanwhile, and nothing is kept of that
		return errors.Join(err, g.Close())
	}
	return errors.Join(g.Save(ctx, path), g.Close())
}

// grow adds the rows of a model from a number on, and writes the gallery to its file again. The
// error is ErrFull where the rows do not fit; the file is as it was then.
func (s *serving) grow(ctx context.Context, g *sealedserver.Gallery, saved *supervised.Saved, from int, source sealedSource, path string) error {
	model := saved.Model
	m := newMeter(s.env)
	defer m.close()
	for i := from; i < model.X.Rows; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := g.Insert(wide(model.X, i), uint32(i)); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		m.report(privatemail.Progress{Stage: "new rows", Done: i + 1 - from, Total: model.X.Rows - from})
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
// where they are others than those of the file of -records.
func (s *serving) openRecords(ctx context.Context, g *sealedserver.Gallery) (*sealedserver.Records, error) {
	path, lines := s.beside(".records"), sealedserver.Lines(s.flags.sealed.records)
	if filepath.Clean(s.flags.sealed.records) == filepath.Clean(path) {
		return nil, fmt.Errorf("%s: -records names the file that serve keeps the records in: give the text file another name", path)
	}
	r, err := sealedserver.OpenRecords(ctx, path)
	switch {
	case err == nil:
		same := r.Manifest().Gallery == g.Epoch() && r.Manifest().Records == g.Rows()
		if same {
			same, err = r.Holds(ctx, lines)
		}
		if err == nil && same {
			r.SetWorkers(s.workers)
			return r, nil
		}
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := s.makeRecords(ctx, g, path); err != nil {
		return nil, fmt.Errorf("%s: %w", s.flags.sealed.records, err)
	}
	debug.FreeOSMemory() // what the making took is not needed again
	if r, err = sealedserver.OpenRecords(ctx, path); err != nil {
		return nil, err
	}
	r.SetWorkers(s.workers)
	return r, nil
}

func (s *serving) makeRecords(ctx context.Context, g *sealedserver.Gallery, path string) error {
	m := newMeter(s.env)
	defer m.close()
	workers := par.New(s.flags.work.workers)
	defer workers.Close()
	r, err := sealedserver.NewRecords(ctx, g.Epoch(), sealedserver.Lines(s.flags.sealed.records), sealedserver.RecordsSettings{
		Rows: g.Rows(), Workers: workers,
		Progress: func(stage string, done, total int) {
			m.report(privatemail.Progress{Stage: stage, Done: done, Total: total})
		},
	})
	if err != nil {
		return err
	}
	return errors.Join(r.Save(ctx, path), r.Close())
}
