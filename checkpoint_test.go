package privatemail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// keepCheckpoint returns a copy of a checkpoint.
func keepCheckpoint(c *Checkpoint) *Checkpoint {
	out := &Checkpoint{Run: maps.Clone(c.Run), State: c.State}
	out.State.Points.Data = slices.Clone(c.State.Points.Data)
	return out
}

// embedOn embeds on one of some ranks.
func embedOn(ctx context.Context, ranks *par.Ranks, x blas32.General, y []int32, s Settings) (*iterate.Embedding, error) {
	e, err := New(WithRanks(ranks), WithCalibration(kernel.Calibration{}), WithWorkers(2))
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.Embed(ctx, x, y, &s)
}

// A run resumed from any of its checkpoints has the same bits as one that was not
// interrupted, on any number of ranks.
func TestResumedEmbedding(t *testing.T) {
	x, y, err := synth.Classes(400, 6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Settings{
		"attract": {Graph: Graph{MeanNeighbours: 15, NormalizeRows: true}, Form: kernel.Attract, Coefficient: 3, Steps: 4},
		"paper":   {Graph: Graph{Bandwidth: kernel.Sigma(3)}, Coefficient: 0.5, Dim: 3, Steps: 5, Normalize: iterate.Centred},
		"nearest": {Graph: Graph{Neighbours: 8}, Form: kernel.Attract, Steps: 3},
		"start":   {Graph: Graph{Bandwidth: kernel.Sigma(2), Operator: "dense"}, Start: x, Steps: 3},
		"poly":    {Graph: Graph{Bandwidth: kernel.Sigma(20), Operator: "poly"}, Steps: 4, Coefficient: 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := embedOn(t.Context(), nil, x, y, s)
			if err != nil {
				t.Fatal(err)
			}
			var kept []*Checkpoint
			err = cluster.Local(4, func(ranks *par.Ranks) error {
				s := s
				s.Checkpoint = func(c *Checkpoint) error {
					if ranks.Rank() == 0 {
						kept = append(kept, keepCheckpoint(c))
					}
					return nil
				}
				_, err := embedOn(t.Context(), ranks, x, y, s)
				return err
			})
			if err != nil || len(kept) != s.Steps-1 {
				t.Fatalf("%d checkpoints, %v", len(kept), err)
			}
			for i, c := range kept {
				err := cluster.Local(i%3+1, func(ranks *par.Ranks) error {
					s := s
					s.Resume = c
					into := blas32.General{Rows: x.Rows, Cols: s.Dim, Stride: s.Dim, Data: make([]float32, x.Rows*s.Dim)}
					if s.Dim == 0 || i%2 == 0 {
						into = blas32.General{}
					}
					s.Into = into
					got, err := embedOn(t.Context(), ranks, x, y, s)
					if err != nil {
						return err
					}
					if !slices.Equal(got.Trace, want.Trace) {
						return fmt.Errorf("another trace from checkpoint %d", i)
					}
					for e, v := range want.Points.RawMatrix().Data {
						if into.Data != nil && float64(into.Data[e]) != v || into.Data == nil && got.Points.RawMatrix().Data[e] != v {
							return fmt.Errorf("entry %d differs from checkpoint %d", e, i)
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A checkpoint of another run is refused by an error that names what differs.
func TestResumeNamesWhatDiffers(t *testing.T) {
	x, y := classes(t, 300, 6)
	e := engine(t)
	base := Settings{Graph: Graph{Bandwidth: kernel.Sigma(1), Operator: "pairs"}, Form: kernel.Paper, Coefficient: 0.5, Dim: 2, Steps: 3} // not the first of a plan
	var kept *Checkpoint
	s := base
	s.Checkpoint = func(c *Checkpoint) error { kept = keepCheckpoint(c); return nil }
	if _, err := e.Embed(t.Context(), x, y, &s); err != nil {
		t.Fatal(err)
	}
	resume := func(e *Engine, x blas32.General, y []int32, change func(*Settings)) error {
		s := base
		s.Resume = kept
		change(&s)
		_, err := e.Embed(t.Context(), x, y, &s)
		return err
	}
	for _, change := range []func(*Settings){
		func(*Settings) {}, func(s *Settings) { s.Steps = 9 }, func(s *Settings) { s.StopTolerance = 1e-12 },
		func(s *Settings) { s.Operator = "" },
	} {
		if err := resume(e, x, y, change); err != nil {
			t.Errorf("the same run: %v", err)
		}
	}
	moved, relabelled := slices.Clone(x.Data), slices.Clone(y)
	moved[17] += 1e-3
	relabelled[3] = (relabelled[3] + 1) % 5
	moreRows := x
	moreRows.Rows--
	for _, c := range []struct {
		names  string
		x      blas32.General
		y      []int32
		change func(*Settings)
	}{
		{"features", blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: moved}, y, func(*Settings) {}},
		{"features, labels", moreRows, y[:moreRows.Rows], func(*Settings) {}},
		{"labels", x, relabelled, func(*Settings) {}},
		{"labels", x, y, func(s *Settings) { s.Table = kernel.DifferentTable() }},
		{"coefficient", x, y, func(s *Settings) { s.Coefficient = 0.25 }},
		{"gamma", x, y, func(s *Settings) { s.Bandwidth = kernel.Sigma(1.5) }},
		{"gamma, mean-neighbours", x, y, func(s *Settings) { s.Bandwidth, s.MeanNeighbours = kernel.Bandwidth{}, 12 }},
		{"gamma, neighbours", x, y, func(s *Settings) { s.Bandwidth, s.Neighbours = kernel.Bandwidth{}, 5 }},
		{"cutoff-weight", x, y, func(s *Settings) { s.CutoffWeight = 0.01 }},
		{"cutoff-radius", x, y, func(s *Settings) { s.CutoffRadius = 2 }},
		{"tolerance", x, y, func(s *Settings) { s.Tolerance = 0.01 }},
		{"isolated", x, y, func(s *Settings) { s.Isolated = kernel.Repair }},
		{"standardize", x, y, func(s *Settings) { s.Standardize = true }},
		{"normalize-rows", x, y, func(s *Settings) { s.NormalizeRows = true }},
		{"normalize", x, y, func(s *Settings) { s.Normalize = iterate.Centred }},
		{"start", x, y, func(s *Settings) { s.Seed = 7 }},
		{"start", x, y, func(s *Settings) { s.SigmaQ = 1e-3 }},
		{"columns", x, y, func(s *Settings) { s.Dim = 3 }},
		{"columns, form, labels, start", x, y, func(s *Settings) { s.Form = kernel.Attract }},
		{"columns, start", x, y, func(s *Settings) { s.Start = x }},
		{"graph, operator", x, y, func(s *Settings) { s.Operator = "dense" }},
	} {
		err := resume(e, c.x, c.y, c.change)
		if !errors.Is(err, ErrCheckpoint) || !strings.HasSuffix(err.Error(), ": other "+c.names) {
			t.Errorf("want other %s, got %v", c.names, err)
		}
	}
	if err := resume(e, x, y, func(s *Settings) { s.Steps = 1 }); !errors.Is(err, ErrSettings) {
		t.Errorf("fewer steps than were taken: %v", err)
	}
	for name, change := range map[string]func(*Settings){
		"overwrite": func(s *Settings) { s.Overwrite = true },
		"every":     func(s *Settings) { s.CheckpointEvery = -1 },
	} {
		if err := resume(e, x, y, change); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The level of instructions counts only for poly, whose last digits depend on it.
func TestResumeAtAnotherLevel(t *testing.T) {
	x, _, err := synth.Classes(200, 6, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for operator, refused := range map[string]bool{"csr": false, "poly": true} {
		s := Settings{Graph: Graph{Bandwidth: kernel.Sigma(20), Operator: operator}, Steps: 3}
		s.CutoffWeight = map[string]float64{"csr": 0.9}[operator]
		var kept *Checkpoint
		s.Checkpoint = func(c *Checkpoint) error { kept = keepCheckpoint(c); return nil }
		for _, level := range []simd.Level{simd.Best(), simd.Generic} {
			e, err := New(WithCalibration(kernel.Calibration{}), WithLevel(level))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			_, err = e.Embed(t.Context(), x, nil, &s)
			if want := refused && s.Resume != nil && level != simd.Best(); errors.Is(err, ErrCheckpoint) != want || !want && err != nil {
				t.Errorf("%s at level %v: %v", operator, level, err)
			}
			s.Resume = kept
		}
	}
}

// The error of the function that keeps a checkpoint ends the run.
func TestCheckpointFails(t *testing.T) {
	x, _, err := synth.Classes(100, 4, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := Settings{Graph: Graph{Bandwidth: kernel.Sigma(1)}, Steps: 3}
	full := errors.New("the disk is full")
	s.Checkpoint = func(*Checkpoint) error { return full }
	if _, err := e.Embed(t.Context(), x, nil, &s); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
