package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// An Env is what a verb has around it: where results and messages go, and how the
// user wants them.
type Env struct {
	Program, Verb  string
	Args           []string // of the program, the verb among them
	Stdout, Stderr io.Writer
	JSON, Quiet    bool
	Verbose        bool
	World          World // nil for one process
}

// Note tells the user something beside the result, unless Quiet is set.
func (e *Env) Note(format string, args ...any) {
	if !e.Quiet {
		fmt.Fprintf(e.Stderr, "%s: %s: %s\n", e.Program, e.Verb, fmt.Sprintf(format, args...))
	}
}

// NoteLevel tells the user when the variable PM_SIMD could not be followed.
func (e *Env) NoteLevel() {
	if text := simd.Note(); text != "" {
		e.Note("%s", text)
	}
}

// Object prints a line of JSON at once: the next one may be minutes away.
func (e *Env) Object(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s\n", line)
	if f, ok := e.Stdout.(interface{ Flush() error }); ok && err == nil {
		err = f.Flush()
	}
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// IsTerminal tells whether w is a terminal that knows how wide it is, so that a line of
// it can be written over, and how many letters a line has room for.
func IsTerminal(w io.Writer) (columns int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return columns, err == nil && columns > 0
}

// usageError is a request that makes no sense, whatever the files hold.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Usagef returns an error, made as by fmt.Errorf, that ends the program with the code
// Usage.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errOverview is a usage error the overview was the answer to.
var errOverview = &usageError{errors.New("")}

// shownError is an outcome that needs no message: what was printed says it.
type shownError struct{ code int }

func (e *shownError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Shown returns an error that ends the program with an exit code and no message: what
// was printed says why.
func Shown(code int) error { return &shownError{code} }

// unshown returns what of an error is still to be said. The error may join an outcome
// that was shown with others, such as those of clearing up. Without others unshown
// returns nil and the exit code of the outcome.
func unshown(err error) (code int, rest error) {
	if shown, ok := err.(*shownError); ok {
		return shown.code, nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return Failed, err
	}
	var left []error
	code = Failed
	for _, e := range joined.Unwrap() {
		c, rest := unshown(e)
		if rest == nil {
			code = c
			continue
		}
		left = append(left, rest)
	}
	switch len(left) {
	case 0:
		return code, nil
	case len(joined.Unwrap()):
		return Failed, err
	}
	return Failed, errors.Join(left...)
}
