package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// fullDisk makes a name of a file for which there is no room.
func fullDisk(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// An embedding for which there is no room on the disk goes on from its last checkpoint, on any
// number of ranks, and one that ranks began goes on in one process.
func TestResumeOnOtherRanks(t *testing.T) {
	set := filepath.Join(rankSet(t, 700, 3), "set")
	for name, flags := range map[string][]string{
		"csr":  {"-mean-neighbours", "12", "-beta", "3", "-operator", "csr", "-normalize", "frobenius"},
		"grid": {"-sigma", "1", "-alpha", "0.1", "-operator", "grid", "-tolerance", "1e-3"},
	} {
		t.Run(name, func(t *testing.T) {
			base := append([]string{"embed", set, "-steps", "6", "-workers", "1"}, flags...)
			run := func(ranks int, more ...string) (int, string) {
				codes, printed, said := together(ranks, same(append(slices.Clip(base), more...)...))
				return codes[0], printed[0] + said[0]
			}
			folder := t.TempDir()
			plain := filepath.Join(folder, "plain.npy")
			if code, text := run(1, "-out", plain); code != cli.OK {
				t.Fatal(text)
			}
			for _, c := range []struct{ first, then int }{{4, 1}, {4, 2}, {4, 3}, {1, 4}} {
				file, out := filepath.Join(folder, "run.checkpoint"), filepath.Join(folder, "z.npy")
				code, text := run(c.first, "-checkpoint", file, "-checkpoint-every", "2", "-out", out, "-plot", fullDisk(t, "z.svg"))
				if code != cli.Failed || !strings.Contains(text, "no space left") || stepsIn(t, file) != 4 {
					t.Fatalf("%d ranks: exit code %d\n%s", c.first, code, text)
				}
				if err := os.Remove(out); err != nil {
					t.Fatal(err)
				}
				if code, text := run(c.then, "-checkpoint", file, "-resume", "-out", out); code != cli.OK || !strings.Contains(text, "after step 4") {
					t.Fatalf("resumed on %d ranks: exit code %d\n%s", c.then, code, text)
				}
				if readFile(t, out) != readFile(t, plain) {
					t.Errorf("begun on %d ranks, resumed on %d: other bytes", c.first, c.then)
				}
				wantFiles(t, folder, "plain.npy", "z.npy")
			}
		})
	}
}

// TestKilledRun kills a run again and again, each time at another moment around the writing of
// a checkpoint. What is there is always a whole checkpoint, no older than the one before, and
// the run comes to the bytes of one that was not killed.
func TestKilledRun(t *testing.T) {
	long, folder, file := longRun(t)
	args := append(long, "-resume", "-quiet")
	rng := rand.New(rand.NewPCG(3, 1))
	taken := 0
	for range 8 {
		before, _ := os.Stat(file)
		cmd := childtest.Command(t, []string{asCommand + "=1"}, args...)
		cmd.Stderr = new(bytes.Buffer)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case err := <-ended:
				t.Fatalf("the run has ended: %v\n%s", err, cmd.Stderr)
			case <-time.After(time.Millisecond):
				now, err := os.Stat(file)
				waiting = err != nil || before != nil && now.ModTime().Equal(before.ModTime())
			}
		}
		time.Sleep(time.Duration(rng.Float64() * float64(3*time.Millisecond)))
		cmd.Process.Kill()
		<-ended
		if !files.Exists(file) {
			t.Fatal("the checkpoint is gone")
		}
		now := stepsIn(t, file)
		if now < taken {
			t.Errorf("%d steps, and %d before", now, taken)
		}
		taken = now
	}
	steps := strconv.Itoa(taken + 50)
	succeed(t, append(args, "-steps", steps)...)
	got := readFile(t, filepath.Join(folder, "z.npy"))
	succeed(t, append(long[:len(long)-6:len(long)-6], "-steps", steps, "-out", filepath.Join(folder, "plain.npy"))...)
	if got != readFile(t, filepath.Join(folder, "plain.npy")) {
		t.Error("the run that was killed has other bytes")
	}
}
