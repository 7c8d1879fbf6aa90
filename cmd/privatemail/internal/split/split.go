// Package split is the verb split: it splits a gallery into shards.
package split

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

// mostEncoded is the memory for answers that are encoded beforehand, as package host has it.
const mostEncoded = 640 << 20

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "split",
		Summary:  "split a gallery into shards, which several machines serve",
		Synopsis: []string{"GALLERY -into N [-out FOLDER] [FLAGS]"},
		About: `
Writes N shards of GALLERY, a file that 'privatemail serve' has made: for
birds.gallery and N = 3 they are birds.1of3.shard to birds.3of3.shard. Each has
a block of the rows. 'privatemail serve' serves a shard like a gallery, and
'privatemail front URL URL URL' answers clients from all of them.`,
		More: `
Each shard has the codebook, the base sample and the map of the gallery. Clients of 'privatemail
front' get, byte by byte, the answers of one server with GALLERY.

GALLERY is read as a whole, and its checksums are compared, before the first file is written. Each
file is replaced as a whole or not at all. Shards of one gallery go together, and not with those of
another, nor of the same gallery split into another number.`,
		Examples: []string{
			"privatemail split birds.gallery -into 3",
			"privatemail split birds.gallery -into 3 -out shards/",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(splitFlags)
			f.Define(fs)
			return f.Run
		},
	}
}

type splitFlags struct {
	work settings.Work
	into int
	out  string
}

func (f *splitFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	cli.CountVar(fs, &f.into, "into", 0, "write `N` shards; required")
	fs.StringVar(&f.out, "out", "", "write them into `FOLDER`\n(default: that of the gallery)")
}

// Report is what -json prints.
type Report struct {
	Shards []splitShard `json:"shards"`
}

type splitShard struct {
	File  string `json:"file"`
	First int    `json:"first"`
	Rows  int    `json:"rows"`
}

func (f *splitFlags) Run(ctx context.Context, e *cli.Env, names []string) error {
	path, err := embed.OneName(names, "GALLERY", "name a gallery that 'privatemail serve' has made")
	if err != nil {
		return err
	}
	if f.into == 0 {
		return cli.Usagef("-into N is missing: how many machines are there?")
	}
	whole, err := server.OpenCells(ctx, path)
	if err != nil {
		return files.Missing(path, err)
	}
	defer whole.Close() // only read from: nothing is lost when closing fails
	if most := min(server.MaxShards, whole.Codebook().Rows); f.into > most {
		return cli.Usagef("-into is at most %d for this gallery", most)
	}
	report, err := f.write(ctx, e, path, whole)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.Object(report)
	}
	for _, s := range report.Shards {
		e.Note("%s: rows %d to %d", s.File, s.First+1, s.First+s.Rows)
	}
	return nil
}

// write writes all shards, one after the other.
func (f *splitFlags) write(ctx context.Context, e *cli.Env, path string, whole *server.Cells) (*Report, error) {
	// Rows as int8 twice while they are put together, numbers of rows, and where lists are. Answers are
	// encoded in what is left, if all of them fit.
	book := whole.Codebook()
	n := float64(book.Rows/f.into + 1)
	own := n*(2*float64(book.Ranking+4)+4) + 24*float64(book.Cells())
	rest, err := pipeline.Reserve(cmp.Or(f.work.MaxMemory, mem.DefaultLimit()), own, fmt.Sprintf("a shard of %.0f rows", n))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; -max-memory allows more", path, err)
	}
	m := progress.NewMeter(e)
	defer m.Close()
	workers := par.New(f.work.Workers)
	defer workers.Close()
	report := new(Report)
	for i := range f.into {
		shard, err := whole.Split(ctx, i+1, f.into, max(1, min(rest, mostEncoded)), workers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s := shard.Shard()
		to := f.file(path, s)
		if err := errors.Join(shard.Save(ctx, to), shard.Close()); err != nil {
			return nil, err
		}
		report.Shards = append(report.Shards, splitShard{to, s.First, s.Rows})
		m.Report(privatemail.Progress{Stage: "shards", Done: i + 1, Total: f.into})
	}
	return report, nil
}

// file returns the name of a shard.
func (f *splitFlags) file(gallery string, s *server.Shard) string {
	name := strings.TrimSuffix(filepath.Base(gallery), filepath.Ext(gallery))
	return filepath.Join(cmp.Or(f.out, filepath.Dir(gallery)), name+s.Ending()+".shard")
}
