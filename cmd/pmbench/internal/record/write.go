package record

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Folder creates the folder for the recordings of a machine below the one that
// was asked for, and tells before long work whether files can be put there. Recordings
// made with PM_SIMD have a folder of their own in that of the family.
func Folder(below string, m *Machine) (string, error) {
	if below == "" {
		return "", nil
	}
	folder := filepath.Join(below, slug(m.Family()))
	if m.Asked != "" {
		folder = filepath.Join(folder, slug(m.Setting()))
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	return folder, cli.CheckPlace(filepath.Join(folder, "recording.jsonl"))
}

// Write writes the objects of a suite to a file of the folder, one a line, whole
// or not at all, and returns its name. A run that a signal has ended writes it too. What
// ended early does not take the place of what did not.
func Write[T any](ctx context.Context, folder, name string, early bool, objects []T) (path string, err error) {
	path = filepath.Join(folder, name+".jsonl")
	if early {
		path = EarlyName(path)
	}
	return path, WriteWhole(ctx, path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		e := json.NewEncoder(b)
		for _, x := range objects {
			if err := e.Encode(x); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}

// WriteWhole is formats.WriteFile for results that are kept though a signal has ended the
// run.
func WriteWhole(ctx context.Context, path string, write func(io.Writer) error) error {
	return formats.WriteFile(context.WithoutCancel(ctx), path, write)
}

// EarlyName is where a recording goes that ended early: beside the file that was asked
// for, which may hold a whole one, or into it where it is a pipe or a device.
func EarlyName(path string) string {
	if strings.HasPrefix(path, "/dev/") {
		return path
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return path
	}
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + "-ended-early" + extension
}
