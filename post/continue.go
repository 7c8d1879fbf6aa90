package post

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// Continue rebuilds the graph from the released points and takes further steps. Nil
// labels leave the label term out, or take the randomised labels of the release; a nil
// s means default settings. The embedding is centred: a
// shift of all rows changes neither the graph nor the steps.
//
// Errors: *release.Error, release.ErrRelease for a nil release, ErrLabelMode, ErrScale,
// kernel.ErrOption, kernel.ErrShape for Into, kernel.ErrNonFinite for an Alpha that is not
// finite, kernel.ErrBandwidth, ErrLabels, ErrOperator, ErrTolerance, ErrIsolated and
// ErrMemory, iterate.ErrDiverged, and the error of ctx.
func Continue(ctx context.Context, r *release.Release, labels *release.PublicLabels, s *Settings) (*iterate.Embedding, error) {
	out, err := embed(ctx, r, labels, s)
	if err != nil {
		return nil, fmt.Errorf("post: %w", err)
	}
	return out, nil
}

func embed(ctx context.Context, r *release.Release, labels *release.PublicLabels, given *Settings) (*iterate.Embedding, error) {
	s, err := given.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := check(r); err != nil {
		return nil, err
	}
	if err := pipeline.CheckInto(s.Into, r.Rows, r.Columns); err != nil {
		return nil, err
	}
	step, err := stepOf(r, labels, &s)
	if err != nil {
		return nil, err
	}
	o, err := s.graphOptions(r, step.Labels)
	if err != nil {
		return nil, err
	}
	x, err := releasedRows(ctx, r)
	if err != nil {
		return nil, err
	}
	graph := s.graph()
	if graph.Bandwidth == (kernel.Bandwidth{}) {
		graph.Bandwidth = kernel.Sigma(r.Query.Sigma)
	}
	opened, err := kernel.Open(x, o)
	if err != nil {
		return nil, err
	}
	b, err := graph.Settle(ctx, opened, o)
	if err != nil {
		return nil, err
	}
	start := x
	if s.Into.Data == nil {
		start.Data = slices.Clone(x.Data) // becomes the last iterate
	}
	op, built, err := pipeline.Build(ctx, opened, b, o)
	if err != nil {
		return nil, err
	}
	defer op.Close()
	return pipeline.Steps(ctx, op, built, start, step, s.run())
}

// stepOf returns the step with the labels that the mode of the release allows.
func stepOf(r *release.Release, labels *release.PublicLabels, s *Settings) (kernel.Step, error) {
	step := kernel.Step{Form: kernel.Paper, Coefficient: r.Query.Alpha}
	if s.Alpha != nil {
		step.Coefficient = *s.Alpha
	}
	switch r.Labels.Mode {
	case release.ModeDropped:
		if labels != nil {
			return step, fmt.Errorf("%w: its labels were dropped when it was made", ErrLabelMode)
		}
	case release.ModeRandomised:
		if labels != nil {
			return step, fmt.Errorf("%w: it has its own randomised labels", ErrLabelMode)
		}
		var err error
		if labels, err = r.PublicLabels(); err != nil {
			return step, err
		}
	}
	if labels == nil {
		step.Coefficient = 0
		return step, nil
	}
	if labels.Len() != r.Rows || labels.Classes() > r.Query.Classes {
		return step, fmt.Errorf("%w: %d labels of %d classes for %d rows of %d classes", ErrLabelMode, labels.Len(), labels.Classes(), r.Rows, r.Query.Classes)
	}
	table, err := kernel.TableByName(r.Query.Table, kernel.Sigma(r.Query.Sigma))
	if err != nil {
		return step, err
	}
	if step.Labels, err = kernel.NewLabels(labels.Values(), table, false); err != nil {
		return step, err
	}
	return step, step.Check(r.Rows)
}
