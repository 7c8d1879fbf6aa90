package sections

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// The kinds of failure, matched with errors.Is.
var (
	// ErrForeign reports a file that is not in this format. It matches formats.ErrUnsupported.
	ErrForeign = errkind.Of(formats.ErrUnsupported, "not a PrivateMail file")
	// ErrKind reports a file in this format but of another kind. It matches formats.ErrUnsupported.
	ErrKind = errkind.Of(formats.ErrUnsupported, "another kind of file")
	// ErrVersion reports a file of another version. It matches formats.ErrUnsupported.
	ErrVersion = errkind.Of(formats.ErrUnsupported, "another version of the format")
	// ErrDamaged reports a file that was truncated or changed, or that lacks a section. It
	// matches formats.ErrFormat.
	ErrDamaged = errkind.Of(formats.ErrFormat, "damaged file")
)

// failf returns an error of a kind about the file at path.
func failf(path string, kind error, format string, args ...any) error {
	return fmt.Errorf("sections: %s: %w: %w", path, kind, fmt.Errorf(format, args...))
}
