package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// The names of features and labels within a folder: those that are written, and those
// that are read, the first found wins.
const (
	featuresName = "features.npy"
	labelsName   = "labels.npy"
)

func featuresNames() []string {
	return []string{featuresName, "features.npz", "features.csv", "features.csv.gz", "features.tsv", "features.fbin", "features.fvecs"}
}

func labelsNames() []string { return []string{labelsName, "labels.csv", "labels.txt"} }

// input is where the rows come from; labels is empty when there are none, and the file of
// the features where that holds them in a column.
type input struct {
	features, labels string
	read             *reading // nil: nothing is said, and labels are numbers
}

// ranks are the processes that read the input together, nil for one alone.
func (in input) ranks() *par.Ranks {
	if in.read == nil || in.read.env == nil {
		return nil
	}
	return in.read.env.Ranks()
}

// part is the file of an input that an error is about.
type part int

const (
	nothing part = iota
	features
	labels
)

// about returns the beginning of a message on that part.
func (in input) about(p part) string {
	switch {
	case p == features:
		return in.features + ": "
	case p == labels && in.labels != "":
		return in.labels + ": "
	}
	return ""
}

// findIn returns the first of the names that a folder has, or "".
func findIn(folder string, names []string) (string, error) {
	for _, name := range names {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// readRows returns the rows and their labels, nil where there are none, and a function
// that releases the rows. The names of classes and columns are then in in.read.
func readRows(ctx context.Context, in input, advice string) (x blas32.General, y []int32, release func(), err error) {
	t, x, y, err := readLabelled(ctx, in, advice)
	if err != nil {
		return x, nil, nil, err
	}
	return x, y, func() { t.Close() }, nil // only read from: nothing is lost when closing fails
}

// readLabelled is readRows for who needs the table itself, too. It is closed by the caller.
func readLabelled(ctx context.Context, in input, advice string) (t *formats.Table, x blas32.General, y []int32, err error) {
	t, y, err = in.readBoth(ctx, advice)
	var data []float32
	if err == nil {
		x = blas32.General{Rows: t.Rows, Cols: t.Cols, Stride: max(t.Cols, 1), Data: t.Data}
		x, err = in.name(ctx, x)
		data = x.Data
	}
	if err = agreeInput(ctx, in.ranks(), in, data, y, err); err != nil {
		if t != nil {
			t.Close()
		}
		return nil, blas32.General{}, nil, err
	}
	return t, x, y, nil
}

// name reads the names of columns where they are beside the rows, and puts the columns in the order
// that is wanted.
func (in input) name(ctx context.Context, x blas32.General) (blas32.General, error) {
	if in.read == nil {
		return x, nil
	}
	if err := in.readColumnNames(ctx, x.Cols); err != nil {
		return x, err
	}
	return in.arrange(x, in.read.like)
}

// readBoth reads features and labels.
func (in input) readBoth(ctx context.Context, advice string) (t *formats.Table, y []int32, err error) {
	if t, err = in.readTable(ctx); err != nil {
		return nil, nil, missing(in.features, err)
	}
	switch {
	case in.joined():
		y = in.take(t.Labels)
	case in.labels != "":
		y, err = readLabels(ctx, in, t.Rows, advice)
	}
	if err == nil {
		err = refuseNoRows(in.features, t.Rows)
	}
	if err == nil {
		err = refuseVanished(ctx, in, t.Data)
	}
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return t, y, nil
}

// readLabels returns the labels for n rows; advice says more about missing ones.
func readLabels(ctx context.Context, in input, n int, advice string) ([]int32, error) {
	settings := in.settings()
	l, err := await(ctx, func() (*formats.Labels, error) { return formats.ReadNamedLabels(ctx, in.labels, &settings) })
	if err != nil {
		return nil, missing(in.labels, adviseFile(in.labels, err))
	}
	if len(l.Class) == 0 {
		return nil, refuseNoRows(in.labels, 0)
	}
	if len(l.Class) == n+1 && len(l.Names) > 0 {
		advice += "; if its first line is a header, say -header yes"
	}
	if len(l.Class) != n {
		return nil, fmt.Errorf("%s: %d labels, but %s has %d rows; every row needs one label%s", in.labels, len(l.Class), in.features, n, advice)
	}
	if l.Names != nil && in.read == nil {
		return nil, fmt.Errorf("%s: the labels are names, and the numbers of classes are wanted", in.labels)
	}
	return in.take(l), nil
}

// missing says that a file does not exist in the words of this command.
func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	return err
}

// columnsOfModel returns the names of the columns that a model takes. Earlier versions kept them beside
// the map.
func columnsOfModel(path string, s *supervised.Saved) named {
	if names := s.Model.Map.ColumnNames; names != nil {
		return named{path, names}
	}
	return named{path, s.About.ColumnNames}
}

// mostEncoded is the memory for answers that are encoded beforehand.
const mostEncoded = 640 << 20

// bytesRead reports how much of a file was read, as a stage. Short files are read at once.
func bytesRead(m meter, stage string) func(done, total int64) {
	const unit, short = 1 << 20, 64 << 20
	return func(done, total int64) {
		if total > short {
			m.report(privatemail.Progress{Stage: stage, Done: int(done / unit), Total: int(total / unit)})
		}
	}
}

// shardEnding is what the name of a shard has more than that of its gallery.
func shardEnding(index, count int) string { return fmt.Sprintf(".%dof%d", index, count) }
