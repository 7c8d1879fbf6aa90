package measure

import (
	"math"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
)

// processorTimes are times of all processors of a machine together, in any unit.
type processorTimes struct {
	worked float64
	stolen float64 // that a virtual machine wanted to work, and its host had it wait
}

// unknownTimes are those of a system that does not tell.
var unknownTimes = processorTimes{math.NaN(), math.NaN()}

// add adds what has passed between two readings. The counters of some systems go back.
func (t *processorTimes) add(before, after processorTimes) {
	t.worked += max(after.worked-before.worked, 0)
	t.stolen += max(after.stolen-before.stolen, 0)
}

// share is which share of the time that processors wanted to work their host had them wait; nil
// where the system does not tell.
func (t processorTimes) share() *float64 {
	if t.stolen == 0 {
		return figures.Finite(0)
	}
	return figures.Finite(t.stolen / (t.stolen + t.worked))
}
