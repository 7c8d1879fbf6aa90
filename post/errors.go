package post

import "errors"

// ErrLabelMode reports labels that the release has no use for, or of another
// shape than it has.
var ErrLabelMode = errors.New("labels do not fit the release")

// ErrScale reports released numbers beyond float32 (Continue) or float64 (Points).
var ErrScale = errors.New("released numbers are out of range")
