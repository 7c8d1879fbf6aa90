package sections

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/formats"
)

// The kinds of failure, matched with errors.Is.
var (
	// ErrForeign reports a file that is not in this format. It matches formats.ErrUnsupported.
	ErrForeign error = &kindError{"not a PrivateMail file", formats.ErrUnsupported}
	// ErrKind reports a file in this format but of another kind. It matches formats.ErrUnsupported.
	ErrKind error = &kindError{"another kind of file", formats.ErrUnsupported}
	// ErrVersion reports a file of another version. It matches formats.ErrUnsupported.
	ErrVersion error = &kindError{"another version of the format", formats.ErrUnsupported}
	// ErrDamaged reports a file that was truncated or changed, or that lacks a section. It
	// matches formats.ErrFormat.
	ErrDamaged error = &kindError{"damaged file", formats.ErrFormat}
)

// kindError is a sentinel that matches one of package formats.
type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

// failf returns an error of a kind about the file at path.
func failf(path string, kind error, format string, args ...any) error {
	return fmt.Errorf("sections: %s: %w: %w", path, kind, fmt.Errorf(format, args...))
}
