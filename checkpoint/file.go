// Package checkpoint keeps checkpoints of an embedding in files: an interrupted run continues
// from the last one, to the same bits, on any number of workers and ranks.
//
//	s.Checkpoint = func(c *privatemail.Checkpoint) error { return checkpoint.Save(ctx, path, c) }
//	embedding, err := engine.Embed(ctx, features, labels, s)
//
// and later
//
//	saved, err := checkpoint.Open(ctx, path)
//	s.Resume = saved.Checkpoint
//	embedding, err := engine.Embed(ctx, features, labels, s)
//	saved.Close()
//
// A file has the iterate of a run, the sums that the next step needs, the trace of the steps
// before it, and everything that decides the result, so that no other run continues from it.
// It is as private as the features: it holds an embedding of them, moved by their labels.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/iterate"
)

// fileVersion is the version of these files. A change of this program that changes the bits of
// a step needs a new version: a run must not continue with other steps than it began with.
const fileVersion = 1

// The sections of a checkpoint.
const (
	runSection    = "run"    // JSON: Checkpoint.Run
	sizeSection   = "size"   // JSON: size
	traceSection  = "trace"  // float64: objective, scale and change of each step
	sumsSection   = "sums"   // float64
	pointsSection = "points" // float32, row by row
)

// size is the size of the iterate.
type size struct {
	Rows    int `json:"rows"`
	Columns int `json:"columns"`
}

// longestText is the largest size of a section of JSON in bytes: the description of a run is
// shorter.
const longestText = 1 << 16

// perStep is the number of numbers of the trace for each step.
const perStep = 3

// Save writes a checkpoint to a file. The file is written under a temporary name, synced and
// renamed: the previous checkpoint stays until the new one is safe. Errors: kernel.ErrShape for
// a checkpoint whose parts do not fit, the error of ctx, and those of the system.
func Save(ctx context.Context, path string, c *privatemail.Checkpoint) error {
	rows, columns, err := points.Dims(c.State.Points)
	if err == nil {
		err = sections.Write(ctx, path, sections.Checkpoint, fileVersion, func(w *sections.Writer) error { return fill(w, c, size{rows, columns}) })
	}
	if err != nil {
		return fmt.Errorf("checkpoint: save: %w", err)
	}
	return nil
}

// fill writes the sections.
func fill(w *sections.Writer, c *privatemail.Checkpoint, of size) error {
	if err := w.JSON(runSection, c.Run); err != nil {
		return err
	}
	if err := w.JSON(sizeSection, of); err != nil {
		return err
	}
	trace := make([]float64, 0, perStep*len(c.State.Trace))
	for _, r := range c.State.Trace {
		trace = append(trace, r.Objective, r.Scale, r.Change)
	}
	if err := sections.WriteNumbers(w, traceSection, trace); err != nil {
		return err
	}
	if err := sections.WriteNumbers(w, sumsSection, c.State.Sums); err != nil {
		return err
	}
	return w.Section(pointsSection, func(to io.Writer) error {
		x := c.State.Points
		if x.Stride == x.Cols {
			return sections.PutNumbers(to, x.Data[:x.Rows*x.Cols])
		}
		for i := range x.Rows {
			if err := sections.PutNumbers(to, x.Data[i*x.Stride:][:x.Cols]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Saved is a checkpoint from a file.
type Saved struct {
	// Checkpoint is the checkpoint that Save wrote. The rows of its iterate are a view of the
	// file where the system maps files: they must not be changed, and are invalid after Close. A
	// run that replaces the file by Save keeps its view.
	Checkpoint *privatemail.Checkpoint

	file *sections.File
}

// Open opens a file of Save and compares all its checksums. It takes memory for the trace and
// the sums; the iterate is mapped where the system can. Call Close after the last use.
//
// Errors match formats.ErrUnsupported for a foreign file or another version and
// formats.ErrFormat for a damaged one; others are those of ctx and of the system. Embed checks
// whether the numbers make sense.
func Open(ctx context.Context, path string) (*Saved, error) {
	file, err := sections.Open(path, sections.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: open: %w", err)
	}
	c, err := read(ctx, file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: open: %w", err), file.Close())
	}
	return &Saved{c, file}, nil
}

// Close releases the iterate. It must not run while a run begins from it.
func (s *Saved) Close() error { return s.file.Close() }

// read returns the checkpoint in a file.
func read(ctx context.Context, file *sections.File) (*privatemail.Checkpoint, error) {
	if err := file.CheckVersion(fileVersion); err != nil {
		return nil, err
	}
	if err := file.VerifyAll(ctx, nil); err != nil {
		return nil, err
	}
	c := new(privatemail.Checkpoint)
	var of size
	if err := readText(file, runSection, &c.Run); err != nil {
		return nil, err
	}
	if err := readText(file, sizeSection, &of); err != nil {
		return nil, err
	}
	data, err := sections.Numbers[float32](file, pointsSection)
	if err != nil {
		return nil, err
	}
	if of.Rows < 1 || of.Columns < 1 || of.Rows > math.MaxInt/of.Columns || len(data) != of.Rows*of.Columns {
		return nil, file.Damagedf("%d numbers for an iterate of %d x %d", len(data), of.Rows, of.Columns)
	}
	c.State.Points = blas32.General{Rows: of.Rows, Cols: of.Columns, Stride: of.Columns, Data: data}
	sums, err := sections.Numbers[float64](file, sumsSection)
	if err != nil {
		return nil, err
	}
	c.State.Sums = slices.Clone(sums)
	c.State.Trace, err = readTrace(file)
	return c, err
}

// readText reads a short section of JSON.
func readText(file *sections.File, name string, v any) error {
	raw, err := file.Raw(name)
	if err != nil {
		return err
	}
	if len(raw) > longestText {
		return file.Damagedf("section %q has %d bytes, more than %d", name, len(raw), longestText)
	}
	return file.JSON(name, v)
}

// readTrace returns the records of the steps.
func readTrace(file *sections.File) ([]iterate.Record, error) {
	numbers, err := sections.Numbers[float64](file, traceSection)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 || len(numbers)%perStep != 0 {
		return nil, file.Damagedf("a trace of %d numbers, %d for each step", len(numbers), perStep)
	}
	trace := make([]iterate.Record, len(numbers)/perStep)
	for i := range trace {
		r := numbers[perStep*i:]
		trace[i] = iterate.Record{Step: i + 1, Objective: r[0], Scale: r[1], Change: r[2]}
	}
	return trace, nil
}
