package cli

import (
	"context"
	"os"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/par"
)

// A World connects the processes that share the work of one command, its ranks: that of
// package cluster, or one of a test. All ranks are started with the same arguments. Rank 0
// alone prints.
type World interface {
	// Ranks returns the processes, nil for one alone.
	Ranks() *par.Ranks
	// Neighbours returns how many of them run on this machine, this one among them.
	Neighbours() int
	// End is called once, with the outcome of this rank, and waits for the other ranks. It
	// returns what this rank is to tell, nil where all have succeeded.
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

// RanksHere returns how many of the ranks run on this machine, this one among them.
func (e *Env) RanksHere() int {
	if e.World == nil {
		return 1
	}
	return e.World.Neighbours()
}

// ClusterMain is Main for a program whose work several processes may share: those that a
// launcher such as mpirun has started.
func (p *Program) ClusterMain() {
	world, err := cluster.Open(cluster.WithWords(p.words))
	if err != nil {
		os.Exit(p.finish(context.Background(), &Env{Stderr: os.Stderr}, nil, err))
	}
	p.World = world
	p.Main()
}

// words is say for a world, which prints errors itself where there are several ranks.
func (p *Program) words(err error) (text string, code int) {
	if say := p.ending.Load(); say != nil {
		return (*say)(err)
	}
	return p.say(context.Background(), &Env{}, nil, err) // another goroutine has found a rank lost
}
