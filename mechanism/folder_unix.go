//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mechanism

import (
	"errors"
	"os"
)

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
