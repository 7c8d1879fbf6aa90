package post

import "errors"

// ErrLabelMode reports labels that the mode of the release does not allow, or that
// do not match its rows and classes.
var ErrLabelMode = errors.New("labels do not fit the release")

// ErrScale reports released numbers beyond float32 (Continue) or float64 (Points).
var ErrScale = errors.New("released numbers are out of range")
