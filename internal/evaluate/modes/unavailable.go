package modes

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// unlessPairs returns the error of a map that labels should have shaped: that no two
// rows share a label is no mistake of the caller, but leaves such a mode without an
// answer.
func unlessPairs(err error) error {
	for _, reason := range []error{supervised.ErrNoPairs, supervised.ErrEqualMeans} {
		if errors.Is(err, reason) {
			return &evaluate.UnavailableError{Reason: reason.Error()}
		}
	}
	return err
}
