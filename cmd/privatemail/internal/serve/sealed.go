package serve

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/par"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// sealedFlags say how mode sealed is offered.
type sealedFlags struct {
	on            bool
	cells, probes int
	records       string
}

func (f *sealedFlags) Define(fs *flag.FlagSet) {
	fs.BoolVar(&f.on, "sealed", false, "answer queries under encryption: mode sealed")
	cli.CountVar(fs, &f.cells, "sealed-cells", 0, "with -sealed, lay the rows out in `M` cells\n(default: half the root of their number)")
	cli.CountVar(fs, &f.probes, "probes", 0, "with -sealed, score a query in the `P` nearest cells\n(default: 8)")
	fs.StringVar(&f.records, "records", "", "with -sealed, clients may fetch lines of `FILE`\na text file with a line for each row; the server does not learn which")
}

// check refuses flags that lack others, but for those that depend on the file.
func (f *sealedFlags) check(set map[string]bool) error {
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
func (s *Serving) openSealedFile(ctx context.Context, path string) (*sealedserver.Gallery, error) {
	g, err := sealedserver.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	g.SetWorkers(s.Workers)
	return g, nil
}

// openSealed opens the sealed gallery of a MODEL. It is made where there is none, and grows
// where the model has.
func (s *Serving) openSealed(ctx context.Context, saved *supervised.Saved) (*sealedserver.Gallery, error) {
	want, err := s.Flags.sealedSource(saved.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	path := s.Beside(".sealed")
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
	log := s.Flags.log
	rebuild := s.Flags.Cells.rebuild
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
func (s *Serving) newSealed(ctx context.Context, saved *supervised.Saved, source SealedSource, path string) (*sealedserver.Gallery, error) {
	if err := s.MakeSealed(ctx, saved, source, path); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what the making took is not needed again
	return s.openSealedFile(ctx, path)
}

func (s *Serving) MakeSealed(ctx context.Context, saved *supervised.Saved, source SealedSource, path string) error {
	model := saved.Model
	chart, err := publishedMap(model)
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	m := progress.NewMeter(s.Env)
	defer m.Close()
	workers := par.New(s.Flags.work.Workers) // those of the answers are not kept waiting
	defer workers.Close()
	f := s.Flags
	g, err := sealedserver.New(ctx, model.X, sealedserver.Settings{
		Cells: f.sealed.cells, Probes: f.sealed.probes, Seed: f.Cells.seed, Map: chart, Source: source.String(), Workers: workers,
		Progress: func(stage string, done, total int) {
			m.Report(privatemail.Progress{Stage: stage, Done: done, Total: total})
		},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.File, err)
	}
	if err := saved.Verify(ctx); err != nil { // it may have changed meanwhile, and nothing is kept of that
		return errors.Join(err, g.Close())
	}
	return errors.Join(g.Save(ctx, path), g.Close())
}

// grow adds the rows of a model from a number on, and writes the gallery to its file again. The
// error is ErrFull where the rows do not fit; the file is as it was then.
func (s *Serving) grow(ctx context.Context, g *sealedserver.Gallery, saved *supervised.Saved, from int, source SealedSource, path string) error {
	model := saved.Model
	m := progress.NewMeter(s.Env)
	defer m.Close()
	for i := from; i < model.X.Rows; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := g.Insert(files.Wide(model.X, i), uint32(i)); err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		m.Report(privatemail.Progress{Stage: "new rows", Done: i + 1 - from, Total: model.X.Rows - from})
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
func (s *Serving) openRecords(ctx context.Context, g *sealedserver.Gallery) (*sealedserver.Records, error) {
	path, lines := s.Beside(".records"), sealedserver.Lines(s.Flags.sealed.records)
	if filepath.Clean(s.Flags.sealed.records) == filepath.Clean(path) {
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
			r.SetWorkers(s.Workers)
			return r, nil
		}
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := s.makeRecords(ctx, g, path); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Flags.sealed.records, err)
	}
	debug.FreeOSMemory() // what the making took is not needed again
	if r, err = sealedserver.OpenRecords(ctx, path); err != nil {
		return nil, err
	}
	r.SetWorkers(s.Workers)
	return r, nil
}

func (s *Serving) makeRecords(ctx context.Context, g *sealedserver.Gallery, path string) error {
	m := progress.NewMeter(s.Env)
	defer m.Close()
	workers := par.New(s.Flags.work.Workers)
	defer workers.Close()
	r, err := sealedserver.NewRecords(ctx, g.Epoch(), sealedserver.Lines(s.Flags.sealed.records), sealedserver.RecordsSettings{
		Rows: g.Rows(), Workers: workers,
		Progress: func(stage string, done, total int) {
			m.Report(privatemail.Progress{Stage: stage, Done: done, Total: total})
		},
	})
	if err != nil {
		return err
	}
	return errors.Join(r.Save(ctx, path), r.Close())
}
