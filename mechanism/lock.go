package mechanism

import (
	"errors"
	"fmt"
	"os"

	"github.com/seed-64e14a55/privatemail/internal/lock"
)

// openLocked opens a ledger and locks it. Where files cannot be locked it
// always fails: two processes could spend the same budget.
func openLocked(path string) (*os.File, error) {
	f, err := lock.Open(path, 0)
	if errors.Is(err, lock.ErrHeld) {
		return nil, fmt.Errorf("mechanism: %w", ErrLocked)
	}
	if err != nil {
		return nil, ledgerFailure(err)
	}
	return f, nil
}
