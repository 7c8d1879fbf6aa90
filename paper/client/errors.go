package client

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrRecord reports a record of the wrong shape, or with a label that is not one of
	// the public set.
	ErrRecord = errors.New("record does not fit")
	// ErrLabelDisclosed reports settings that would show a label which the
	// relation says is protected.
	ErrLabelDisclosed = errors.New("the label is protected and would be disclosed")
)
