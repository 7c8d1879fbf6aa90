package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes; the package comment promises them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // from then on a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: it does what the arguments say and returns the exit
// code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := bufio.NewWriter(stdout)
	e := &env{stdout: out, stderr: stderr}
	err := dispatch(ctx, e, args)
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("standard output: %w", flushErr)
	}
	return e.finish(ctx, err)
}

// dispatch finds the verb and lets it work.
func dispatch(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		writeOverview(e.stderr)
		return errShown
	}
	switch args[0] {
	case "-h", "-help", "--help":
		args = append([]string{"help"}, args[1:]...)
	}
	v, ok := findVerb(args[0])
	if !ok {
		return usagef("there is no verb %q; run 'pmbench help' for the list", args[0])
	}
	e.verb = v.name
	fs := flag.NewFlagSet(v.name, flag.ContinueOnError)
	act := v.define(fs)
	e.define(fs, v)
	names, err := parse(fs, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		v.writeHelp(e.stdout, fs)
		return nil
	case err != nil:
		return err
	}
	return act(ctx, e, names)
}
