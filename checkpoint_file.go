package privatemail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/iterate"
)

// checkpointVersion is the version of these files. A change of this program that changes the bits
// of a step needs a new version: a run must not continue with other steps than it began with.
const checkpointVersion = 1

// The sections of a checkpoint.
const (
	runSection    = "run"    // JSON: Checkpoint.Run
	sizeSection   = "size"   // JSON: checkpointSize
	traceSection  = "trace"  // float64: objective, scale and change of each step
	sumsSection   = "sums"   // float64
	pointsSection = "points" // float32, row by row
)

// checkpointSize is the size of the iterate.
type checkpointSize struct {
	Rows    int `json:"rows"`
	Columns int `json:"columns"`
}

// longestCheckpointText is the largest size of a section of JSON in bytes: the description of a
// run is shorter.
const longestCheckpointText = 1 << 16

// numbersPerStep is the number of numbers of the trace for each step.
const numbersPerStep = 3

// Save writes the checkpoint to a file. The file is written under a temporary name, synced and
// renamed: the previous checkpoint stays until the new one is safe. Errors: kernel.ErrShape for
// a checkpoint whose parts do not fit, the error of ctx, and those of the system.
func (c *Checkpoint) Save(ctx context.Context, path string) error {
	rows, columns, err := points.Dims(c.State.Points)
	if err == nil {
		err = sections.Write(ctx, path, sections.Checkpoint, checkpointVersion, func(w *sections.Writer) error { return c.fill(w, checkpointSize{rows, columns}) })
	}
	if err != nil {
		return fmt.Errorf("privatemail: save checkpoint: %w", err)
	}
	return nil
}

// fill writes the sections.
func (c *Checkpoint) fill(w *sections.Writer, of checkpointSize) error {
	if err := w.JSON(runSection, c.Run); err != nil {
		return err
	}
	if err := w.JSON(sizeSection, of); err != nil {
		return err
	}
	trace := make([]float64, 0, numbersPerStep*len(c.State.Trace))
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

// OpenCheckpoint opens a file of Save and compares all its checksums. It takes memory for the trace
// and the sums; the iterate is mapped where the system can: its rows must not be changed, and a run
// that replaces the file by Save keeps its view. Call Close after the last use.
//
// Errors match formats.ErrUnsupported for a foreign file or another version and
// formats.ErrFormat for a damaged one; others are those of ctx and of the system. Embed checks
// whether the numbers make sense.
func OpenCheckpoint(ctx context.Context, path string) (*Checkpoint, error) {
	file, err := sections.Open(path, sections.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("privatemail: open checkpoint: %w", err)
	}
	c, err := readCheckpoint(ctx, file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("privatemail: open checkpoint: %w", err), file.Close())
	}
	c.file = file
	return c, nil
}

// Close releases the iterate of a checkpoint of OpenCheckpoint, which is invalid then. It must not
// run while a run begins from it. It does nothing to other checkpoints.
func (c *Checkpoint) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// readCheckpoint returns the checkpoint in a file.
func readCheckpoint(ctx context.Context, file *sections.File) (*Checkpoint, error) {
	if err := file.CheckVersion(checkpointVersion); err != nil {
		return nil, err
	}
	if err := file.VerifyAll(ctx, nil); err != nil {
		return nil, err
	}
	c := new(Checkpoint)
	var of checkpointSize
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
	if len(raw) > longestCheckpointText {
		return file.Damagedf("section %q has %d bytes, more than %d", name, len(raw), longestCheckpointText)
	}
	return file.JSON(name, v)
}

// readTrace returns the records of the steps.
func readTrace(file *sections.File) ([]iterate.Record, error) {
	numbers, err := sections.Numbers[float64](file, traceSection)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 || len(numbers)%numbersPerStep != 0 {
		return nil, file.Damagedf("a trace of %d numbers, %d for each step", len(numbers), numbersPerStep)
	}
	trace := make([]iterate.Record, len(numbers)/numbersPerStep)
	for i := range trace {
		r := numbers[numbersPerStep*i:]
		trace[i] = iterate.Record{Step: i + 1, Objective: r[0], Scale: r[1], Change: r[2]}
	}
	return trace, nil
}
