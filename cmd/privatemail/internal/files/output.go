package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// CheckMatrixFile checks before long work whether a matrix can be written to
// path: the kind of file by its ending, and the folder it will stand in.
func CheckMatrixFile(path string) error {
	return CheckFile(path, func(ended context.Context) error { return formats.WriteMatrix(ended, path, 1, 1, []float32{0}) })
}

// CheckLabelFile is CheckMatrixFile for labels.
func CheckLabelFile(path string) error {
	return CheckFile(path, func(ended context.Context) error { return formats.WriteLabels(ended, path, []int32{0}) })
}

// CheckFile asks the writer itself: with a context that has ended it complains
// about a kind of file it does not know and touches nothing otherwise.
func CheckFile(path string, write func(ended context.Context) error) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := write(ended); err != nil && !errors.Is(err, context.Canceled) {
		return cli.Usagef("%w", text.Bare(err))
	}
	return CheckPlace(path)
}

// StandardOutput as the name of a file: package formats writes to the stream
// itself then.
const StandardOutput = "/dev/stdout"

// CheckPlace is cli.CheckPlace for files that may not replace a ledger.
func CheckPlace(path string) error {
	if target, err := disk.FollowLinks(path); err == nil && mechanism.IsLedger(target) {
		return fmt.Errorf("%s: is a ledger, and what was spent would be forgotten; name another file", path)
	}
	return cli.CheckPlace(path)
}

// Exists reports whether there is anything at path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// SameFile reports whether two paths lead to one existing file.
func SameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// SameTarget reports whether two outputs would be one file, which need not exist.
func SameTarget(a, b string) (bool, error) {
	ta, errA := disk.FollowLinks(a)
	tb, errB := disk.FollowLinks(b)
	if err := errors.Join(errA, errB); err != nil {
		return false, err
	}
	return SameFile(ta, tb) || filepath.Base(ta) == filepath.Base(tb) && SameFile(cli.FolderOf(ta), cli.FolderOf(tb)), nil
}

// RefuseInput keeps an output from replacing what it is made from.
func RefuseInput(flag, out string, in Input) error {
	names := ""
	if in.Read != nil {
		names = in.Read.namesFile
	}
	for _, path := range []string{in.Features, in.Labels, names} {
		if path, _ = formats.SplitArray(path); path != "" && SameFile(out, path) {
			return cli.Usagef("%s %s would replace the input %s; name another file", flag, out, path)
		}
	}
	return nil
}

// CheckAnswerFiles checks before long work whether everything can be written. It refuses
// to replace an input.
func CheckAnswerFiles(ids, distances string, inputs ...Input) error {
	for _, c := range []struct {
		flag, out string
		check     func(path string) error
	}{{"-out", ids, checkIDFile}, {"-distances-out", distances, checkDistanceFile}} {
		if c.out == "" {
			continue
		}
		for _, in := range inputs {
			if err := RefuseInput(c.flag, c.out, in); err != nil {
				return err
			}
		}
		if err := c.check(c.out); err != nil {
			return err
		}
	}
	if ids == "" || distances == "" {
		return nil
	}
	same, err := SameTarget(ids, distances)
	if err == nil && same {
		err = cli.Usagef("two results would go to %s: name another file for one", ids)
	}
	return err
}

func checkIDFile(path string) error {
	return CheckFile(path, func(ended context.Context) error { return writeAnswers(ended, path, 1, 1, []int32{0}) })
}

func checkDistanceFile(path string) error {
	return CheckFile(path, func(ended context.Context) error { return writeAnswers(ended, path, 1, 1, []float32{0}) })
}
