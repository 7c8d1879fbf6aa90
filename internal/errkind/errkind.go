// Package errkind makes errors that match another one and say something else: callers tell few errors
// apart, and messages are precise.
package errkind

// Of returns an error with this text that matches the other one.
func Of(other error, text string) error { return &special{text, other} }

// special is an error of a kind.
type special struct {
	text string
	kind error
}

func (e *special) Error() string { return e.text }
func (e *special) Unwrap() error { return e.kind }
