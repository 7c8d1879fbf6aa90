package iterate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/par"
)

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
	// Into, if set, gets the last iterate in the place of the start, which then stays as it
	// was. It has a row for each point and the columns of the start, and may be the memory
	// of the start.
	Into blas32.General
	// Overwrite lets a run write before it is done to where the last iterate goes. The run then
	// takes the steps of a few columns after the other and holds copies of these alone
	// (ColumnsAtOnce). With the operators csr and pairs rows get the same bits. Sums in records
	// may differ in their last bits, and Progress is called for all steps near the end. On an
	// error that place may hold anything; where it is the start, the start is lost. Overwrite
	// goes without Tolerance and Normalize.
	Overwrite bool
	// Workers share the work of normalising, nil when the caller works alone.
	Workers *par.Workers
	// Progress is called after each step, nil when nobody is told.
	Progress func(Record)
	// Taken is told how many steps are done of those that may be taken, nil when nobody is
	// told. With Overwrite a step counts once for each few columns.
	Taken func(done, total int)
	// Checkpoint is given the state of the run after every Every steps, the last step apart; nil
	// when nobody keeps it. The State is of no use once the function has returned: the next step
	// writes to its memory. An error ends the run. Of ranks each has the whole state, and calls
	// the function. It goes without Overwrite.
	Checkpoint func(*State) error
	// Every is the number of steps from one checkpoint to the next. Default: a tenth of Steps,
	// rounded up.
	Every int
	// From, if set, is where the run goes on in the place of its start, of which the size alone
	// counts. Its steps count among Steps. It goes without Overwrite.
	From *State
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
	if err := out.checkCheckpoints(); err != nil {
		return out, err
	}
	return out, out.refuseOverwrite()
}

// taken tells how many steps are done.
func (s *Settings) taken(done, total int) {
	if s.Taken != nil {
		s.Taken(done, total)
	}
}
