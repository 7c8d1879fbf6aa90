package paper

import "errors"

// Sentinels, matched with errors.Is. Rows that cannot be used are kernel.ErrShape,
// kernel.ErrNonFinite, privatemail.ErrZeroRow and kernel.ErrLabels, in this package and those
// below it.
var (
	// ErrDegenerate reports anchors that do not determine an alignment; the
	// error is a *DegenerateError.
	ErrDegenerate = errors.New("the anchors do not determine an alignment")
	// ErrMethod reports numbers of the method that are out of range, or that differ
	// between the two sides.
	ErrMethod = errors.New("the method does not fit")
	// ErrQuestion reports a question that cannot be answered.
	ErrQuestion = errors.New("question not answerable")
	// ErrMatches reports matches that cannot be the answer to the question.
	ErrMatches = errors.New("matches do not belong to the question")
)
