//go:build mpi && cgo && linux

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
)

func init() {
	// Ranks print their processes, and meet again and again until standard input ends at
	// rank 0.
	programs["meet"] = func(w *World) error {
		r := w.Ranks()
		fmt.Printf("rank %d is process %d\n", r.Rank(), os.Getpid())
		over, ended := make([]uint8, r.Size()), make(chan struct{})
		if r.Rank() == 0 {
			go func() {
				io.Copy(io.Discard, os.Stdin)
				close(ended)
			}()
		}
		for over[0] == 0 {
			select {
			case <-ended:
				over[0] = 1
			case <-time.After(time.Millisecond):
			}
			if err := exchange.Gather(context.Background(), r, over, r.Bounds(r.Size())); err != nil {
				return err
			}
		}
		return nil
	}
	// Ranks wait for a message that does not come, until a signal ends their context, as in
	// commands.
	programs["wait"] = func(w *World) error {
		r := w.Ranks()
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		fmt.Printf("rank %d is process %d\n", r.Rank(), os.Getpid())
		if r.Rank() == 0 {
			<-ctx.Done()
			return fmt.Errorf("tool: %w", ctx.Err())
		}
		if err := meet(ctx, r); !errors.Is(err, context.Canceled) {
			return err
		}
		return fmt.Errorf("tool: %w", ctx.Err())
	}
	programs["stuck"] = func(*World) error {
		(&owner{work: &communicator{rank: 3}, silence: time.Second}).watch()
		return nil
	}
	// Ranks compute alone: none waits for another.
	programs["compute"] = func(w *World) error {
		fmt.Printf("rank %d is process %d\n", w.Ranks().Rank(), os.Getpid())
		select {}
	}
}

// startRanks starts a program that prints its processes, and returns them by rank. The
// returned pipe is the standard input of rank 0.
func startRanks(t *testing.T, ranks int, program string) (l *launched, pids []int, in io.Closer) {
	t.Helper()
	l = ranksOf(t, ranks, program, "PM_RANK_SILENCE=3s")
	l.Stdout = nil
	out, err := l.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if in, err = l.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	l.start(t)
	pids = make([]int, ranks)
	lines := bufio.NewScanner(out)
	for range ranks {
		var rank, pid int
		if !lines.Scan() {
			t.Fatalf("ranks are missing\n%s", l.said())
		} else if _, err := fmt.Sscanf(lines.Text(), "rank %d is process %d", &rank, &pid); err != nil || rank >= ranks {
			t.Fatalf("%v: %q", err, lines.Text())
		}
		pids[rank] = pid
	}
	t.Cleanup(func() {
		for _, pid := range pids { // in case the test has failed
			if runs(pid) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return l, pids, in
}

// runs reports whether a process exists and runs this binary.
func runs(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	program, _, _ := strings.Cut(string(line), "\x00")
	self, _ := os.Executable()
	return err == nil && program == self
}

// A rank that dies or hangs ends the others, whether they wait for it or not. The rank
// that notices names the lost one.
func TestMPILostRank(t *testing.T) {
	for _, c := range []struct {
		ranks, lost int
		program     string
		signal      syscall.Signal
	}{
		{2, 1, "meet", syscall.SIGKILL},
		{4, 0, "meet", syscall.SIGKILL},
		{2, 0, "meet", syscall.SIGSTOP},
		{4, 2, "meet", syscall.SIGSTOP},
		{2, 1, "compute", syscall.SIGSTOP},
	} {
		t.Run(fmt.Sprintf("%s %d of %d %v", c.program, c.lost, c.ranks, c.signal), func(t *testing.T) {
			t.Parallel()
			l, pids, _ := startRanks(t, c.ranks, c.program)
			began := time.Now()
			if err := syscall.Kill(pids[c.lost], c.signal); err != nil {
				t.Fatal(err)
			}
			if l.Wait() == nil {
				t.Error("the run ended without an error")
			}
			if c.signal == syscall.SIGSTOP {
				want := fmt.Sprintf("rank %d: rank %d is lost: nothing was heard from it for 3s", (c.lost+1)%c.ranks, c.lost)
				if got := l.lines("lost"); len(got) != 1 || got[0] != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
			for rank, pid := range pids {
				for runs(pid) {
					if time.Since(began) > 30*time.Second {
						t.Fatalf("rank %d still runs", rank)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
}

// No rank counts as lost after the whole run was suspended.
func TestMPISuspended(t *testing.T) {
	t.Parallel()
	l, pids, in := startRanks(t, 2, "meet")
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		for _, pid := range pids {
			if err := syscall.Kill(pid, signal); err != nil {
				t.Fatal(err)
			}
		}
		if signal == syscall.SIGSTOP {
			time.Sleep(5 * time.Second)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	l.end(t, 0)
}

// Interrupted ranks say so, even where one waits for a call that another will not make.
func TestMPIInterrupted(t *testing.T) {
	t.Parallel()
	l, pids, _ := startRanks(t, 2, "wait")
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	l.end(t, 130)
	if len(l.lines("tool: "+context.Canceled.Error())) == 0 {
		t.Error(l.said())
	}
}

// A call of MPI that does not return ends the process.
func TestMPIStuck(t *testing.T) {
	t.Parallel()
	out, err := childtest.Command(t, []string{"PM_RANK_PROGRAM=stuck"}).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || string(out) != "rank 3: "+errStuck.Error()+"\n" {
		t.Errorf("%v: %s", err, out)
	}
}
