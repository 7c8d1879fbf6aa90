package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/simd"
)

// env is what a verb has around it: where results and messages go, and how the
// user wants them.
type env struct {
	verb           string
	stdout, stderr io.Writer
	json, quiet    bool
}

// define adds the flags that verbs have in common.
func (e *env) define(fs *flag.FlagSet, v verb) {
	if v.prints&printsJSON != 0 {
		fs.BoolVar(&e.json, "json", false, "print one JSON object per line on standard output")
	}
	if v.prints&printsProgress != 0 {
		fs.BoolVar(&e.quiet, "quiet", false, "no progress, no notes; without -json no summary of a written file either")
	}
}

// note tells the user something beside the result.
func (e *env) note(format string, args ...any) {
	if !e.quiet {
		fmt.Fprintf(e.stderr, "privatemail: %s: %s\n", e.verb, fmt.Sprintf(format, args...))
	}
}

// noteLevel says where the variable PM_SIMD could not be followed.
func (e *env) noteLevel() {
	if text := simd.Note(); text != "" {
		e.note("%s", text)
	}
}

// object prints a line of JSON.
func (e *env) object(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s\n", line)
	return err
}

// engine starts an Engine that shows its progress. The returned function stops
// both; call it before anything else is printed.
func (e *env) engine(w workFlags) (*privatemail.Engine, func(), error) {
	e.noteLevel()
	m := newMeter(e)
	options := []privatemail.Option{privatemail.WithProgress(m.report)}
	if w.workers > 0 {
		options = append(options, privatemail.WithWorkers(w.workers))
	}
	if w.budget > 0 {
		options = append(options, privatemail.WithBudget(w.budget))
	}
	engine, err := privatemail.New(options...)
	if err != nil {
		m.close()
		return nil, nil, err
	}
	return engine, func() {
		engine.Close() // always nil
		m.close()
	}, nil
}

// withRows reads the files, starts an engine and lets use work with them. more is
// what to say to wrong labels beyond their number.
func (e *env) withRows(ctx context.Context, w workFlags, in input, more string, use func(engine *privatemail.Engine, x blas32.General, y []int32) error) error {
	x, y, release, err := readRows(ctx, in, more)
	if err != nil {
		return err
	}
	defer release()
	engine, stop, err := e.engine(w)
	if err != nil {
		return err
	}
	defer stop()
	return explain(use(engine, x, y), in)
}

// await waits for work that knows nothing of contexts and gives up waiting when
// ctx ends. The work is then left to itself: the program is about to exit, and
// only work that leaves no traces is done this way.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
