package iterate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A resumable is a run that tests interrupt.
type resumable struct {
	points, start blas32.General
	operator      string
	sigma         float64
	step          kernel.Step
	settings      Settings
}

// resumables returns runs with every operator that takes steps, in both forms and with every
// normalisation, some with equal points and rows without labels.
func resumables(t *testing.T) map[string]*resumable {
	rng := rand.New(rand.NewPCG(24, 1))
	low, high := randomMatrix(rng, 2500, 3), randomMatrix(rng, 300, 20)
	for i := range 60 {
		copy(row(low, 7*i), row(low, 0))
	}
	all := map[string]*resumable{}
	for _, c := range []struct {
		operator  string
		points    blas32.General
		sigma     float64
		form      kernel.Form
		table     kernel.Table
		columns   int
		normalize Normalization
	}{
		{"csr", low, 0.2, kernel.Attract, kernel.BalancedTable(), 3, None},
		{"csr", low, 0.2, kernel.Paper, kernel.DifferentTable(), 2, Centred},
		{"csr", high, 2, kernel.Attract, kernel.EqualTable(), 20, Frobenius},
		{"pairs", low, 0.2, kernel.Attract, kernel.BalancedTable(), 9, Centred},
		{"dense", high, 3, kernel.Paper, kernel.GaussianTable(kernel.Sigma(1)), 1, Frobenius},
		{"poly", high, 30, kernel.Paper, kernel.EqualTable(), 5, None},
		{"grid", low, 2, kernel.Attract, kernel.BalancedTable(), 3, Centred},
	} {
		r := &resumable{
			points: c.points, start: randomMatrix(rng, c.points.Rows, c.columns), operator: c.operator, sigma: c.sigma,
			step:     kernel.Step{Form: c.form, Coefficient: 0.5, Labels: labelsOf(t, rng, c.points.Rows, c.table)},
			settings: Settings{Steps: 4, Normalize: c.normalize},
		}
		all[fmt.Sprint(c.operator, " ", c.points.Cols, " ", c.form, " ", c.normalize)] = r
	}
	return all
}

// run takes the steps in one process of a run, with settings modified by change.
func (r *resumable) run(ctx context.Context, ranks *par.Ranks, change func(*Settings)) ([]float32, *Result, error) {
	crew := par.New(2)
	defer crew.Close()
	op, err := kernel.Build(ctx, r.points, kernel.Sigma(r.sigma), &kernel.Options{Operator: r.operator, Ranks: ranks, Workers: crew})
	if err != nil {
		return nil, nil, err
	}
	defer op.Close()
	s := r.settings
	s.Workers = crew
	change(&s)
	x := newMatrix(r.start.Rows, r.start.Cols)
	if s.From == nil {
		copy(x.Data, r.start.Data)
	}
	result, err := Run(ctx, op, x, r.step, &s, nil)
	return x.Data, result, err
}

// states returns the end of an undisturbed run, and its state after each step except the
// last.
func (r *resumable) states(t *testing.T, size int) (end []float32, trace []Record, states []*State) {
	t.Helper()
	err := cluster.Local(size, func(ranks *par.Ranks) error {
		x, result, err := r.run(t.Context(), ranks, func(s *Settings) {
			s.Every = 1
			s.Checkpoint = func(now *State) error {
				if ranks.Rank() == size-1 {
					states = append(states, keep(now))
				}
				return nil
			}
		})
		if err == nil && ranks.Rank() == 0 {
			end, trace = x, result.Trace
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return end, trace, states
}

// keep returns a copy of a state.
func keep(s *State) *State {
	out := &State{Points: s.Points, Sums: slices.Clone(s.Sums), Trace: slices.Clone(s.Trace)}
	out.Points.Data = slices.Clone(s.Points.Data)
	return out
}

// A run that stops after any step and continues gives the same bits and trace as one that
// does not stop, on any number of ranks.
func TestResumeGivesTheSameBits(t *testing.T) {
	for name, r := range resumables(t) {
		t.Run(name, func(t *testing.T) {
			want, trace, err := r.run(t.Context(), nil, func(*Settings) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range longtest.Pick([]int{4}, []int{1, 4}, []int{1, 4}) {
				end, records, states := r.states(t, size)
				if !slices.Equal(end, want) || !slices.Equal(records, trace.Trace) {
					t.Fatalf("%d ranks with checkpoints: other bits", size)
				}
				if len(states) != r.settings.Steps-1 {
					t.Fatalf("%d ranks: %d states of %d steps", size, len(states), r.settings.Steps)
				}
				for i, state := range states {
					on := []int{1, 2, 3, 4}[(i+size)%4]
					err := cluster.Local(on, func(ranks *par.Ranks) error {
						x, result, err := r.run(t.Context(), ranks, func(s *Settings) { s.From = state })
						if err != nil {
							return err
						}
						if !slices.Equal(x, want) || !slices.Equal(result.Trace, trace.Trace) {
							return fmt.Errorf("from step %d of %d ranks on %d ranks: other bits", i+1, size, on)
						}
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// A run that stops by its tolerance also does so after it was resumed, and into other memory.
func TestResumeConverges(t *testing.T) {
	r := resumables(t)["csr 3 attract none"]
	r.settings.Steps = 6
	_, plain, err := r.run(t.Context(), nil, func(*Settings) {})
	if err != nil {
		t.Fatal(err)
	}
	r.settings.Tolerance = plain.Trace[3].Change
	want, result, err := r.run(t.Context(), nil, func(*Settings) {})
	if err != nil || result.Status != Converged || len(result.Trace) != 4 {
		t.Fatalf("%v, %v", result, err)
	}
	_, _, states := r.states(t, 1)
	if len(states) != 3 { // none after the last step
		t.Fatalf("%d states", len(states))
	}
	into := newMatrix(r.start.Rows, r.start.Cols)
	_, result, err = r.run(t.Context(), nil, func(s *Settings) { s.From, s.Into = states[1], into })
	if err != nil || result.Status != Converged || !slices.Equal(into.Data, want) {
		t.Errorf("resumed: %v, %v, or other bits", result, err)
	}
	if _, _, err = r.run(t.Context(), nil, func(s *Settings) { s.From, s.Tolerance = states[1], plain.Trace[0].Change }); !errors.Is(err, kernel.ErrOption) {
		t.Errorf("a state behind the last step: %v", err)
	}
	// With more steps the resumed run gives the steps of the longer run.
	more, _, err := r.run(t.Context(), nil, func(s *Settings) { s.Steps, s.Tolerance = 9, 0 })
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := r.run(t.Context(), nil, func(s *Settings) { s.Steps, s.Tolerance, s.From = 9, 0, states[2] })
	if err != nil || !slices.Equal(got, more) {
		t.Errorf("more steps: %v, or other bits", err)
	}
}

func TestCheckpointSteps(t *testing.T) {
	r := resumables(t)["csr 20 attract frobenius"]
	for _, c := range []struct {
		steps, every int
		want         []int
	}{
		{6, 0, []int{1, 2, 3, 4, 5}}, {6, 2, []int{2, 4}}, {6, 3, []int{3}}, {6, 7, nil}, {1, 0, nil}, {10, 0, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{11, 0, []int{2, 4, 6, 8, 10}}, {30, 0, []int{3, 6, 9, 12, 15, 18, 21, 24, 27}},
	} {
		var at []int
		_, _, err := r.run(t.Context(), nil, func(s *Settings) {
			s.Steps, s.Every = c.steps, c.every
			s.Checkpoint = func(now *State) error { at = append(at, len(now.Trace)); return nil }
		})
		if err != nil || !slices.Equal(at, c.want) {
			t.Errorf("%d steps, every %d: checkpoints after %v, want %v; %v", c.steps, c.every, at, c.want, err)
		}
	}
	full := errors.New("disk full")
	_, _, err := r.run(t.Context(), nil, func(s *Settings) {
		s.Checkpoint = func(*State) error { return full }
	})
	if !errors.Is(err, full) {
		t.Errorf("a checkpoint that fails: %v", err)
	}
}

func TestResumeRefuses(t *testing.T) {
	r := resumables(t)["csr 20 attract frobenius"]
	_, _, states := r.states(t, 1)
	good := states[2]
	for name, c := range map[string]struct {
		change func(*Settings, *State)
		want   error
	}{
		"no steps":          {func(_ *Settings, from *State) { from.Trace = nil }, kernel.ErrOption},
		"too many steps":    {func(s *Settings, _ *State) { s.Steps = 2 }, kernel.ErrOption},
		"steps out of turn": {func(_ *Settings, from *State) { from.Trace[1].Step = 7 }, kernel.ErrOption},
		"overwrite":         {func(s *Settings, _ *State) { s.Overwrite, s.Normalize = true, None }, kernel.ErrOption},
		"every":             {func(s *Settings, _ *State) { s.Every = -1 }, kernel.ErrOption},
		"rows":              {func(_ *Settings, from *State) { from.Points.Rows-- }, kernel.ErrShape},
		"columns":           {func(_ *Settings, from *State) { from.Points.Cols-- }, kernel.ErrShape},
		"data":              {func(_ *Settings, from *State) { from.Points.Data = from.Points.Data[:9] }, kernel.ErrShape},
		"NaN":               {func(_ *Settings, from *State) { from.Points.Data[5] = float32(math.NaN()) }, kernel.ErrNonFinite},
		"large":             {func(_ *Settings, from *State) { from.Points.Data[5] = 2e30 }, ErrDiverged},
		"no sums":           {func(_ *Settings, from *State) { from.Sums = nil }, kernel.ErrShape},
		"a sum less":        {func(_ *Settings, from *State) { from.Sums = from.Sums[1:] }, kernel.ErrShape},
		"a sum":             {func(_ *Settings, from *State) { from.Sums[3] = math.Inf(1) }, kernel.ErrNonFinite},
		"spread":            {func(_ *Settings, from *State) { from.Sums[0] = -1 }, kernel.ErrNonFinite},
	} {
		from := keep(good)
		_, _, err := r.run(t.Context(), nil, func(s *Settings) {
			s.From = from
			c.change(s, from)
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	_, _, err := r.run(t.Context(), nil, func(s *Settings) {
		s.Overwrite, s.Normalize, s.Checkpoint = true, None, func(*State) error { return nil }
	})
	if !errors.Is(err, kernel.ErrOption) {
		t.Errorf("overwrite with checkpoints: %v", err)
	}
}
