package post

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
)

// Settings of Continue. The zero value of every field means its default, and a nil
// *Settings means all defaults.
type Settings struct {
	// Bandwidth of the Gaussian weights between released points. Default: the
	// bandwidth of the first step, as in the paper, which suits only a start Q of
	// its size. When the points are much closer together every weight is nearly 1
	// and the graph is useless.
	Bandwidth kernel.Bandwidth
	// MeanNeighbours, if set, chooses the bandwidth at which rows have this many
	// neighbours on average.
	MeanNeighbours float64
	// CutoffWeight, Tolerance, Operator and Isolated are as in
	// privatemail.Graph.
	CutoffWeight float64
	Tolerance    float64
	Operator     string
	Isolated     kernel.IsolatedPolicy

	// Alpha is the coefficient of the label term; nil means the one of the first
	// step. Without labels there is no label term for any Alpha.
	Alpha *float64
	// Steps is the number of further steps. Default 4.
	Steps int
	// StopTolerance and Normalize are as in privatemail.Settings.
	StopTolerance float64
	Normalize     iterate.Normalization

	// Into, if set, gets the points in float32, in which they are computed, and Points of the
	// result is nil: no copy in float64 is made. It has the rows and columns of the release.
	// On an error it is unchanged.
	Into blas32.General

	// Workers share the work; nil means the caller works alone.
	Workers *par.Workers
	// Ranks share the work with other processes, which make the same call; nil means one
	// process.
	Ranks *par.Ranks
	// Kernels do the inner loops; nil means the best of this machine.
	Kernels *simd.Kernels
	// MaxMemory is the memory that may be taken. Default: three quarters of the
	// available memory.
	MaxMemory int64
	// Reserve, if set, is called with all the memory that will be held, before any is
	// taken, and returns without waiting whether it may be taken; see kernel.Options.
	Reserve func(bytes int64) bool
	// Calibration is the speed of the machine, for the choice of an operator; nil
	// means to measure this machine, once in a process.
	Calibration *kernel.Calibration
	// Progress, if set, is called during long work.
	Progress func(stage string, done, total int)
}

// withDefaults returns a copy of settings that may be nil, with the default of Steps.
func (s *Settings) withDefaults() (out Settings, err error) {
	if s != nil {
		out = *s
	}
	if err := out.graph().Check(); err != nil {
		return out, err
	}
	switch {
	case out.Steps < 0:
		return out, fmt.Errorf("%w: %d steps, want 0 or more", kernel.ErrOption, out.Steps)
	case out.Steps == 0:
		out.Steps = 4
	}
	return out, out.run().Check()
}

// graph returns the settings of the weights of the graph.
func (s *Settings) graph() *pipeline.GraphSettings {
	return &pipeline.GraphSettings{Bandwidth: s.Bandwidth, MeanNeighbours: s.MeanNeighbours, CutoffWeight: s.CutoffWeight}
}

// run returns the settings of the loop.
func (s *Settings) run() *iterate.Settings {
	run := &iterate.Settings{Steps: s.Steps, Tolerance: s.StopTolerance, Normalize: s.Normalize, Into: s.Into, Workers: s.Workers}
	if s.Progress != nil {
		run.Taken = func(done, total int) { s.Progress("steps", done, total) }
	}
	return run
}

// graphOptions returns the options for the graph of a release, with the rest of the
// memory limit.
func (s *Settings) graphOptions(r *release.Release, labels *kernel.Labels) (o *kernel.Options, err error) {
	o = &kernel.Options{
		Tolerance: s.Tolerance, Isolated: s.Isolated, Operator: s.Operator, Steps: s.Steps, Columns: r.Columns,
		Workers: s.Workers, Ranks: s.Ranks, Kernels: s.Kernels, Calibration: s.Calibration, Progress: s.Progress,
	}
	limit := cmp.Or(s.MaxMemory, mem.DefaultLimit())
	own := s.ownBytes(r, labels)
	what := fmt.Sprintf("embedding of %d x %d", r.Rows, r.Columns)
	if o.MaxMemory, err = pipeline.Reserve(limit, own, what); err != nil || s.Reserve == nil {
		return o, err
	}
	if !s.Reserve(int64(own)) {
		return o, &kernel.MemoryError{What: what, Need: int64(own), Limit: limit}
	}
	o.Reserve = func(bytes int64) bool { return s.Reserve(int64(own) + bytes) }
	return o, nil
}

// ownBytes is the memory for the points, the iterates, the result and the class
// sums.
func (s *Settings) ownBytes(r *release.Release, labels *kernel.Labels) float64 {
	result := 4 + 8 // a copy of the start, and the result in float64
	if s.Into.Data != nil {
		result = 4
	}
	return float64(r.Rows)*float64(r.Columns)*float64(8+8+4+4+4+result) + pipeline.LabelBytes(r.Rows, r.Columns, labels)
}
