package iterate

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A State is a run after some of its steps: all that the next step needs. A run that
// continues from a State gives the same bits as one that was never interrupted, with any
// number of workers and ranks, if operator, step and settings are the same.
type State struct {
	// Points is the iterate, in the order of the points.
	Points blas32.General
	// Sums are the sums of kernel.Stats, as AppendSums writes them.
	Sums []float64
	// Trace has a record for each step that was taken.
	Trace []Record
}

// Check refuses a State that a run with these steps and this tolerance cannot reach:
// kernel.ErrOption where it has no step or too many, or where one of its steps would have been
// the last, and the errors of Run for a start.
func (s *State) Check(steps int, tolerance float64) error {
	taken := len(s.Trace)
	if taken < 1 || taken > steps {
		return fmt.Errorf("iterate: %w: a state after %d steps for a run of %d", kernel.ErrOption, taken, steps)
	}
	for i, r := range s.Trace {
		if r.Step != i+1 {
			return fmt.Errorf("iterate: %w: record %d of a state is for step %d", kernel.ErrOption, i+1, r.Step)
		}
		if tolerance > 0 && r.Change <= tolerance {
			return fmt.Errorf("iterate: %w: a state after %d steps, but step %d would have been the last: its change is within the tolerance %g", kernel.ErrOption, taken, r.Step, tolerance)
		}
	}
	if err := points.CheckStart(s.Points); err != nil {
		return fmt.Errorf("iterate: %w", err)
	}
	return nil
}

// defaultCheckpoints is the largest number of checkpoints of a run where Settings.Every is not
// set.
const defaultCheckpoints = 10

// checkCheckpoints fills in Every and refuses settings that cannot be used with
// checkpoints.
func (s *Settings) checkCheckpoints() error {
	if s.Every < 0 {
		return fmt.Errorf("iterate: %w: a checkpoint every %d steps", kernel.ErrOption, s.Every)
	}
	if s.Every == 0 {
		s.Every = (s.Steps + defaultCheckpoints - 1) / defaultCheckpoints
	}
	if s.Overwrite && (s.Checkpoint != nil || s.From != nil) {
		return fmt.Errorf("iterate: %w: overwrite allows no checkpoints: it takes all steps of some columns before the first step of others", kernel.ErrOption)
	}
	if s.From != nil {
		return s.From.Check(s.Steps, s.Tolerance)
	}
	return nil
}

// beginFrom begins with a state in place of a start of the same size.
func (ws *Workspace) beginFrom(op kernel.Operator, x blas32.General, step kernel.Step, s Settings) error {
	from := s.From
	if from.Points.Rows != x.Rows || from.Points.Cols != x.Cols {
		return fmt.Errorf("iterate: %w: a state of %d x %d for a start of %d x %d", kernel.ErrShape, from.Points.Rows, from.Points.Cols, x.Rows, x.Cols)
	}
	if err := ws.begin(op, from.Points, step, s); err != nil {
		return err
	}
	if err := ws.stats.RestoreSums(from.Sums); err != nil {
		return fmt.Errorf("iterate: state: %w", err)
	}
	return nil
}

// checkpoint hands the state after the steps of a trace to Settings.Checkpoint, if it is due.
// The last step has none: the run is at its end.
func (ws *Workspace) checkpoint(ctx context.Context, trace []Record) error {
	s := &ws.settings
	if t := len(trace); s.Checkpoint == nil || t%s.Every != 0 || t == s.Steps {
		return nil
	}
	if err := ws.copyOut(ctx, ws.next); err != nil { // which the next step overwrites
		return err
	}
	state := &State{Points: ws.next, Sums: ws.stats.AppendSums(nil), Trace: slices.Clone(trace)}
	if err := s.Checkpoint(state); err != nil {
		return fmt.Errorf("iterate: checkpoint after step %d: %w", len(trace), err)
	}
	return nil
}
