//go:build mpi && cgo

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
)

func init() {
	programs["transfers"] = func(w *World) error {
		if r := w.Ranks(); w.Neighbours() != r.Size() || r.Rank() >= r.Size() {
			return fmt.Errorf("%d neighbours of %d", w.Neighbours(), r.Size())
		}
		if err := transfers(context.Background(), w.Ranks(), 60, 300000); err != nil {
			return err
		}
		largestPiece = 1000 // as if messages were longer than MPI can count
		return transfers(context.Background(), w.Ranks(), 60, 3000)
	}
	programs["alone"] = func(w *World) error {
		if w.Ranks() != nil || w.Neighbours() != 1 {
			return errors.New("there are ranks")
		}
		return transfers(context.Background(), w.Ranks(), 3, 10)
	}
}

func TestMPITransfers(t *testing.T) {
	for _, size := range []int{2, 3, 4} {
		l := ranksOf(t, size, "transfers")
		l.run(t, 0)
		if out := l.said(); out != "" {
			t.Errorf("%d ranks print %s", size, out)
		}
	}
}

// A single process does not start MPI, with or without mpirun.
func TestMPIAlone(t *testing.T) {
	ranksOf(t, 1, "alone").run(t, 0)
	if out, err := childtest.Command(t, []string{"PM_RANK_PROGRAM=alone"}).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The launcher of another MPI starts processes that do not find each other.
func TestMPIOtherLauncher(t *testing.T) {
	out, err := childtest.Command(t, []string{"PM_RANK_PROGRAM=alone", "MV2_COMM_WORLD_SIZE=2"}).CombinedOutput()
	if err == nil || !strings.Contains(string(out), ErrLauncher.Error()) || !strings.Contains(string(out), "MV2_COMM_WORLD_SIZE=2") {
		t.Errorf("%v: %s", err, out)
	}
}
