package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The stated privacy of a release passes the check of package release over the
// whole range of calibration, and fails when it claims slightly more.
func TestClaimsPassTheCheck(t *testing.T) {
	b := boundOf(t, sensitivity.ReplaceOne, 6, 3, 1)
	for e := -6.0; e <= 2; e += 0.5 {
		for d := -99.0; d <= -1; d += 4.5 {
			epsilon, delta := min(math.Pow(10, e), 100), min(math.Pow(10, d), 0.1)
			c := calibrate(t, CalibrationSettings{Epsilon: epsilon, Delta: delta, Sensitivity: b})
			r := describe(c, request(6, 3), [16]byte{1})
			if err := r.Check(); err != nil {
				t.Fatalf("epsilon %g, delta %g: %v", epsilon, delta, err)
			}
			r.Privacy.Delta *= 0.99
			if err := r.Check(); !errors.Is(err, release.ErrRelease) {
				t.Errorf("epsilon %g, 0.99 of delta %g: %v", epsilon, delta, err)
			}
		}
	}
}

func TestNilLedgerIsNoBudget(t *testing.T) {
	if err := (FirstStep{}).check(Calibration{}, (*Ledger)(nil)); !errors.Is(err, ErrLedger) {
		t.Error(err)
	}
}
