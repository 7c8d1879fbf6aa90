package privatemail

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Graph says which rows of the features are neighbours, and with which weights. One of
// Bandwidth, MeanNeighbours, CutoffRadius and Neighbours is required; the zero value of every
// other field means its default.
type Graph struct {
	// Bandwidth of the Gaussian weights between features, for instance
	// kernel.Sigma(6).
	Bandwidth kernel.Bandwidth
	// MeanNeighbours, if set, chooses the bandwidth at which rows have this many
	// neighbours on average, found by sampling. The graph is then truncated at
	// CutoffWeight, unless Operator names one that does not truncate: then it is
	// the full kernel of that bandwidth.
	MeanNeighbours float64
	// Neighbours, if set, chooses the graph of the nearest neighbours: two rows have a
	// weight if one of them is among this many rows nearest to the other. Every row has its
	// own bandwidth (kernel.Options.SelfTuned). Only the operator csr supports this, and no
	// row is isolated.
	Neighbours int
	// CutoffWeight, if set, truncates the graph where a weight is below it. The
	// graph then does not depend on Tolerance; the certificate says how far it is
	// from the full kernel. Default: 1e-3 with MeanNeighbours; with Bandwidth
	// the cutoff follows from Tolerance. Range (0, 1).
	CutoffWeight float64
	// CutoffRadius, if set, truncates the graph at a distance instead: two rows have a weight
	// if their distance is at most this, computed in float64. The graph is then fixed, as with
	// CutoffWeight. Without a Bandwidth the weight at this distance is kernel.DegreeCutoff; with
	// one, pairs whose weight would be below 1.2e-38 have none. It excludes CutoffWeight,
	// MeanNeighbours and Neighbours.
	CutoffRadius float64
	// Tolerance is the largest error of a row's weights relative to its degree,
	// met by 99 in 100 rows of a sample. The certificate has every row, and
	// Isolated decides about the others. Default 1e-4.
	Tolerance float64
	// Operator forces an operator by name, one of kernel.OperatorNames. Default:
	// the first of those Plan lists that keeps the tolerance.
	Operator string
	// Isolated decides about rows without neighbours and rows that miss the
	// tolerance. Default kernel.Keep.
	Isolated kernel.IsolatedPolicy
	// Standardize subtracts its mean from every feature column and divides it by its standard
	// deviation first, so that no column outweighs others by its unit (points.StandardizeColumns).
	// A run in form Attract then begins at these rows. It is for features that are not private.
	Standardize bool
	// NormalizeRows divides every feature row by its norm first, after Standardize.
	NormalizeRows bool
}

// Settings of Embed. The zero value of every field except Graph means its default.
type Settings struct {
	Graph

	// Form is the form of the step. Default kernel.Paper.
	Form kernel.Form
	// Coefficient is alpha in form Paper, beta in form Attract. Default 0: no
	// label term.
	Coefficient float64
	// Table is the weight between labels. Default kernel.EqualTable in form
	// Paper, kernel.BalancedTable in form Attract.
	Table kernel.Table
	// AllowUnlabelled accepts rows with the label -1, which feel no label term.
	AllowUnlabelled bool

	// Start is the iterate to begin with, n rows. Default: in form Paper a
	// random start of Dim columns, in form Attract the features.
	Start blas32.General
	// Dim, SigmaQ and Seed describe the random start: its number of columns (default
	// 2), standard deviation (default 1e-8, the paper's) and seed (any number;
	// the command's default is 1).
	Dim    int
	SigmaQ float64
	Seed   uint64

	// Steps is the number of steps. Default 5 in form Paper; 1 in form Attract,
	// which is meant to stop early.
	Steps int
	// StopTolerance ends the run when the relative change of a step is at most
	// this. Default 0: take all steps.
	StopTolerance float64
	// Normalize rescales after each step. Default iterate.None.
	Normalize iterate.Normalization

	// Into, if set, gets the points in float32, in which they are computed, and Points of the
	// result is nil: no copy in float64 is made. It has a row for each row of the features
	// and as many columns as the points. The memory limit counts it. On an error it is unchanged.
	// It shares no memory with the features, which stay unchanged; it may be the memory of
	// Start. It must not be used otherwise during the call.
	Into blas32.General
	// Overwrite lets Embed write to Into before it is done, in steps of a few columns at a time: it
	// saves the memory of two more copies of the points. Points get the same bits where the graph
	// is truncated. On an error the contents of Into, and of a Start in its memory, are lost. Where
	// the graph is truncated by MeanNeighbours, CutoffWeight, CutoffRadius or Neighbours, Into may
	// then be the features themselves, which are overwritten once the graph is built. It excludes
	// StopTolerance, Normalize and checkpoints.
	Overwrite bool

	// Checkpoint, if set, is called after every CheckpointEvery steps, except after the last, with
	// everything needed to continue from there. Its argument is invalid once it has returned:
	// Checkpoint.Save writes it to a file. An error ends the run. It must not call the Engine.
	// Each rank calls its own function; the checkpoint is the same on all, so one rank may keep it.
	Checkpoint func(*Checkpoint) error
	// CheckpointEvery is the number of steps from one checkpoint to the next. Default: a tenth
	// of Steps, rounded up.
	CheckpointEvery int
	// Resume, if set, is a checkpoint from which the run continues. Its steps count among Steps,
	// and the result has the same bits as a run that was not interrupted. Features, labels and
	// settings must be those of the run that made it; Steps, StopTolerance and the number of
	// workers and ranks may differ. The default of Operator is the one of that run. Every rank
	// gets it.
	Resume *Checkpoint

	identity  map[string]string // everything that decides the result, where there are checkpoints
	full      bool              // for a Kernel: not truncated, with a copy of the rows that outlives the call
	stepBytes float64           // bytes that are taken when the graph is built
}

// withDefaults returns a copy with the defaults that depend on other settings.
func (s *Settings) withDefaults(features blas32.General) (Settings, error) {
	if s == nil {
		return Settings{}, fmt.Errorf("%w: no settings: a bandwidth or a number of neighbours is required", ErrSettings)
	}
	if rows, cols, err := points.Dims(features); err != nil {
		return Settings{}, fmt.Errorf("features: %w", err)
	} else if rows < 1 || cols < 1 {
		return Settings{}, fmt.Errorf("features: %w (%d x %d)", kernel.ErrEmpty, rows, cols)
	}
	out := *s
	out.resumeOperator()
	weights := out.weights()
	if !weights.Given() {
		return out, fmt.Errorf("%w: a bandwidth, a number of neighbours or a cutoff radius is required", ErrSettings)
	}
	if err := weights.Check(); err != nil {
		return out, err
	}
	if err := out.setStart(features); err != nil {
		return out, err
	}
	out.setForm()
	return out, out.run(nil).Check()
}

// setStart fills in the defaults of the start and refuses one that does not fit.
func (s *Settings) setStart(features blas32.General) error {
	if s.Dim < 0 || s.Steps < 0 {
		return fmt.Errorf("%w: %d columns, %d steps, want 0 or more", ErrSettings, s.Dim, s.Steps)
	}
	if s.Dim == 0 {
		s.Dim = 2
	}
	if s.Start.Data != nil {
		rows, cols, err := points.Dims(s.Start)
		if err != nil || rows != features.Rows || cols < 1 {
			return fmt.Errorf("%w: a start of %d x %d for %d rows", kernel.ErrShape, s.Start.Rows, s.Start.Cols, features.Rows)
		}
		if err := points.CheckStart(s.Start); err != nil {
			return err
		}
		s.Dim = cols
	} else if s.Form == kernel.Attract {
		s.Dim = features.Cols
	}
	if s.SigmaQ == 0 {
		s.SigmaQ = 1e-8
	}
	if !(s.SigmaQ >= 1e-30 && s.SigmaQ <= 1e30) { // well within float32
		return fmt.Errorf("%w: sigma_q %g, want a number from 1e-30 to 1e30", ErrSettings, s.SigmaQ)
	}
	return nil
}

// setForm fills in the defaults that depend on the form: the table and the
// steps.
func (s *Settings) setForm() {
	table, steps := kernel.EqualTable(), 5
	if s.Form == kernel.Attract {
		table, steps = kernel.BalancedTable(), 1
	}
	if s.Table.IsZero() && s.Table.Name() == "" {
		s.Table = table
	}
	if s.Steps == 0 {
		s.Steps = steps
	}
}

// weights returns the settings of the weights of the graph.
func (g *Graph) weights() *pipeline.GraphSettings {
	return &pipeline.GraphSettings{Bandwidth: g.Bandwidth, MeanNeighbours: g.MeanNeighbours, CutoffWeight: g.CutoffWeight, CutoffRadius: g.CutoffRadius, Neighbours: g.Neighbours}
}

// alone returns the settings of a call that has no others than those of the graph.
func (g *Graph) alone() *Settings {
	if g == nil {
		return nil
	}
	return &Settings{Graph: *g}
}

// run returns the settings of the loop.
func (s *Settings) run(workers *par.Workers) *iterate.Settings {
	run := &iterate.Settings{Steps: s.Steps, Tolerance: s.StopTolerance, Normalize: s.Normalize, Into: s.Into, Overwrite: s.Overwrite, Workers: workers}
	s.addCheckpoints(run)
	return run
}
