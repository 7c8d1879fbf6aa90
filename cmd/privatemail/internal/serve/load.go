package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/host"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// newHost returns the host of a file.
func (s *serving) newHost(with service.Settings) (*host.Host, error) {
	f := s.flags
	return host.New(host.Settings{
		File: s.file, Name: f.name, Labels: f.labels, Service: with, Workers: f.work.Workers, MaxMemory: f.work.MaxMemory, Meter: s.meter,
		Sealed: f.sealed.on, Records: f.sealed.records, SealedCells: f.sealed.cells, Probes: f.sealed.probes,
		Gallery: f.cells.gallery, Rebuild: f.cells.rebuild, Seed: f.cells.seed,
		Epsilon: f.cells.epsilon, Share: f.cells.share, Base: f.cells.base, Cells: f.cells.cells, Partition: f.cells.partition,
	})
}

// meter begins to show a piece of work.
func (s *serving) meter() (report func(stage string, done, total int), end func()) {
	m := progress.NewMeter(s.env)
	return func(stage string, done, total int) {
		m.Report(privatemail.Progress{Stage: stage, Done: done, Total: total})
	}, m.Close
}

// load offers what the file has now.
func (s *serving) load(ctx context.Context) error {
	kind, err := host.Kind(s.file)
	if err != nil {
		return files.Missing(s.file, err)
	}
	if err := s.flags.checkKind(kind, s.file); err != nil {
		return err
	}
	return s.flags.explain(s.host.Load(ctx))
}

// explain adds what a user can do about an error of a file.
func (f *Flags) explain(err error) error {
	if source, ok := errors.AsType[*host.SourceError](err); ok {
		return fmt.Errorf("%w: -rebuild makes one, -gallery names another file, and 'privatemail serve %s' serves it as it is", source, source.File)
	}
	if labels, ok := errors.AsType[*host.LabelsError](err); ok {
		if labels.Refused {
			return fmt.Errorf("with -labels %w", labels.Err)
		}
		return fmt.Errorf("-labels %w", text.Bare(labels.Err))
	}
	if errors.Is(err, kernel.ErrMemory) {
		return fmt.Errorf("%w; -max-memory allows more", err)
	}
	return err
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
	if f.cells.epsilon == 0 {
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
