package iterate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// Settings are the settings of Run. The zero value of each field, and a nil
// *Settings, mean the default.
type Settings struct {
	// Steps is the largest number of steps. Default 5.
	Steps int
	// Tolerance stops a run when Record.Change is at most this. Default 0:
	// take all steps.
	Tolerance float64
	// Normalize is applied after each step. Default None.
	Normalize Normalization
	// Into, if set, gets the last iterate, and the start stays unchanged. It has a row for
	// each point and the columns of the start, and may be the memory of the start.
	Into blas32.General
	// Overwrite lets a run write to the place of the last iterate before it is done. The run
	// then takes all steps for a few columns at a time and holds copies of only these
	// (see ColumnsAtOnce). With the operators csr and pairs rows get the same bits. Sums in records
	// may differ in their last bits, and Progress is called for all steps near the end. On an
	// error the contents of that place are arbitrary; where it is the start, the start is lost.
	// Overwrite allows neither Tolerance nor Normalize.
	Overwrite bool
	// Workers share the work of normalising; nil means the caller works alone.
	Workers *par.Workers
	// Progress, if set, is called after each step.
	Progress func(Record)
	// Taken, if set, is called with the number of steps done and the number that may be
	// taken. With Overwrite a step counts once for each group of columns.
	Taken func(done, total int)
	// Checkpoint, if set, is called with the state of the run after every Every steps, except
	// after the last step. The State is invalid after the function has returned: the next step
	// writes to its memory. An error ends the run. Each rank has the whole state and calls the
	// function. Overwrite does not allow it.
	Checkpoint func(*State) error
	// Every is the number of steps from one checkpoint to the next. Default: a tenth of Steps,
	// rounded up.
	Every int
	// From, if set, is the state from which the run continues in place of its start, of which
	// only the size counts. Its steps count among Steps. Overwrite does not allow it.
	From *State
}

// Check returns kernel.ErrOption if a setting is outside its range.
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
		return out, fmt.Errorf("iterate: %w: %d steps, want 0 or more", kernel.ErrOption, out.Steps)
	}
	if !(out.Tolerance >= 0) || math.IsInf(out.Tolerance, 0) {
		return out, fmt.Errorf("iterate: %w: tolerance %g, want 0 or more", kernel.ErrOption, out.Tolerance)
	}
	if out.Normalize < None || out.Normalize > Centred {
		return out, fmt.Errorf("iterate: %w: %v", kernel.ErrOption, out.Normalize)
	}
	if err := out.checkCheckpoints(); err != nil {
		return out, err
	}
	return out, out.refuseOverwrite()
}

// taken reports how many steps are done.
func (s *Settings) taken(done, total int) {
	if s.Taken != nil {
		s.Taken(done, total)
	}
}
