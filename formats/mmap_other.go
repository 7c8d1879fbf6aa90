//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package formats

import (
	"errors"
	"os"
)

// mapFile always fails here: the caller reads the file instead.
func mapFile(*os.File, int) ([]byte, func() error, error) {
	return nil, nil, errors.ErrUnsupported
}
