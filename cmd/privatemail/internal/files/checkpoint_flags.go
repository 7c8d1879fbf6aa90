package files

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// CheckpointFlags say where the state of a run is kept, and whether it goes on from there.
type CheckpointFlags struct {
	File   string
	every  int
	resume bool

	steps int // of this run that the file has; 0 where it has none
}

func (f *CheckpointFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.File, "checkpoint", "", "keep the state of the run in `FILE` every few steps\nuntil the embedding is written; forms paper and attract")
	cli.CountVar(fs, &f.every, "checkpoint-every", 0, "keep it after every `N` steps\n(default: a tenth of -steps, rounded up)")
	fs.BoolVar(&f.resume, "resume", false, "go on from the file of -checkpoint\nor begin where there is none; the embedding has the same bytes on any number of workers and ranks")
}

// Check refuses flags that contradict each other, and a file that must not be replaced: the file is
// removed at the end, so it must not be a result; results go by the names of flags.
func (f *CheckpointFlags) Check(set map[string]bool, in Input, results map[string]string) error {
	if f.File == "" {
		for _, name := range []string{"checkpoint", "checkpoint-every", "resume"} {
			if set[name] {
				return cli.Usagef("-%s needs a file to keep the state of the run in: add -checkpoint FILE", name)
			}
		}
		return nil
	}
	if err := RefuseInput("-checkpoint", f.File, in); err != nil {
		return err
	}
	for name, result := range results {
		if result == "" {
			continue
		}
		if same, err := SameTarget(f.File, result); err != nil {
			return err
		} else if same {
			return cli.Usagef("-checkpoint and -%s are one file: name another", name)
		}
	}
	if err := CheckPlace(f.File); err != nil {
		return err
	}
	info, err := os.Stat(f.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return cli.Usagef("-checkpoint %s: is not a regular file; name another", f.File)
	case !f.resume:
		return cli.Usagef("-checkpoint %s: the file exists: -resume goes on from it; to begin again remove it, or name another", f.File)
	}
	return nil
}

// Begin has the settings keep checkpoints, and go on from the file where that is asked for. The
// returned function releases the file.
func (f *CheckpointFlags) Begin(ctx context.Context, e *cli.Env, s *privatemail.Settings) (release func(), err error) {
	if f.File == "" {
		return func() {}, nil
	}
	s.CheckpointEvery = f.every
	s.Checkpoint = func(c *privatemail.Checkpoint) error {
		err := OnFirst(ctx, e.Ranks(), func() error { return c.Save(ctx, f.File) })
		if err == nil {
			f.steps = len(c.State.Trace)
		}
		return err
	}
	if !f.resume {
		return func() {}, nil
	}
	saved, err := f.open(ctx, e.Ranks())
	if err != nil {
		return nil, err
	}
	if saved == nil {
		e.Note("there is no %s yet: the run begins at its start", f.File)
		return func() {}, nil
	}
	s.Resume, f.steps = saved, len(saved.State.Trace)
	e.Note("going on from %s, after step %d", f.File, f.steps)
	return func() { saved.Close() }, nil // only read from: nothing is lost when closing fails
}

// open opens the file, the same one on every rank. It returns nil where there is none.
func (f *CheckpointFlags) open(ctx context.Context, ranks *par.Ranks) (*privatemail.Checkpoint, error) {
	saved, err := privatemail.OpenCheckpoint(ctx, f.File)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	steps := 0
	if saved != nil {
		steps = len(saved.State.Trace)
	}
	err = agreeError(ctx, ranks, err)
	if err == nil {
		var all []int
		all, err = exchange.GatherEqual(ctx, ranks, []int{steps})
		for r, other := range all {
			if err == nil && other != all[0] {
				err = fmt.Errorf("%s: ranks 0 and %d find different files there; all need the same one", f.File, r)
			}
		}
	}
	if err != nil && saved != nil {
		saved.Close()
	}
	if err != nil {
		return nil, err
	}
	return saved, nil
}

// Explain says of an error of the run how to go on, or which file is of another run.
func (f *CheckpointFlags) Explain(e *cli.Env, err error) error {
	switch {
	case errors.Is(err, privatemail.ErrCheckpoint):
		return fmt.Errorf("%s: %w; give the files and flags of that run, or leave out -resume and name another file", f.File, text.Bare(err))
	case err != nil && f.steps > 0:
		e.Note("%s has the run after step %d: the same command with -resume goes on from there", f.File, f.steps)
	}
	return err
}

// End removes the file: the embedding is written.
func (f *CheckpointFlags) End(ctx context.Context, e *cli.Env) error {
	if f.steps == 0 {
		return nil
	}
	return OnFirst(ctx, e.Ranks(), func() error {
		target, err := disk.FollowLinks(f.File)
		if err == nil {
			err = os.Remove(target)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			e.Note("the embedding is written, and the checkpoint is not removed: %v", err)
		}
		return nil
	})
}
