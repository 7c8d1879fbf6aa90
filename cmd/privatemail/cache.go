package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func cacheVerb() cli.Verb {
	return cli.Verb{
		Name:     "cache",
		Summary:  "list or clear what this program keeps in the user's cache folder",
		Synopsis: []string{"list [-cache FOLDER]", "clear [-cache FOLDER]"},
		About: `
The commands keep two kinds of files in the folder privatemail of the user's cache folder, which
is ~/.cache on Linux unless XDG_CACHE_HOME names another:

  *.json      how fast this machine computes, measured once for each level of instructions
  galleries/  what query has taken from servers and does not depend on a row: codebooks, maps,
              samples, whole galleries of mode take-all, what mode sealed needs once, and the
              parts of downloads that were cut off

All of it can be removed at any time. The speed is then measured again, and query downloads again,
which the server sees. Ledgers, memories of query and models are never there.

list shows each file with its size and age. clear removes the files at once and asks nothing. It
leaves alone what this program has not made, by name or by contents, and what a running process has
locked: both are listed with the reason, and the exit code is 0. It is 1 where a file could not be
removed. -cache FOLDER is for a folder that query -cache was given; it has the files of galleries/.`,
		Examples: []string{"privatemail cache list", "privatemail cache clear -json"},
		Prints:   cli.PrintsJSON,
		Define:   steered[cacheFlags],
	}
}

type cacheFlags struct{ folder string }

func (f *cacheFlags) define(fs *flag.FlagSet) {
	fs.StringVar(&f.folder, "cache", "", "look into `FOLDER`, which query -cache was given (default: the folder privatemail of the user's cache folder)")
}

func (f *cacheFlags) run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	if len(names) != 1 || names[0] != "list" && names[0] != "clear" {
		return cli.Usagef("want 'cache list' or 'cache clear'; run 'privatemail cache -h'")
	}
	if set["cache"] && f.folder == "" {
		return cli.Usagef("-cache wants a folder; leave it out for the user's own")
	}
	files, folder, err := f.files(ctx)
	if err != nil {
		return err
	}
	if names[0] == "list" {
		return listCache(e, folder, files)
	}
	return clearCache(ctx, e, folder, files)
}

// files returns what is in the cache, and its folder.
func (f *cacheFlags) files(ctx context.Context) (files []cached, folder string, err error) {
	if f.folder != "" {
		if _, err := os.Stat(f.folder); err != nil {
			return nil, "", missing(f.folder, err)
		}
		files, err = cachedIn(ctx, f.folder, galleryFile)
		return files, f.folder, err
	}
	if folder, err = ownCache(); err != nil {
		return nil, "", err
	}
	files, err = cachedIn(ctx, folder, speedFile)
	if err != nil {
		return nil, "", err
	}
	galleries, err := cachedIn(ctx, galleriesOf(folder), galleryFile)
	return append(files, galleries...), folder, err
}

// cacheReport is the object of cache -json.
type cacheReport struct {
	Folder  string         `json:"folder"`
	Files   []cachedReport `json:"files"`   // of list: all; of clear: those that stayed
	Removed []cachedReport `json:"removed"` // by clear
	Bytes   int64          `json:"bytes"`   // of list: of all files of ours; of clear: that were removed
}

type cachedReport struct {
	File  string    `json:"file"`
	What  string    `json:"what"`
	Ours  bool      `json:"ours"`
	Bytes int64     `json:"bytes"`
	Time  time.Time `json:"time"` // of the last change
	Why   string    `json:"why,omitempty"`
}

func reportCached(c cached) cachedReport {
	return cachedReport{File: c.path, What: c.what, Ours: c.ours, Bytes: c.bytes, Time: c.time.UTC(), Why: c.why}
}

func listCache(e *cli.Env, folder string, files []cached) error {
	r := cacheReport{Folder: folder, Files: []cachedReport{}, Removed: []cachedReport{}}
	for _, c := range files {
		r.Files = append(r.Files, reportCached(c))
		if c.ours {
			r.Bytes += c.bytes
		}
	}
	if e.JSON {
		return e.Object(r)
	}
	if len(files) == 0 {
		_, err := fmt.Fprintf(e.Stdout, "%s: nothing is kept\n", folder)
		return err
	}
	if err := writeCached(e, files); err != nil {
		return err
	}
	if r.Bytes == 0 {
		_, err := fmt.Fprintf(e.Stdout, "\n%s: nothing that 'privatemail cache clear' removes\n", folder)
		return err
	}
	clear := "privatemail cache clear"
	if own, err := ownCache(); err != nil || folder != own {
		clear += " -cache " + folder
	}
	_, err := fmt.Fprintf(e.Stdout, "\n%s: %s in all; '%s' removes it\n", folder, formatSize(r.Bytes), clear)
	return err
}

// clearCache removes the files of ours that nobody uses.
func clearCache(ctx context.Context, e *cli.Env, folder string, files []cached) error {
	r := cacheReport{Folder: folder, Files: []cachedReport{}, Removed: []cachedReport{}}
	var stayed []cached
	var failed error
	for _, c := range files {
		if failed == nil {
			failed = ctx.Err()
		}
		if c.ours && ctx.Err() == nil {
			if err := c.remove(); err == nil {
				r.Bytes += c.bytes
				r.Removed = append(r.Removed, reportCached(c))
				continue
			} else if c.why = "in use by a running process"; !errors.Is(err, errInUse) {
				c.why = "could not be removed"
				failed = errors.Join(failed, err)
			}
		}
		r.Files = append(r.Files, reportCached(c))
		stayed = append(stayed, c)
	}
	if e.JSON {
		return errors.Join(e.Object(r), failed)
	}
	fmt.Fprintf(e.Stdout, "removed %d files, %s, from %s\n", len(r.Removed), formatSize(r.Bytes), folder)
	if len(stayed) > 0 {
		fmt.Fprintln(e.Stdout, "\nleft alone:")
		if err := writeCached(e, stayed); err != nil {
			return err
		}
	}
	return failed
}

// writeCached prints a line for each file.
func writeCached(e *cli.Env, files []cached) error {
	t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "size\tage\twhat\tfile")
	for _, c := range files {
		what := c.what
		if c.why != "" {
			what += ": " + c.why
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", formatSize(c.bytes), ageOf(time.Since(c.time)), what, harmless(c.path))
	}
	return t.Flush()
}

// ageOf says how long ago a time is, in one unit.
func ageOf(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d/time.Hour))
	}
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
