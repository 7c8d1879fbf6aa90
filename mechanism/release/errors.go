package release

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// Sentinels, matched with errors.Is.
var (
	// ErrRelease reports a release with an invalid field, or bytes that are not
	// a release. It is also a release that was changed after it was written, and a
	// format or a mechanism of another version.
	ErrRelease = errors.New("not a valid release")
	// ErrLabels reports labels outside 0 .. classes-1, or a release without
	// any.
	ErrLabels = errors.New("labels not usable")
)

// Kinds of ErrRelease.
var (
	errChecksum = errkind.Of(ErrRelease, "checksum does not match")
	errVersion  = errkind.Of(ErrRelease, "version not supported")
)

// An Error says what is wrong with a release, and where. It matches one of the
// sentinels.
type Error struct {
	Field  string // as the JSON form spells it: "privacy.epsilon"; "" for no single field
	Detail string // what was wrong, in words
	Err    error  // one of the sentinels, or matches one
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("release: %v: %s", e.Err, e.Detail)
	}
	return fmt.Sprintf("release: %v: %s: %s", e.Err, e.Field, e.Detail)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// refuse returns an ErrRelease about a field.
func refuse(field, format string, args ...any) error {
	return &Error{Field: field, Detail: fmt.Sprintf(format, args...), Err: ErrRelease}
}
