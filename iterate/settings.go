package iterate

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// ErrDiverged reports an iterate that grew beyond 1e30 or is no longer finite;
// see DivergedError.
var ErrDiverged = errors.New("the iterate diverges")

// ErrSettings reports a setting outside its range, that of a graph or a step too.
var ErrSettings = kernel.ErrOption

// A DivergedError says in which step an iterate grew out of bounds.
type DivergedError struct {
	Step int
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("iterate: %v: beyond %g at step %d; normalise after each step, take fewer steps or a smaller coefficient", ErrDiverged, maxAbs, e.Step)
}

func (e *DivergedError) Unwrap() error { return ErrDiverged }

// maxAbs is the largest entry an iterate may have: far below the float32
// limit, so that no square of it in a sum overflows float64.
const maxAbs = 1e30

// Normalization says what is done to the iterate after each step.
type Normalization int

// The normalisations.
const (
	// None leaves the iterate as it is, as the paper's text does.
	None Normalization = iota
	// Frobenius scales the iterate to |X|_F = sqrt(n).
	Frobenius
	// Centred subtracts the column means, then scales to |X|_F = sqrt(n).
	Centred
)

func (n Normalization) String() string {
	switch n {
	case None:
		return "none"
	case Frobenius:
		return "frobenius"
	case Centred:
		return "centred"
	}
	return fmt.Sprintf("Normalization(%d)", int(n))
}

// NormalizationByName returns the normalisation a command names.
func NormalizationByName(name string) (Normalization, error) {
	for n := None; n <= Centred; n++ {
		if n.String() == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("iterate: %w: no normalisation %q; there are none, frobenius and centred", ErrSettings, name)
}

// Settings steer Run. The zero value of each field, and a nil *Settings, mean
// the default.
type Settings struct {
	// Steps is the largest number of steps. Default 5.
	Steps int
	// Tolerance stops a run when Record.Change is at most this. Default 0:
	// take all steps.
	Tolerance float64
	// Normalize is applied after each step. Default None.
	Normalize Normalization
	// Workers share the work of normalising. Default: the caller alone.
	Workers *par.Workers
	// Progress, if set, is called after each step.
	Progress func(Record)
}

// Check returns ErrSettings if a setting is outside its range.
func (s *Settings) Check() error {
	_, err := s.withDefaults()
	return err
}

func (s *Settings) withDefaults() (Settings, error) {
	var out Settings
	if s != nil {
		out = *s
	}
	if out.Steps == 0 {
		out.Steps = 5
	}
	if out.Steps < 0 {
		return out, fmt.Errorf("iterate: %w: %d steps", ErrSettings, out.Steps)
	}
	if !(out.Tolerance >= 0) || math.IsInf(out.Tolerance, 0) {
		return out, fmt.Errorf("iterate: %w: tolerance %g, want 0 or more", ErrSettings, out.Tolerance)
	}
	if out.Normalize < None || out.Normalize > Centred {
		return out, fmt.Errorf("iterate: %w: %v", ErrSettings, out.Normalize)
	}
	return out, nil
}

// A Record describes one step.
type Record struct {
	Step int
	// Objective is v of the iterate the step started from.
	Objective float64
	// Scale is the root mean square distance of the rows from their mean,
	// after the step and before normalising.
	Scale float64
	// Change is |X_t - X_{t-1}|_F, after normalising where that is asked for,
	// relative to what |X_{t-1}|_F is about its mean.
	Change float64
}

// Status says how a run ended.
type Status int

// The ways to end.
const (
	StepLimit Status = iota // all steps were taken
	Converged               // the change fell to the tolerance
)

func (s Status) String() string {
	switch s {
	case StepLimit:
		return "step limit"
	case Converged:
		return "converged"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// A Result is the outcome of a run; the iterate itself is where the start was.
type Result struct {
	Status Status
	Trace  []Record
}
