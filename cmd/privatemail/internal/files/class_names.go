package files

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// classNamesFile is where the names of classes go, next to an output: e.labels.csv for
// e.npy. It is empty for outputs that are not files.
func classNamesFile(out string) string {
	if strings.HasPrefix(out, "/dev/") {
		return ""
	}
	dir, base := filepath.Split(out)
	base = strings.TrimSuffix(base, ".gz")
	if stem := strings.TrimSuffix(base, filepath.Ext(base)); stem != "" {
		base = stem
	}
	return dir + base + ".labels.csv"
}

// CheckClassNames checks before long work whether the names of classes can be written.
// queries is another input, others are the other outputs.
func CheckClassNames(out string, in, queries Input, others ...string) error {
	path := classNamesFile(out)
	if in.ClassNames() == nil || path == "" {
		return nil
	}
	const what = "the file with the names of classes,"
	if err := errors.Join(RefuseInput(what, path, in), RefuseInput(what, path, queries)); err != nil {
		return err
	}
	for _, other := range append(others, out) {
		if other == "" {
			continue
		}
		if same, err := SameTarget(path, other); err != nil {
			return err
		} else if same {
			return cli.Usagef("the names of classes go to %s, and so would a result: name another file for it", path)
		}
	}
	return CheckPlace(path)
}

// WriteNamesFact prints the file with names of classes, if one was written.
func WriteNamesFact(w io.Writer, names string) {
	if names != "" {
		fmt.Fprintf(w, "wrote\t%s, the names of classes\n", names)
	}
}

// WriteClassNames writes a line with number and name for each class, and returns the name
// of the file, or "" where labels are numbers.
func WriteClassNames(ctx context.Context, out string, in Input) (string, error) {
	path, names := classNamesFile(out), in.ClassNames()
	if names == nil || path == "" {
		return "", nil
	}
	err := formats.WriteFile(ctx, path, func(w io.Writer) error {
		c := csv.NewWriter(w)
		c.Write([]string{"number", "name"}) // Error reports whether it failed
		for number, name := range names {
			c.Write([]string{strconv.Itoa(number), name})
		}
		c.Flush()
		return c.Error()
	})
	if err != nil {
		return "", fmt.Errorf("%w (the embedding is in %s already)", err, out)
	}
	return path, nil
}
