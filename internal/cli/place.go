package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// CheckPlace checks before long work whether a file can be created at path or replace
// the one that is there, as formats.WriteFile will do it. An empty path stands for no
// file.
func CheckPlace(path string) error {
	switch path {
	case "", "/dev/stdout", "/dev/stderr": // the streams of this process
		return nil
	}
	target, err := disk.FollowLinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a device: it is written to directly
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	folder := FolderOf(target)
	named, _ := filepath.Split(target)
	probe, err := disk.Temporary(named, ".privatemail-place-", 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no folder %s; create it first", path, folder)
	}
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return fmt.Errorf("%s: cannot write to the folder %s: %w", path, folder, err)
	}
	return probe.Remove()
}

// FolderOf is filepath.Dir without cleaning: a folder before ".." may be a link.
func FolderOf(path string) string {
	folder, _ := filepath.Split(path)
	if folder == filepath.VolumeName(path) {
		folder += "."
	}
	return folder
}
