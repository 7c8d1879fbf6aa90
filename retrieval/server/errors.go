package server

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrGallery reports a gallery that cannot be searched as asked.
	ErrGallery = errors.New("gallery not usable")
	// ErrCells reports numbers from which no codebook can be made.
	ErrCells = errors.New("no codebook for these numbers")
	// ErrQuestion reports a question that cannot be answered.
	ErrQuestion = errors.New("question not answerable")
	// ErrClosed reports a call to a gallery that was closed.
	ErrClosed = errors.New("gallery closed")
)
