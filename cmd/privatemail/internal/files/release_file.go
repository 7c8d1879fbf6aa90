package files

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// ReadRelease reads either form.
func ReadRelease(path string) (*release.Release, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, Missing(path, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder; name the release in it", path)
	}
	r, err := release.Read(bufio.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, text.Bare(err))
	}
	return r, nil
}

// IsRelease reports whether a file holds a release. A pipe or a device is not asked.
func IsRelease(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	_, err := ReadRelease(path)
	return err == nil
}

// WriteRelease writes the readable form to names ending in .json, the compact
// one to others.
func WriteRelease(ctx context.Context, path string, r *release.Release, compact []byte) error {
	data := compact
	if strings.EqualFold(filepath.Ext(path), ".json") {
		readable, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		data = append(readable, '\n')
	}
	return formats.WriteFile(ctx, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// KeepRelease writes a release to a new file that only its owner can read: fewer people
// may be allowed to read the place it was meant for than this one.
func KeepRelease(path string, compact []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(compact)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(path)
	}
	return err
}
