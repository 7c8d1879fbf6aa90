// Package cache is the verb cache: it lists and clears what the program keeps in the cache folder of the user.
package cache

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "cache",
		Summary:  "list or clear the files kept in the user's cache folder",
		Synopsis: []string{"list [-cache FOLDER]", "clear [-cache FOLDER]"},
		About: `
Commands keep two kinds of files in the folder privatemail of the user's cache
folder (~/.cache on Linux): the measured speed of this machine (*.json), and in
galleries/ what query has taken from servers and does not depend on a row. All
of it can be removed at any time. list shows the files; clear removes them.`,
		More: `
XDG_CACHE_HOME names another cache folder on Linux. The speed is measured once for each level of
instructions, and again when its file is removed. In galleries/ are codebooks, maps, samples, whole
galleries of mode all, what mode sealed needs once, and the parts of downloads that were cut off.
When they are removed query downloads them again, which the server sees. Ledgers, models and what
query keeps in -sent are never there.

list shows each file with its size and age. clear asks nothing. It leaves alone what this program
has not made, by name or by contents, and what a running process has locked: both are listed with
the reason, and the exit code is 0. It is 1 where a file could not be removed. -cache FOLDER is for
a folder that query -cache was given; it has the files of galleries/.`,
		Examples: []string{"privatemail cache list", "privatemail cache clear -json"},
		Prints:   cli.PrintsJSON,
		Define:   settings.Steered[cacheFlags],
	}
}

type cacheFlags struct{ folder string }

func (f *cacheFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.folder, "cache", "", "look into `FOLDER`, which query -cache was given\n(default: the folder privatemail of the user's cache folder)")
}

func (f *cacheFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	if len(names) != 1 || names[0] != "list" && names[0] != "clear" {
		return cli.Usagef("want 'cache list' or 'cache clear'; run 'privatemail cache -h'")
	}
	if set["cache"] && f.folder == "" {
		return cli.Usagef("-cache needs a folder; leave it out for the user's own")
	}
	cached, folder, err := f.files(ctx)
	if err != nil {
		return err
	}
	if names[0] == "list" {
		return listCache(e, folder, cached)
	}
	return clearCache(ctx, e, folder, cached)
}

// files returns what is in the cache, and its folder.
func (f *cacheFlags) files(ctx context.Context) (cached []files.Cached, folder string, err error) {
	if f.folder != "" {
		if _, err := os.Stat(f.folder); err != nil {
			return nil, "", files.Missing(f.folder, err)
		}
		cached, err = files.CachedIn(ctx, f.folder, files.GalleryFile)
		return cached, f.folder, err
	}
	if folder, err = files.OwnCache(); err != nil {
		return nil, "", err
	}
	cached, err = files.CachedIn(ctx, folder, files.SpeedFile)
	if err != nil {
		return nil, "", err
	}
	galleries, err := files.CachedIn(ctx, files.GalleriesOf(folder), files.GalleryFile)
	return append(cached, galleries...), folder, err
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

func reportCached(c files.Cached) cachedReport {
	return cachedReport{File: c.Path, What: c.What, Ours: c.Ours, Bytes: c.Bytes, Time: c.Time.UTC(), Why: c.Why}
}

func listCache(e *cli.Env, folder string, cached []files.Cached) error {
	r := cacheReport{Folder: folder, Files: []cachedReport{}, Removed: []cachedReport{}}
	for _, c := range cached {
		r.Files = append(r.Files, reportCached(c))
		if c.Ours {
			r.Bytes += c.Bytes
		}
	}
	if e.JSON {
		return e.Object(r)
	}
	if len(cached) == 0 {
		_, err := fmt.Fprintf(e.Stdout, "%s: nothing is kept\n", folder)
		return err
	}
	if err := writeCached(e, cached); err != nil {
		return err
	}
	if r.Bytes == 0 {
		_, err := fmt.Fprintf(e.Stdout, "\n%s: nothing that 'privatemail cache clear' removes\n", folder)
		return err
	}
	clear := "privatemail cache clear"
	if own, err := files.OwnCache(); err != nil || folder != own {
		clear += " -cache " + folder
	}
	_, err := fmt.Fprintf(e.Stdout, "\n%s: %s in all; '%s' removes it\n", folder, text.FormatSize(r.Bytes), clear)
	return err
}

// clearCache removes our files that no process uses.
func clearCache(ctx context.Context, e *cli.Env, folder string, cached []files.Cached) error {
	r := cacheReport{Folder: folder, Files: []cachedReport{}, Removed: []cachedReport{}}
	var stayed []files.Cached
	var failed error
	for _, c := range cached {
		if failed == nil {
			failed = ctx.Err()
		}
		if c.Ours && ctx.Err() == nil {
			if err := c.Remove(); err == nil {
				r.Bytes += c.Bytes
				r.Removed = append(r.Removed, reportCached(c))
				continue
			} else if c.Why = "in use by a running process"; !errors.Is(err, files.ErrInUse) {
				c.Why = "could not be removed"
				failed = errors.Join(failed, err)
			}
		}
		r.Files = append(r.Files, reportCached(c))
		stayed = append(stayed, c)
	}
	if e.JSON {
		return errors.Join(e.Object(r), failed)
	}
	fmt.Fprintf(e.Stdout, "removed %d files, %s, from %s\n", len(r.Removed), text.FormatSize(r.Bytes), folder)
	if len(stayed) > 0 {
		fmt.Fprintln(e.Stdout, "\nleft alone:")
		if err := writeCached(e, stayed); err != nil {
			return err
		}
	}
	return failed
}

// writeCached prints a line for each file.
func writeCached(e *cli.Env, cached []files.Cached) error {
	t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "size\tage\twhat\tfile")
	for _, c := range cached {
		what := c.What
		if c.Why != "" {
			what += ": " + c.Why
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", text.FormatSize(c.Bytes), ageOf(time.Since(c.Time)), what, text.Harmless(c.Path))
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
