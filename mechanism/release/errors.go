package release

import (
	"errors"
	"fmt"
)

// Sentinels, matched with errors.Is.
var (
	// ErrRelease reports a release with an invalid field, or bytes that are not
	// a release.
	ErrRelease = errors.New("not a valid release")
	// ErrChecksum reports a release that was changed after it was written.
	ErrChecksum = errors.New("checksum does not match")
	// ErrVersion reports a format or a mechanism of another version.
	ErrVersion = errors.New("version not supported")
	// ErrLabels reports labels outside 0 .. classes-1, or a release without
	// any.
	ErrLabels = errors.New("labels not usable")
)

// An Error says what is wrong with a release, and where. It wraps one of the
// sentinels.
type Error struct {
	Field  string // as the JSON form spells it: "privacy.epsilon"; "" for no single field
	Detail string // what was wrong, in words
	Err    error  // one of the sentinels
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("release: %v: %s", e.Err, e.Detail)
	}
	return fmt.Sprintf("release: %v: %s: %s", e.Err, e.Field, e.Detail)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// refuse returns an ErrRelease about a field.
func refuse(field, format string, args ...any) error {
	return &Error{Field: field, Detail: fmt.Sprintf(format, args...), Err: ErrRelease}
}
