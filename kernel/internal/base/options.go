// Package base has what all operators of package kernel share: options with their defaults
// filled in and agreed on by ranks, bandwidths, certificates, costs and errors, the look at
// points before anything is built, and how ranks share pieces of work.
package base

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// An IsolatedPolicy says what becomes of isolated rows and of rows that miss the tolerance.
type IsolatedPolicy int

// The policies; those of package kernel say what they do.
const (
	Keep IsolatedPolicy = iota
	Repair
	Fail
)

// Options are those of package kernel, which says what each of them means, with every
// default filled in by SetDefaults.
type Options struct {
	Tolerance      float64
	CutoffRadius   float64
	Neighbours     int
	SelfTuned      bool
	Isolated       IsolatedPolicy
	Operator       string
	Steps, Columns int
	Layout         sparse.Layout
	MaxMemory      int64
	StepBytes      int64
	Reserve        func(bytes int64) bool
	Workers        *par.Workers
	Ranks          *par.Ranks
	Kernels        *simd.Kernels
	Progress       func(stage string, done, total int)
}

// SetDefaults fills in every default, and refuses settings out of range.
func (o *Options) SetDefaults() error {
	if o.Tolerance == 0 {
		o.Tolerance = 1e-4
	}
	if !(o.Tolerance > 0 && o.Tolerance < 1) {
		return fmt.Errorf("kernel: %w: tolerance %g, want a number between 0 and 1", ErrOption, o.Tolerance)
	}
	if !(o.CutoffRadius >= 0) || math.IsInf(o.CutoffRadius, 0) {
		return fmt.Errorf("kernel: %w: cutoff radius %g, want a positive number", ErrOption, o.CutoffRadius)
	}
	if o.Neighbours < 0 {
		return fmt.Errorf("kernel: %w: %d neighbours, want a positive number", ErrOption, o.Neighbours)
	}
	if o.Neighbours > 0 && o.CutoffRadius > 0 {
		return fmt.Errorf("kernel: %w: %d neighbours and a cutoff radius of %g, want one of the two", ErrOption, o.Neighbours, o.CutoffRadius)
	}
	if o.SelfTuned && o.Neighbours == 0 {
		return fmt.Errorf("kernel: %w: a graph that tunes itself needs a number of neighbours", ErrOption)
	}
	if o.Isolated < Keep || o.Isolated > Fail {
		return fmt.Errorf("kernel: %w: IsolatedPolicy(%d)", ErrOption, o.Isolated)
	}
	if o.Layout < sparse.Auto || o.Layout > sparse.Compact16 {
		return fmt.Errorf("kernel: %w: %v", ErrOption, o.Layout)
	}
	if o.Steps < 0 || o.Columns < 0 || o.MaxMemory < 0 || o.StepBytes < 0 {
		return fmt.Errorf("kernel: %w: steps %d, columns %d, memory %d and bytes of steps %d must not be negative", ErrOption, o.Steps, o.Columns, o.MaxMemory, o.StepBytes)
	}
	if o.Steps == 0 {
		o.Steps = 5
	}
	if o.Columns == 0 {
		o.Columns = 2
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = mem.DefaultLimit()
	}
	o.MaxMemory = min(o.MaxMemory, mem.AddressSpace-1) // from there on make panics
	if o.Kernels == nil {
		o.Kernels = simd.At(simd.Best())
	}
	return nil
}

// Fixed reports whether the caller has fixed the graph, whatever the tolerance.
func (o *Options) Fixed() bool { return o.CutoffRadius > 0 || o.Neighbours > 0 }

// RefuseFixed refuses a fixed graph to the caller of an operator that has every pair.
func (o *Options) RefuseFixed(name string) error {
	if o.Fixed() {
		return fmt.Errorf("%w: %s", ErrOperator, RefusedFixed(name))
	}
	return nil
}

// RefusedFixed says why an operator that has every pair refuses a fixed graph.
func RefusedFixed(name string) string {
	return fmt.Sprintf("the graph asked for is cut; %s has every pair", name)
}

// Take asks for the bytes that the work at hand will hold in all. What names the work in
// the error. Where one rank is refused its memory, all are.
func (o *Options) Take(what string, bytes int64) error {
	if bytes > o.MaxMemory {
		return &MemoryError{What: what, Need: bytes, Limit: o.MaxMemory}
	}
	if o.Reserve == nil {
		return nil
	}
	denied, err := o.anyRank(!o.Reserve(bytes))
	if err != nil {
		return err
	}
	if denied {
		return Refused(what, bytes, o.MaxMemory, true)
	}
	return nil
}

// Whole returns the options for an operator that counts StepBytes while it is built.
func (o *Options) Whole() *Options {
	if o.StepBytes == 0 {
		return o
	}
	out := o.Beside(o.StepBytes)
	out.MaxMemory, out.StepBytes = max(out.MaxMemory, 1), 0
	return out
}

// Beside returns the options of work that goes on while the caller holds that many bytes.
func (o *Options) Beside(held int64) *Options {
	out := *o
	out.MaxMemory -= held
	if o.Reserve != nil {
		out.Reserve = func(bytes int64) bool { return o.Reserve(bytes + held) }
	}
	return &out
}

// RefuseIsolated refuses isolated rows when the policy is Fail.
func (o *Options) RefuseIsolated(isolated, n int, why string) error {
	if o.Isolated == Fail && isolated > 0 {
		return fmt.Errorf("%w: %d of %d rows %s", ErrIsolated, isolated, n, why)
	}
	return nil
}

// Stage returns the progress of a stage.
func (o *Options) Stage(stage string, total int) *rows.Progress {
	return rows.NewProgress(o.Progress, stage, total)
}
