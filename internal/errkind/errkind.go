// Package errkind makes an error with a message of its own that errors.Is also finds as another
// error, its kind. So a package exports few errors, and its messages are precise.
package errkind

// Of returns an error of a kind with a text of its own.
func Of(kind error, text string) error { return &special{text, kind} }

type special struct {
	text string
	kind error
}

func (e *special) Error() string { return e.text }
func (e *special) Unwrap() error { return e.kind }
