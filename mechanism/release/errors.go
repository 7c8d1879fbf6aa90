package release

import (
	"errors"
	"fmt"
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

// A fault is a kind of invalid release with words of its own. It matches ErrRelease.
type fault string

const (
	errChecksum fault = "checksum does not match"
	errVersion  fault = "version not supported"
)

func (f fault) Error() string { return string(f) }

// Is makes errors.Is find ErrRelease.
func (f fault) Is(target error) bool { return target == ErrRelease }

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
