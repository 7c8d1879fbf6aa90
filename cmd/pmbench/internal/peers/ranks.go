package peers

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

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/ranks"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// peerRanks are the numbers of ranks that peers play with.
func peerRanks() []int { return []int{1, 2} }

// ranksSuite is the name of the peers with a number of ranks.
func ranksSuite(count int) string { return fmt.Sprint("ranks ", count) }

// ranks plays the step of a truncated graph against the product that it contains.
func (c *contest) ranks(ctx context.Context, n int, work measure.Portion) error {
	for i, count := range peerRanks() {
		if err := c.withRanks(ctx, n, count, work.Piece(i, len(peerRanks()))); err != nil {
			return err
		}
	}
	return nil
}

// withRanks plays with a number of ranks.
func (c *contest) withRanks(ctx context.Context, n, count int, work measure.Portion) error {
	l := measure.NewLab(c.lab.Machine, c.lab.Meter)
	l.Rows = n
	defer l.Close()
	cases := suites.RankCases(l, count)
	cases = cases[slices.IndexFunc(cases, func(one measure.Case) bool { return strings.HasPrefix(one.Name, "op=step/graph=cells/d=2/") }):][:1]
	if !c.pattern.MatchString(cases[0].Name) {
		return nil
	}
	s, err := suites.PointsOfKind(ctx, c.lab, "uniform", n, 2)
	if err != nil {
		return err
	}
	a, err := inOwnOrder(ctx, c.lab, s)
	if err != nil {
		return err
	}
	x, y := suites.Block(n, suites.RankColumns), suites.Zeros(n, suites.RankColumns)
	m := &match{
		ratio: record.Ratio{Suite: "ranks", Case: cases[0].Name, N: n, D: 2, K: suites.RankColumns, NNZ: int64(a.NNZ()), Workers: 1, Level: measure.Level()},
		most:  maxDifference,
		ours:  func(ctx context.Context) error { return a.MulTo(ctx, c.lab.Workers(1), nil, y, x) },
		differ: func(file string) (float64, error) {
			theirs, err := readFloats(file, len(y.Data))
			if err != nil {
				return 0, err
			}
			return productDifference(ctx, a, x, y, theirs)
		},
		seconds: func(ctx context.Context) ([]float64, error) {
			return ranks.Seconds(ctx, c.lab.Machine, peerMPI("MPIRUN", "mpirun"), n, count, time.Duration(c.slice*float64(time.Second)), cases[0])
		},
	}
	return c.playAll(ctx, ranksSuite(count), func(file string) error { return writeGraph(file, a) }, []*match{m}, work)
}

// inOwnOrder returns the weights of a graph with rows and columns in the order of its
// operator, whose product is that of the operator.
func inOwnOrder(ctx context.Context, l *measure.Lab, s *suites.PointSet) (*sparse.CSR, error) {
	op, err := s.Graph(ctx, l.Workers(1))
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
	program := filepath.Join(folder, p.name+measure.ExeSuffix())
	start := measure.MPIRun(peerMPI("MPIRUN", "mpirun"), p.ranks, program)
	if _, err := os.Stat(program); err == nil {
		return start, nil
	}
	flags, err := measure.Command(ctx, folder, "pkg-config", "--cflags", "--libs", p.library)
	if err != nil {
		return nil, err
	}
	args := append([]string{"-O3", "-march=native", "-std=c++17", "-o", program, source}, strings.Fields(flags)...)
	_, err = measure.Command(ctx, folder, peerMPI("MPICXX", "mpicxx"), args...)
	return start, err
}
