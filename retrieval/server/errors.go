package server

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrGallery reports a gallery that cannot be searched as asked.
	ErrGallery = errors.New("gallery not usable")
	// ErrQuestion reports a question that cannot be answered.
	ErrQuestion = errors.New("question not answerable")
	// ErrClosed reports a call to a gallery that was closed.
	ErrClosed = errors.New("gallery closed")
)
