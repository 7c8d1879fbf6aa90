// Package files has what verbs share about files: reading features and labels with their names, writing
// outputs whole or not at all, plots, checkpoints, and errors that name the file and the flag.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// The names of features and labels within a folder: those that are written, and those
// that are read, the first found wins.
const (
	FeaturesName = "features.npy"
	LabelsName   = "labels.npy"
)

func featuresNames() []string {
	return []string{FeaturesName, "features.npz", "features.csv", "features.csv.gz", "features.tsv", "features.fbin", "features.fvecs"}
}

func labelsNames() []string { return []string{LabelsName, "labels.csv", "labels.txt"} }

// Input is where the rows come from; labels is empty when there are none, and the file of
// the features where that holds them in a column.
type Input struct {
	Features, Labels string
	Read             *Reading // nil: nothing is said, and labels are numbers
}

// ranks are the processes that read the input together, nil for one alone.
func (in Input) ranks() *par.Ranks {
	if in.Read == nil || in.Read.Env == nil {
		return nil
	}
	return in.Read.Env.Ranks()
}

// Part is the file of an input that an error is about.
type Part int

const (
	nothing Part = iota
	Features
	labels
)

// about returns the beginning of a message on that part.
func (in Input) about(p Part) string {
	switch {
	case p == Features:
		return in.Features + ": "
	case p == labels && in.Labels != "":
		return in.Labels + ": "
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

// ReadRows returns the rows and their labels, nil where there are none, and a function
// that releases the rows. The names of classes and columns are then in in.Read.
func ReadRows(ctx context.Context, in Input, advice string) (x blas32.General, y []int32, release func(), err error) {
	t, x, y, err := ReadLabelled(ctx, in, advice)
	if err != nil {
		return x, nil, nil, err
	}
	return x, y, func() { t.Close() }, nil // only read from: nothing is lost when closing fails
}

// ReadLabelled is ReadRows for callers that need the table itself, too; they close it.
func ReadLabelled(ctx context.Context, in Input, advice string) (t *formats.Table, x blas32.General, y []int32, err error) {
	t, y, err = in.readBoth(ctx, advice)
	var data []float32
	if err == nil {
		x = blas32.General{Rows: t.Rows, Cols: t.Cols, Stride: max(t.Cols, 1), Data: t.Data}
		x, err = in.name(ctx, x)
		data = x.Data
	}
	if err = AgreeInput(ctx, in.ranks(), in, data, y, err); err != nil {
		if t != nil {
			t.Close()
		}
		return nil, blas32.General{}, nil, err
	}
	return t, x, y, nil
}

// name reads the names of columns where they are next to the rows, and puts the columns in the order
// of in.Read.Like.
func (in Input) name(ctx context.Context, x blas32.General) (blas32.General, error) {
	if in.Read == nil {
		return x, nil
	}
	if err := in.ReadColumnNames(ctx, x.Cols); err != nil {
		return x, err
	}
	return in.Arrange(x, in.Read.Like)
}

// readBoth reads features and labels.
func (in Input) readBoth(ctx context.Context, advice string) (t *formats.Table, y []int32, err error) {
	if t, err = in.readTable(ctx); err != nil {
		return nil, nil, Missing(in.Features, err)
	}
	switch {
	case in.joined():
		y = in.take(t.Labels)
	case in.Labels != "":
		y, err = ReadLabels(ctx, in, t.Rows, advice)
	}
	if err == nil {
		err = RefuseNoRows(in.Features, t.Rows)
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

// ReadLabels returns the labels for n rows; advice says more about missing ones.
func ReadLabels(ctx context.Context, in Input, n int, advice string) ([]int32, error) {
	settings := in.settings()
	l, err := progress.Await(ctx, func() (*formats.Labels, error) { return formats.ReadNamedLabels(ctx, in.Labels, &settings) })
	if err != nil {
		return nil, Missing(in.Labels, AdviseFile(in.Labels, err))
	}
	if len(l.Class) == 0 {
		return nil, RefuseNoRows(in.Labels, 0)
	}
	if len(l.Class) == n+1 && len(l.Names) > 0 {
		advice += "; if its first line is a header, say -header yes"
	}
	if len(l.Class) != n {
		return nil, fmt.Errorf("%s: %d labels, but %s has %d rows; every row needs one label%s", in.Labels, len(l.Class), in.Features, n, advice)
	}
	if l.Names != nil && in.Read == nil {
		return nil, fmt.Errorf("%s: the labels are names, want numbers of classes", in.Labels)
	}
	return in.take(l), nil
}

// Missing says that a file does not exist in the words of this command.
func Missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	return err
}

// ColumnsOfModel returns the names of the columns that a model takes. Earlier versions kept them next to
// the map.
func ColumnsOfModel(path string, s *supervised.Saved) Named {
	if names := s.Model.Map.ColumnNames; names != nil {
		return Named{path, names}
	}
	return Named{path, s.About.ColumnNames}
}

// BytesRead reports how much of a file was read, as a stage. Short files are read at once.
func BytesRead(m progress.Meter, stage string) func(done, total int64) {
	const unit, short = 1 << 20, 64 << 20
	return func(done, total int64) {
		if total > short {
			m.Report(privatemail.Progress{Stage: stage, Done: int(done / unit), Total: int(total / unit)})
		}
	}
}
