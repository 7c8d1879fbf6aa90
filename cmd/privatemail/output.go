package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// checkMatrixFile tells before long work whether a matrix can be written to
// path: the kind of file by its ending, and the folder it will stand in.
func checkMatrixFile(path string) error {
	return checkFile(path, func(ended context.Context) error { return formats.WriteMatrix(ended, path, 1, 1, []float32{0}) })
}

// checkLabelFile is checkMatrixFile for labels.
func checkLabelFile(path string) error {
	return checkFile(path, func(ended context.Context) error { return formats.WriteLabels(ended, path, []int32{0}) })
}

// checkFile asks the writer itself: with a context that has ended it complains
// about a kind of file it does not know and touches nothing otherwise.
func checkFile(path string, write func(ended context.Context) error) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := write(ended); err != nil && !errors.Is(err, context.Canceled) {
		return cli.Usagef("%s", plain(err.Error()))
	}
	return checkPlace(path)
}

// standardOutput as the name of a file: package formats writes to the stream
// itself then.
const standardOutput = "/dev/stdout"

// checkPlace tells whether a file can be created at path or replace the one
// that is there.
func checkPlace(path string) error {
	if path == standardOutput {
		return nil
	}
	target := followLinks(path)
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // a pipe or a device
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err == nil && mechanism.IsLedger(target) {
		return fmt.Errorf("%s: is a ledger, and what was spent would be forgotten; name another file", path)
	}
	folder := filepath.Dir(target)
	probe, err := os.CreateTemp(folder, ".privatemail-*.tmp")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no folder %s; create it first", path, folder)
	}
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return fmt.Errorf("%s: cannot write to the folder %s: %w", path, folder, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// fileExists tells whether there is anything at path.
func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// followLinks returns what path finally points to, which need not exist.
func followLinks(path string) string {
	for range 40 { // as many as systems follow
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return path
}

// sameFile tells whether two paths lead to one existing file.
func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// refuseInput keeps an output from replacing what it is made from.
func refuseInput(flag, out string, in input) error {
	for _, path := range []string{in.features, in.labels} {
		if path != "" && sameFile(out, path) {
			return cli.Usagef("%s %s would replace the input %s; name another file", flag, out, path)
		}
	}
	return nil
}
