package server

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrGallery reports rows or settings that make no gallery.
	ErrGallery = errors.New("gallery not usable")
	// ErrMemory reports work that would take more memory than there is.
	ErrMemory = errors.New("not enough memory")
	// ErrQuestion reports a request that cannot be answered.
	ErrQuestion = errors.New("question not answerable")
	// ErrEpoch reports a request of another epoch.
	ErrEpoch = errors.New("of another epoch")
	// ErrChanges reports versions between which changes are not known.
	ErrChanges = errors.New("changes not known")
	// ErrFull reports a row that has no place in the epoch: a new epoch is due.
	ErrFull = errors.New("no room in the epoch")
	// ErrName reports a name that no row has.
	ErrName = errors.New("no row of that name")
	// ErrBusy reports that as many requests wait as may.
	ErrBusy = errors.New("too many requests wait")
	// ErrClosed reports a call to a gallery that was closed.
	ErrClosed = errors.New("gallery closed")
)
