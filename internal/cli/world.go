package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// A World connects the processes that share the work of one command, its ranks. It is from
// package cluster, or made by a test. All ranks are started with the same arguments. Only
// rank 0 prints.
type World interface {
	// Ranks returns the processes, nil for one alone.
	Ranks() *par.Ranks
	// Neighbours returns how many of them run on this machine, including this one.
	Neighbours() int
	// End is called once by each of several ranks, with its error or nil, and waits for the
	// others. It prints the text of errors itself, before any rank exits, and returns nil
	// if all have succeeded. The method ExitCode of the errors gives the exit code.
	End(err error) error
}

// Ranks returns the processes that share the work of the verb, nil for one alone.
func (e *Env) Ranks() *par.Ranks {
	if e.World == nil {
		return nil
	}
	return e.World.Ranks()
}

// RanksHere returns how many of the ranks run on this machine, including this one.
func (e *Env) RanksHere() int {
	if e.World == nil {
		return 1
	}
	return e.World.Neighbours()
}

// ClusterMain is Main for a program whose work several processes may share: those that a
// launcher such as mpirun has started.
func (p *Program) ClusterMain() {
	world, err := cluster.Open()
	if err != nil {
		os.Exit(p.finish(context.Background(), &Env{Stderr: os.Stderr}, nil, err))
	}
	p.World = world
	if err := sameStart(context.Background(), world.Ranks(), ReadVersion(), os.Args[1:]); err != nil {
		os.Exit(p.end(context.Background(), &Env{}, nil, err))
	}
	p.Main()
}

// sameStart refuses ranks that were started differently, since each would do different work
// and they would combine the results. A machine may have an older copy of the program.
func sameStart(ctx context.Context, ranks *par.Ranks, v Version, args []string) error {
	build := fmt.Sprint(v.Version, v.Revision, v.Modified, v.Go, v.Platform)
	for _, c := range []struct{ text, words string }{
		{build, "another build of the program; all need the same one"},
		{fmt.Sprintf("%q", args), "other arguments; all need the same ones"},
	} {
		all, bounds, err := exchange.GatherAll(ctx, ranks, []byte(c.text))
		if err != nil {
			return err
		}
		for r := range ranks.Size() {
			if !bytes.Equal(all[bounds[r]:bounds[r+1]], all[:bounds[1]]) {
				return fmt.Errorf("rank %d has %s", r, c.words)
			}
		}
	}
	return nil
}

// end sends the other ranks the error of this one, and returns the exit code of all.
func (p *Program) end(ctx context.Context, e *Env, args []string, err error) int {
	if err != nil {
		text, code := p.say(ctx, e, args, err)
		err = &saidError{err, text, code}
	}
	if err = p.World.End(err); err == nil {
		return OK
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return Failed
}

// A saidError is an error with the line that reports it, "" if the output already says it,
// and the exit code.
type saidError struct {
	error
	text string
	code int
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.error }

// ExitCode returns the exit code.
func (e *saidError) ExitCode() int { return e.code }
