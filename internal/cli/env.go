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

// An Env is the environment of a verb: where results and messages go, and in which
// form.
type Env struct {
	Program, Verb  string
	Args           []string // of the program, including the verb
	Stdout, Stderr io.Writer
	JSON, Quiet    bool
	Verbose        bool
	World          World // nil for one process
}

// Note prints a message that is not a result, unless Quiet is set.
func (e *Env) Note(format string, args ...any) {
	if !e.Quiet {
		fmt.Fprintf(e.Stderr, "%s: %s: %s\n", e.Program, e.Verb, fmt.Sprintf(format, args...))
	}
}

// NoteLevel notes when the variable PM_SIMD could not be followed.
func (e *Env) NoteLevel() {
	if text := simd.Note(); text != "" {
		e.Note("%s", text)
	}
}

// Object prints a line of JSON at once, since the next one may take minutes.
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

// IsTerminal reports whether w is a terminal that knows how wide it is, so that a line of
// it can be written over, and how many letters a line has room for.
func IsTerminal(w io.Writer) (columns int, ok bool) {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	return columns, err == nil && columns > 0
}

// usageError is a request that makes no sense for any files.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Usagef returns an error, formatted as by fmt.Errorf, that ends the program with the
// code Usage.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errOverview is a usage error for which the overview was printed.
var errOverview = &usageError{errors.New("")}

// shownError is an outcome that needs no message, since the output says it.
type shownError struct{ code int }

func (e *shownError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Shown returns an error that ends the program with an exit code and no message, since
// the output says why.
func Shown(code int) error { return &shownError{code} }

// unshown returns the part of an error that is not shown yet. The error may join a
// shown outcome with others, such as those of cleaning up. Without others unshown
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
