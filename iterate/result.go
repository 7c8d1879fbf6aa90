package iterate

import "fmt"

// A Record describes one step.
type Record struct {
	// Step counts from 1.
	Step int
	// Objective is the objective of the iterate before the step.
	Objective float64
	// Scale is the root mean square distance of the rows from their mean,
	// after the step and before normalising.
	Scale float64
	// Change is |X_t - X_{t-1}|_F, after any normalising, relative to the
	// Frobenius norm of X_{t-1} about its mean.
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

// A Result describes a run. The iterate itself is in the memory of the start,
// or in Settings.Into.
type Result struct {
	// Status says how the run ended.
	Status Status
	// Trace has a record for each step that was taken.
	Trace []Record
}
