package privatize

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// worth is what the noise of a release leaves of its entries. Both numbers are those that
// PrivateSettings.Confirm gets: they follow from public numbers, and with -rest-public from
// public rows.
type worth struct {
	noise  mechanism.Calibration
	signal float64 // a typical entry of the first step
}

// ratio is noise over signal.
func (w worth) ratio() float64 {
	if w.signal > 0 {
		return w.noise.Sigma() / w.signal
	}
	return math.Inf(1)
}

// drowned reports whether the noise of an entry exceeds its signal.
func (w worth) drowned() bool { return !(w.ratio() <= 1) }

// errDrowned is a release that was refused because its noise exceeds its signal.
var errDrowned = errors.New("the noise of an entry exceeds its signal")

// refusal is the error about a release that says little, nil where the noise is small enough.
func (w worth) refusal() error {
	if !w.drowned() {
		return nil
	}
	return fmt.Errorf("%w: it is %.3g times a typical entry of the first step, so the release would say little about any row; nothing is spent; -dry-run shows the figures; a larger -epsilon or -sigma helps, and so does -relation features-replace where labels are public; -anyway releases all the same", errDrowned, w.ratio())
}
