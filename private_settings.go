package privatemail

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// PrivateSettings describe a release and its price. All of them are public, and
// must have been chosen without looking at a private record. The settings of
// privacy have no default: Epsilon, Delta, Relation, LabelMode, Ledger and Unit
// are required.
type PrivateSettings struct {
	// Epsilon and Delta are the guarantee of the noise for one row, or for Records
	// rows that change together.
	Epsilon, Delta float64
	// Relation says which change of one record is protected. Under
	// sensitivity.ReplaceOne the identity of the record is protected.
	Relation sensitivity.Relation
	// LabelMode says what happens to labels after the release: release.ModePublic,
	// which needs a relation under which the label is public, release.ModeDropped
	// or release.ModeRandomised.
	LabelMode string
	// LabelEpsilon is the price of randomised labels, in addition to Epsilon.
	LabelEpsilon float64
	// Ledger is a *mechanism.Ledger, mechanism.NoLedger, or another budget.
	Ledger mechanism.Budget
	// Unit is the unit whose budget is spent. A ledger keeps a keyed hash of
	// its name, a release only its kind. Rows that are released together share
	// one unit; see mechanism.Unit. NoLedger needs a name too, and forgets it.
	Unit mechanism.Unit
	// Records is the largest number of rows of the unit, a public number: the
	// noise protects a change of all of them together. Default 1 for a record;
	// required for a client.
	Records int
	// Rule chooses the noise. Default mechanism.Analytic.
	Rule mechanism.Rule

	// Bandwidth of the Gaussian weights between features. Required.
	Bandwidth kernel.Bandwidth
	// Alpha is the coefficient of the label term, of either sign. Default 0.
	Alpha float64
	// Table is the weight between labels: "equal" (default), "different" or
	// "gaussian" with the bandwidth of the features. No bound covers others.
	Table string
	// Classes is the public number of classes: labels are 0 .. Classes-1.
	// Required unless Alpha is 0 and no labels are released.
	Classes int
	// Dim, SigmaQ and Seed describe the public random start, as in
	// Settings.
	Dim    int
	SigmaQ float64
	Seed   uint64

	// NormalizeRows divides every row by its norm first; otherwise rows must be
	// of unit norm within 1e-6. Under the relations with a null record one row
	// may be zero, and is then the private one.
	NormalizeRows bool
	// Operator is "dense", the full kernel pair by pair; "poly", the same by a
	// polynomial of the least order whose error adds no more than a hundredth to the
	// sensitivity, for wide bandwidths; or "background", the kernel truncated at Radius
	// with a constant weight beyond, which is sparse. Default, from public numbers
	// only: dense up to 65,536 rows; above that, background where a weight of 1e-3 is
	// within a distance of 1, else poly where an order suffices, else dense.
	Operator string
	// Radius of the operator background. Default: the distance at which a weight
	// is 1e-3.
	Radius float64

	// PrivateRows lists the rows that may be private, nil when any row may be. The
	// list must be public knowledge.
	PrivateRows []int
	// RestPublic says that one row is private, named by PrivateRows, and that
	// all others, their labels and their number are public and do not depend on
	// it. The noise is then much smaller.
	RestPublic bool

	// Confirm, if set, is called before the ledger is asked, with the noise and a typical entry of
	// the first step (sensitivity.Query.Signal). If it returns an error the call ends, and nothing is
	// spent. Both arguments follow from public numbers, so Confirm is called before a row is read;
	// with RestPublic they also depend on the public rows, and all rows have been checked. It may
	// be called more than once, and must not call the Engine. Sensitivity does not call it.
	Confirm func(noise mechanism.Calibration, signal float64) error
}

// withDefaults returns a copy with the defaults of the query.
func (s *PrivateSettings) withDefaults() (PrivateSettings, error) {
	if s == nil {
		return PrivateSettings{}, fmt.Errorf("%w: no settings", ErrSettings)
	}
	out := *s
	if out.Dim < 0 {
		return out, fmt.Errorf("%w: %d columns, want 0 or more", ErrSettings, out.Dim)
	}
	if out.Dim == 0 {
		out.Dim = 2
	}
	if out.Records < 0 {
		return out, fmt.Errorf("%w: %d records, want 0 or more", ErrSettings, out.Records)
	}
	if out.SigmaQ == 0 {
		out.SigmaQ = 1e-8
	}
	if out.Table == "" {
		out.Table = "equal"
	}
	if out.Classes == 0 && out.Alpha == 0 && out.LabelMode != release.ModeRandomised {
		out.Classes = 1 // no label is read
	}
	if err := out.Bandwidth.Check(); err != nil {
		return out, err
	}
	return out, nil
}
