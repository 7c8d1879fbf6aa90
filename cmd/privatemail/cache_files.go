package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/lock"
)

// ownCache is the folder of this program among the caches of the user.
func ownCache() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "privatemail"), nil
}

// galleriesOf is the folder of what query takes from servers.
func galleriesOf(own string) string { return filepath.Join(own, "galleries") }

// cached is something in a folder of the cache.
type cached struct {
	path  string
	what  string
	bytes int64
	time  time.Time
	ours  bool
	why   string // it stays
	held  bool   // who makes it has locked it
}

// cachedIn lists a folder. kind says what a file is, "" where it is no file of ours.
func cachedIn(ctx context.Context, folder string, kind func(path, name string) string) (files []cached, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path := filepath.Join(folder, entry.Name())
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) { // it was removed a moment ago
			continue
		}
		if err != nil {
			return nil, err
		}
		if path == galleriesOf(folder) { // a folder, or a link to one
			if there, err := os.Stat(path); err == nil && there.IsDir() {
				continue
			}
		}
		c := cached{path: path, bytes: info.Size(), time: info.ModTime()}
		if info.Mode().IsRegular() {
			c.held = strings.HasSuffix(path, partEnding) || strings.HasSuffix(path, temporaryEnding)
			c.what = kind(path, entry.Name())
		}
		if c.ours = c.what != ""; !c.ours {
			c.what, c.why = "something else", "not made by this program"
		}
		files = append(files, c)
	}
	return files, nil
}

const (
	partEnding      = ".part"
	temporaryEnding = ".tmp"
)

var (
	temporaryName = regexp.MustCompile(`^\..*privatemail-(new-)?[0-9a-z]{1,13}\.tmp$`)
	galleryName   = regexp.MustCompile(`^[0-9a-f]{64}\.(codebook|map|base-[a-z0-9]+|rows|manifest|hint|ids|sealed-map|records-hint)(\.part)?$`)
)

// galleryThings are the things of galleries by the ends of their names.
var galleryThings = map[string]string{
	"codebook": "codebook of a gallery", "map": "map of a gallery", "rows": "a whole gallery of mode take-all",
	"manifest": "manifest of mode sealed", "hint": "hint of mode sealed", "ids": "row numbers of mode sealed",
	"sealed-map": "map of mode sealed", "records-hint": "hint for the records of mode sealed",
}

// galleryFile says what a file of the galleries is.
func galleryFile(_, name string) string {
	if temporaryName.MatchString(name) {
		return "file that is being written, or was left"
	}
	match := galleryName.FindStringSubmatch(name)
	if match == nil {
		return ""
	}
	what, ok := galleryThings[match[1]]
	if !ok {
		what = "base sample of a gallery"
	}
	if match[2] != "" {
		return "part of a download, " + what
	}
	return what
}

// largestSpeed is more than a file with measurements has.
const largestSpeed = 1 << 16

// speedName is that of a file with measurements, which is a JSON object.
var speedName = regexp.MustCompile(`^calibration-[a-z0-9,=_-]+\.json$`)

// speedFile says what a file beside the galleries is.
func speedFile(path, name string) string {
	if temporaryName.MatchString(name) {
		return "file that is being written, or was left"
	}
	info, err := os.Stat(path)
	if !speedName.MatchString(name) || err != nil || info.Size() > largestSpeed {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var content struct{ Level string }
	if json.Unmarshal(data, &content) != nil {
		return ""
	}
	if content.Level == "" {
		return "measured speed of this machine"
	}
	return "measured speed of this machine, level " + harmless(content.Level)
}

// errInUse is a file that a running process has locked.
var errInUse = errors.New("in use")

// remove removes a file. What is made piece by piece is locked while somebody works on it, and
// stays then. Others are complete: whoever reads one has it open, and goes on.
func (c *cached) remove() error {
	if c.held {
		f, err := lock.Open(c.path, 0)
		switch {
		case errors.Is(err, lock.ErrHeld):
			return errInUse
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && runtime.GOOS == "windows":
			f.Close() // what is open cannot be removed there
		case err == nil:
			defer f.Close()
		case !errors.Is(err, errors.ErrUnsupported):
			return fmt.Errorf("%s: %w", c.path, withoutPath(err))
		}
	}
	if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", c.path, withoutPath(err))
	}
	return nil
}

// withoutPath is an error of the system without the path it carries.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
