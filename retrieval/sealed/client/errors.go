package client

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Sentinels, matched with errors.Is.
var (
	// ErrEpoch reports a manifest that nobody vouches for, or something that belongs to another
	// one.
	ErrEpoch = errors.New("another epoch, or one that is not confirmed")
	// ErrRecord reports a row that is no query: of the wrong dimension, not finite, or too long;
	// and a record that the server does not have.
	ErrRecord = errors.New("record does not fit")
	// ErrAnswer reports an answer to another question, or to one whose secrets were overwritten: it
	// is asked again.
	ErrAnswer = errors.New("answer does not belong to the question")
	// ErrVersion reports a version of the gallery that the client does not have.
	ErrVersion = errors.New("the client does not have this version of the gallery")
)

// errForgotten is a kind of ErrAnswer.
var errForgotten = errkind.Of(ErrAnswer, "the secrets of the query were overwritten")

// errRecordData is a kind of wire.ErrMessage: a fetched record that the server should not have sent.
var errRecordData = errkind.Of(wire.ErrMessage, "malformed record")

// A VersionError says which version a client does not have. Where Have is below Want,
// wire.SealedChanges from Have to Want make up for it (Client.Update), and the same answer can
// be ranked then. Otherwise the version is too old, and the query is asked again.
type VersionError struct {
	Have uint64 // the newest version up to Want that the client has, or the oldest it has
	Want uint64
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("client: %v: %d, and it has %d", ErrVersion, e.Want, e.Have)
}

// Unwrap returns ErrVersion.
func (e *VersionError) Unwrap() error { return ErrVersion }
