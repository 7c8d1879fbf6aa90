package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// peerRanks are the numbers of ranks that peers play with.
func peerRanks() []int { return []int{1, 2} }

// ranksSuite is the name of the peers with a number of ranks.
func ranksSuite(count int) string { return fmt.Sprint("ranks ", count) }

// ranks plays the step of a truncated graph against the product that it contains.
func (c *contest) ranks(ctx context.Context, n int, work portion) error {
	for i, count := range peerRanks() {
		if err := c.withRanks(ctx, n, count, work.piece(i, len(peerRanks()))); err != nil {
			return err
		}
	}
	return nil
}

// withRanks plays with a number of ranks.
func (c *contest) withRanks(ctx context.Context, n, count int, work portion) error {
	l := newLab(c.lab.machine, c.lab.meter)
	l.rows = n
	defer l.close()
	cases := rankCasesOf(l, count)
	cases = cases[slices.IndexFunc(cases, func(one benchCase) bool { return strings.HasPrefix(one.name, "op=step/graph=cells/d=2/") }):][:1]
	if !c.pattern.MatchString(cases[0].name) {
		return nil
	}
	s, err := pointsOfKind(ctx, c.lab, "uniform", n, 2)
	if err != nil {
		return err
	}
	a, err := inOwnOrder(ctx, c.lab, s)
	if err != nil {
		return err
	}
	x, y := block(n, rankColumns), zeros(n, rankColumns)
	m := &match{
		ratio: Ratio{Suite: "ranks", Case: cases[0].name, N: n, D: 2, K: rankColumns, NNZ: int64(a.NNZ()), Workers: 1, Level: level()},
		most:  maxDifference,
		ours:  func(ctx context.Context) error { return a.MulTo(ctx, c.lab.workers(1), nil, y, x) },
		differ: func(file string) (float64, error) {
			theirs, err := readFloats(file, len(y.Data))
			if err != nil {
				return 0, err
			}
			return productDifference(ctx, a, x, y, theirs)
		},
		seconds: func(ctx context.Context) ([]float64, error) {
			return rankSeconds(ctx, c.lab.machine, peerMPI("MPIRUN", "mpirun"), n, count, time.Duration(c.slice*float64(time.Second)), cases[0])
		},
	}
	return c.playAll(ctx, ranksSuite(count), func(file string) error { return writeGraph(file, a) }, []*match{m}, work)
}

// inOwnOrder returns the weights of a graph with rows and columns in the order of its
// operator, whose product is that of the operator.
func inOwnOrder(ctx context.Context, l *lab, s *pointSet) (*sparse.CSR, error) {
	op, err := s.graph(ctx, l.workers(1))
	if err != nil {
		return nil, err
	}
	a, err := op.Matrix(ctx)
	if order := op.Order(); err == nil && order != nil {
		a, err = a.Permute(order)
	}
	return a, errors.Join(err, op.Close())
}

// peerMPI returns a command of the MPI that PETSc is built with: that of a variable, or the
// one of Open MPI where Debian has several.
func peerMPI(variable, name string) string {
	if command := os.Getenv(variable); command != "" {
		return command
	}
	if _, err := exec.LookPath(name + ".openmpi"); err == nil {
		return name + ".openmpi"
	}
	return name
}

// buildOnRanks compiles a peer that mpirun starts, with the flags that pkg-config knows of
// its library. With another number of ranks it is the same program.
func (p *peer) buildOnRanks(ctx context.Context, folder, source string) ([]string, error) {
	program := filepath.Join(folder, p.name+exeSuffix())
	start := mpirunArgs(peerMPI("MPIRUN", "mpirun"), p.ranks, program)
	if _, err := os.Stat(program); err == nil {
		return start, nil
	}
	flags, err := command(ctx, folder, "pkg-config", "--cflags", "--libs", p.library)
	if err != nil {
		return nil, err
	}
	args := append([]string{"-O3", "-march=native", "-std=c++17", "-o", program, source}, strings.Fields(flags)...)
	_, err = command(ctx, folder, peerMPI("MPICXX", "mpicxx"), args...)
	return start, err
}
