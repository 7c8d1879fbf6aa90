package cli

import (
	"context"
	"os"

	"github.com/seed-64e14a55/privatemail/par"
)

// A World connects the processes that share the work of one command, its ranks. Package
// cluster has one. All ranks are started with the same arguments. Rank 0 alone prints.
type World interface {
	// Ranks returns the processes, nil for one alone.
	Ranks() *par.Ranks
	// Neighbours returns how many of them run on this machine, this one among them.
	Neighbours() int
	// End is called once, with the outcome of this rank. It waits for the other ranks and
	// returns what this one is to tell: nil where all have succeeded, an error where one
	// has failed, which is err itself where rank 0 has failed as the others have.
	End(err error) error
}

// ranksOf returns the ranks of a world that may be nil.
func ranksOf(w World) *par.Ranks {
	if w == nil {
		return nil
	}
	return w.Ranks()
}

// Ranks returns the processes that share the work of the verb, nil for one alone.
func (e *Env) Ranks() *par.Ranks { return ranksOf(e.World) }

// MainIn is Main in a world. Where that could not be opened, err says why, and the program
// ends with it.
func (p *Program) MainIn(w World, err error) {
	if err != nil {
		os.Exit(p.finish(context.Background(), &Env{Stderr: os.Stderr}, nil, err))
	}
	p.World = w
	p.Main()
}

// end tells the world of the outcome of this rank, and returns what this rank is to tell.
// Ranks other than 0 tell nothing: their own error decides their exit code.
func (p *Program) end(err error) error {
	if p.World == nil {
		return err
	}
	told := p.World.End(err)
	if err != nil && ranksOf(p.World).Rank() != 0 {
		return err
	}
	return told
}
