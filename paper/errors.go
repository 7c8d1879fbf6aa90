package paper

import "errors"

// Sentinels, matched with errors.Is. Rows that cannot be used are kernel.ErrShape,
// kernel.ErrNonFinite, privatemail.ErrZeroRow and kernel.ErrLabels.
var (
	// ErrMethod reports numbers of the method that are out of range or differ between the two
	// sides.
	ErrMethod = errors.New("the method does not fit")
	// ErrRecord reports a record of the wrong shape, or with a label that is not one of the
	// public set.
	ErrRecord = errors.New("record does not fit")
	// ErrQuestion reports a question that cannot be answered.
	ErrQuestion = errors.New("question not answerable")
	// ErrMatches reports matches that cannot be the answer to the question.
	ErrMatches = errors.New("matches do not belong to the question")
)
