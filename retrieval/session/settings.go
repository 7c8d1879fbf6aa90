package session

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Mode is what the server may learn of a row; see package retrieval.
type Mode string

// The modes.
const (
	Cells  Mode = "cells"  // a random set of cells, private by epsilon
	Sealed Mode = "sealed" // nothing: the row is encrypted
	All    Mode = "all"    // nothing: the whole gallery is taken
)

// Settings say how a run asks. Mode and K are required.
type Settings struct {
	Mode Mode
	// K is how many nearest rows are wanted for each row.
	K int
	// Remote says how the server is reached, and which codebook or epoch is confirmed. Its Memory is
	// that of the whole run; 0 stands for what this machine has. Its Progress is set by the session.
	Remote remote.Settings
	// Unconfirmed takes the codebook or the epoch that the server has now.
	Unconfirmed bool
	// Labels, if not nil, is given the labels of the gallery before a number of a row is looked at.
	// An error ends the run then. It may be called again where a run begins again.
	Labels func(*wire.Labels) error
	// Progress, if not nil, is told how far a long download is, in KiB, and how many rows were asked
	// for, as the stage "queries".
	Progress func(stage string, done, total int)

	// The rest but for the last two is for mode Cells.

	// Encoding is how rows come back.
	Encoding wire.Encoding
	// Epsilon is what a record spends.
	Epsilon float64
	// OpenLedger opens the ledger to spend from it, and ReadLedger reads it. Required unless
	// Uncounted is set: then records spend what nobody counts.
	OpenLedger func() (*mechanism.Ledger, error)
	ReadLedger func() (*mechanism.Snapshot, error)
	Uncounted  bool
	// Client is whose budget pays for all records. Default: each record pays from its own.
	Client string
	// NewUnits lets units spend that the ledger does not know, and OtherRelation such as have spent
	// for the protection of other data sets.
	NewUnits, OtherRelation bool
	// Sent is the folder with what was sent, which is sent again at no cost. Required unless
	// Forgotten is set: then every run of a record spends again.
	Sent      string
	Forgotten bool
	// NewCodebook goes on with a codebook that Sent has not been used with, also in the middle of a run.
	NewCodebook bool
	// Changed says what to do with a name whose row has changed.
	Changed client.Changed

	// Fetch is for mode Sealed: it also fetches the records of the nearest rows, K for each row.
	Fetch bool
	// RecordsEpoch is the hash of the manifest of the records that is confirmed, if there is one.
	RecordsEpoch wire.Hash
}

// confirmed reports whether a second path vouches for the codebook or the epoch.
func (s *Settings) confirmed() bool {
	return s.Remote.Codebook != wire.Hash{} || s.Remote.Epoch != wire.Hash{}
}

// check refuses settings that no run can have.
func (s *Settings) check() error {
	switch {
	case s.Mode != Cells && s.Mode != Sealed && s.Mode != All:
		return fmt.Errorf("session: there is no mode %q", s.Mode)
	case s.K < 1:
		return fmt.Errorf("session: %d nearest rows, want 1 or more", s.K)
	case (s.OpenLedger == nil) != (s.ReadLedger == nil):
		return fmt.Errorf("session: OpenLedger and ReadLedger go together")
	case s.Mode == Cells && (s.OpenLedger == nil) != s.Uncounted:
		return fmt.Errorf("session: mode cells spends epsilon: want either a ledger or Uncounted")
	case s.Mode == Cells && (s.Sent == "") != s.Forgotten:
		return fmt.Errorf("session: mode cells keeps what it sends: want either the folder Sent or Forgotten")
	}
	s.Remote.Memory = cmp.Or(s.Remote.Memory, mem.DefaultLimit())
	return nil
}

// Rows are what is asked for.
type Rows struct {
	// X has the rows. They must not change until the run has ended.
	X blas32.General
	// File is where they are from, for messages.
	File string
	// Names has the name of the record of each row. Default: a record is its content.
	Names []string
	// Columns has the names of the columns, and Order returns where each of those that are wanted is
	// among them: nil where columns stay as they are. Order is required with Columns;
	// without both columns have no names.
	Columns []string
	Order   func(want, have []string) ([]int, error)
}
