package session

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Reasons of a Refusal, matched with errors.Is. Others are client.ErrChanged, client.ErrEarlierNames,
// client.ErrNewCodebook, mechanism.ErrBudgetExceeded, mechanism.ErrOtherRelation,
// mechanism.ErrUnknownUnit and remote.ErrTooLong.
var (
	// ErrRowsOfName reports a name with two rows, without a setting that says what is sent.
	ErrRowsOfName = errors.New("two rows have the same name, and they differ")
	// ErrEarlierSpends reports a ledger that knows records by the names that they had before a record
	// was its content.
	ErrEarlierSpends = errors.New("records have spent under names, from before a record was its content")
	// ErrOtherOrder reports records that have spent with their columns in the order of their file,
	// where the map of the server has another.
	ErrOtherOrder = errors.New("records have spent with their columns in another order than that of the map")
)

// A Refusal ends a run before it sends or spends anything for a row.
type Refusal struct {
	Err      error          // why
	Row      int            // the first row that it is about, from 0
	Other    int            // of ErrRowsOfName: the row before that has the same name
	Rows     int            // of ErrChanged, ErrEarlierSpends and ErrOtherOrder: how many rows it is about
	Name     string         // of ErrEarlierNames and ErrEarlierSpends: what a record was called before it was its content
	Unit     mechanism.Unit // of ErrUnknownUnit
	Codebook wire.Hash      // of ErrNewCodebook
	Again    bool           // the run had begun before, under a codebook that was replaced
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("session: %v; %s", r.Err, r.Untouched()) }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Err }

// Untouched says that nothing was sent or spent, since the run began or since it began again.
func (r *Refusal) Untouched() string {
	if r.Again {
		return "nothing more about a row was sent, and nothing more was spent"
	}
	return "nothing about a row was sent, and nothing was spent"
}

// refuse completes a refusal.
func (s *Session) refuse(r Refusal) error {
	r.Again = len(s.result.Replaced) > 0
	return &r
}
