package client

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrRecord reports a record of the wrong shape, or without a name.
	ErrRecord = errors.New("record does not fit")
	// ErrLabelDisclosed reports settings that would show a label which the
	// relation says is protected.
	ErrLabelDisclosed = errors.New("the label is protected and would be disclosed")
	// ErrAnswer reports an answer to another question.
	ErrAnswer = errors.New("answer does not belong to the question")
	// ErrMemory reports that what was released cannot be remembered, or that
	// what was remembered cannot be read. Nothing is released then.
	ErrMemory = errors.New("memory of releases not usable")
	// ErrNewCodebook reports a codebook that the memory has not been used with, while it has
	// been with others. Nothing is released then; see CellsSettings.NewCodebook.
	ErrNewCodebook = errors.New("the memory has been used with other codebooks and not with this one, under which each record spends its epsilon again")
)
