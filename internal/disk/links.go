package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many symbolic links are followed in a row, as in the kernel.
const maxLinks = 40

// ErrLinks reports a chain of symbolic links that is too long, or a circle of them.
var ErrLinks = errors.New("more than 40 symbolic links in a row")

// FollowLinks follows the symbolic links that begin at the last element of path. It returns the
// file at their end, which need not exist: the one that formats.WriteFile replaces. It is for
// callers that check that file before long work.
func FollowLinks(path string) (string, error) {
	target := path
	for range maxLinks {
		info, err := os.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			return target, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return target, nil
		}
		link, err := os.Readlink(target)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(link) {
			target = link
		} else { // not cleaned: a folder before ".." may be a link itself
			dir, _ := filepath.Split(target)
			target = dir + link
		}
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: ErrLinks}
}
