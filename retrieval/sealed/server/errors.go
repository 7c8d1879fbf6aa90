package server

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// Sentinels, matched with errors.Is.
var (
	// ErrGallery reports rows, records or settings that make no gallery, and a name that no row
	// has.
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
	// ErrClosed reports a call to a gallery that was closed.
	ErrClosed = errors.New("gallery closed")
)

// Kinds of ErrGallery.
var (
	errRecords = errkind.Of(ErrGallery, "records not usable")
	errName    = errkind.Of(ErrGallery, "no row of that name")
)
