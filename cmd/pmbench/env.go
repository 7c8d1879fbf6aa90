package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
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
	if v.quiet {
		return
	}
	fs.BoolVar(&e.json, "json", false, "print one JSON object per line on standard output")
	fs.BoolVar(&e.quiet, "quiet", false, "no progress, no notes")
}

// note tells the user something beside the result.
func (e *env) note(format string, args ...any) {
	if !e.quiet {
		fmt.Fprintf(e.stderr, "pmbench: %s: %s\n", e.verb, fmt.Sprintf(format, args...))
	}
}

// object prints a line of JSON.
func (e *env) object(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "%s\n", line)
	if f, ok := e.stdout.(interface{ Flush() error }); ok && err == nil {
		err = f.Flush() // measurements come minutes apart
	}
	return err
}

// usageError is a request that makes no sense, whatever the files hold.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// errShown is a usage error the user has been told about already; errWorse is
// a comparison that was shown and went badly.
var (
	errShown = &usageError{}
	errWorse = errors.New("worse")
)

// finish reports an error in one line and returns the exit code.
func (e *env) finish(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return exitOK
	case err == errShown:
		return exitUsage
	case err == errWorse:
		return exitFailed
	}
	who := "pmbench: "
	if e.verb != "" {
		who += e.verb + ": "
	}
	if ctx.Err() != nil {
		fmt.Fprintln(e.stderr, who+"interrupted")
		return exitInterrupted
	}
	message := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	fmt.Fprintln(e.stderr, who+message)
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// parse reads flags and names in any order: package flag stops at the first
// name, so it is asked again behind each. Behind "--" everything is a name.
func parse(fs *flag.FlagSet, args []string) (names []string, err error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
				return nil, usagef("there is no flag -%s; run 'pmbench %s -h' for the list", name, fs.Name())
			}
			return nil, usagef("%v", err)
		}
		rest := fs.Args()
		if read := len(args) - len(rest); read > 0 && args[read-1] == "--" {
			return append(names, rest...), nil
		}
		if len(rest) == 0 {
			return names, nil
		}
		names, args = append(names, rest[0]), rest[1:]
	}
}

// countVar defines a flag for a whole number of 1 or more; 0 stands for none.
func countVar(fs *flag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var(&count{p}, name, usage)
}

type count struct{ p *int }

func (c *count) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 {
		return errors.New("want a whole number of 1 or more")
	}
	*c.p = v
	return nil
}

func (c *count) String() string {
	if c.p == nil || *c.p == 0 {
		return ""
	}
	return strconv.Itoa(*c.p)
}
