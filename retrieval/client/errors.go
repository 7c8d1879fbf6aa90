package client

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrRecord reports a record of the wrong shape, or one that is neither its content nor a
	// name.
	ErrRecord = errors.New("record does not fit")
	// ErrAnswer reports an answer to another question.
	ErrAnswer = errors.New("answer does not belong to the question")
	// ErrMemory reports that what was released cannot be remembered, or that
	// what was remembered cannot be read. Nothing is released then.
	ErrMemory = errors.New("memory of releases not usable")
	// ErrChanged reports a name whose row is another than those it was released with. Nothing
	// is released then; see CellsSettings.Changed.
	ErrChanged = errors.New("the row of the name has changed")
	// ErrEarlierNames reports a memory of the formats before a record was its content. It holds
	// sets of names, and whose rows these were is not known: a row that is asked for by its
	// content may be one of them, and would spend again. Such a memory serves ByName.
	ErrEarlierNames = errors.New("the memory holds sets of names, and not of which rows they are: it is from before a record was its content")
	// ErrNewCodebook reports a codebook that the memory has not been used with, while it has
	// been with others. Nothing is released then; see CellsSettings.NewCodebook.
	ErrNewCodebook = errors.New("the memory has been used with other codebooks and not with this one, under which each record spends its epsilon again")
)
