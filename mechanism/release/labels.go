package release

import (
	"fmt"
	"slices"
)

// PublicLabels are labels that later steps may use, one for each row: declared
// to be public by the caller, or randomised in a release. Functions take this
// type and not a plain slice so that callers must say which of the two their
// labels are. PublicLabels are immutable and safe for concurrent use.
type PublicLabels struct {
	values  []int32
	classes int
}

// Declare states that values, each in 0 .. classes-1, are public: that showing
// them to anyone discloses nothing about a private record. Nothing can verify
// that. It copies values. A label of -1, which elsewhere means no label, is
// refused: which rows have a label may itself be private, so a partly labelled
// set has to be completed, or used without labels. The error is an ErrLabels.
func Declare(values []int32, classes int) (*PublicLabels, error) {
	switch {
	case classes < 1:
		return nil, &Error{Detail: fmt.Sprintf("%d classes, want at least 1", classes), Err: ErrLabels}
	case len(values) == 0:
		return nil, &Error{Detail: "there are no labels", Err: ErrLabels}
	}
	if i := outside(values, classes); i >= 0 {
		return nil, &Error{Detail: fmt.Sprintf("row %d: want 0 to %d", i+1, classes-1), Err: ErrLabels}
	}
	return &PublicLabels{slices.Clone(values), classes}, nil
}

// PublicLabels returns the randomised labels of the release, and an ErrLabels
// in any other mode.
func (r *Release) PublicLabels() (*PublicLabels, error) {
	if r.Labels.Mode != ModeRandomised {
		return nil, &Error{Field: "labels.mode", Detail: "a release has labels only in mode " + ModeRandomised, Err: ErrLabels}
	}
	return Declare(r.Labels.Values, r.Query.Classes)
}

// Len returns the number of labels.
func (l *PublicLabels) Len() int { return len(l.values) }

// Classes returns the number of classes; some may have no row.
func (l *PublicLabels) Classes() int { return l.classes }

// Values returns a copy of the labels.
func (l *PublicLabels) Values() []int32 { return slices.Clone(l.values) }

// outside returns the index of the first label not in 0 .. classes-1, or -1.
func outside(values []int32, classes int) int {
	return slices.IndexFunc(values, func(v int32) bool { return v < 0 || int(v) >= classes })
}
