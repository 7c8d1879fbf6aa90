package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
)

// The names of features and labels within a folder.
const (
	featuresName = "features.npy"
	labelsName   = "labels.npy"
)

// input is where the rows come from; labels is empty when there are none.
type input struct{ features, labels string }

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

// labelsVar defines the flag -labels of verbs with FEATURES.
func labelsVar(fs *flag.FlagSet, p *string) {
	fs.StringVar(p, "labels", "", "read a label per row from `FILE` (default: labels.npy of a FEATURES folder)")
}

// resolve finds the files that FEATURES stands for: a file, or a folder with
// features.npy and perhaps labels.npy. Those of -labels, if not empty, take their
// place.
func resolve(name, labels string) (input, error) {
	info, err := os.Stat(name)
	if err != nil {
		return input{}, missing(name, err)
	}
	if !info.IsDir() {
		return input{features: name, labels: labels}, nil
	}
	in := input{features: filepath.Join(name, featuresName), labels: filepath.Join(name, labelsName)}
	if _, err := os.Stat(in.features); errors.Is(err, fs.ErrNotExist) {
		return in, fmt.Errorf("%s: a folder without %s; name a file, or a folder that has one", name, featuresName)
	} else if err != nil {
		return in, err
	}
	if labels != "" {
		in.labels = labels
	} else if _, err := os.Stat(in.labels); errors.Is(err, fs.ErrNotExist) {
		in.labels = ""
	} else if err != nil {
		return in, err
	}
	return in, nil
}

// readFeatures returns the rows of a file and a function that releases them.
func readFeatures(ctx context.Context, path string) (blas32.General, func(), error) {
	m, err := await(ctx, func() (*formats.Matrix, error) { return formats.ReadMatrix(path) })
	if err != nil {
		return blas32.General{}, nil, missing(path, err)
	}
	x := blas32.General{Rows: m.Rows, Cols: m.Cols, Stride: max(m.Cols, 1), Data: m.Data}
	return x, func() { m.Close() }, nil // only read from: nothing is lost when closing fails
}

// readRows returns the rows and their labels, nil where there are none, and a function
// that releases the rows.
func readRows(ctx context.Context, in input, advice string) (x blas32.General, y []int32, release func(), err error) {
	if x, release, err = readFeatures(ctx, in.features); err != nil || in.labels == "" {
		return x, nil, release, err
	}
	if y, err = readLabels(ctx, in, x.Rows, advice); err != nil {
		release()
		return blas32.General{}, nil, nil, err
	}
	return x, y, release, nil
}

// readLabels returns the labels for n rows; advice says more about missing ones.
func readLabels(ctx context.Context, in input, n int, advice string) ([]int32, error) {
	y, err := await(ctx, func() ([]int32, error) { return formats.ReadLabels(in.labels) })
	if err != nil {
		return nil, missing(in.labels, err)
	}
	if len(y) != n {
		return nil, fmt.Errorf("%s: %d labels, but %s has %d rows; every row needs one label%s", in.labels, len(y), in.features, n, advice)
	}
	return y, nil
}

// missing says that a file does not exist in the words of this command.
func missing(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	return err
}
