package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/compare"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// fakeBench is a pmbench that measures nothing and records the time it is given
// to; %TIME% is its place.
const fakeBench = `package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
)

func main() {
	fs := flag.NewFlagSet("run", flag.ExitOnError)
	out := fs.String("out", "", "")
	suite := fs.String("suite", "", "")
	fs.String("case", "", "")
	fs.Int("count", 0, "")
	fs.Bool("no-limits", false, "")
	fs.Bool("quiet", false, "")
	fs.Parse(os.Args[2:])
	text := fmt.Sprintf("asked: %q\nBenchmarkFake/suite=%s 1 %g ns/op\n", os.Getenv("PM_SIMD"), *suite, TIME*(1+0.001*rand.Float64()))
	if err := os.WriteFile(*out, []byte(text), 0o644); err != nil {
		panic(err)
	}
	SLEEP
}
`

// repository makes a git repository whose first revision takes 100 ns and whose
// working tree takes what is asked for.
func repository(t *testing.T, withBench bool, now, sleep string) string {
	t.Helper()
	then := ""
	if withBench {
		then = "100.0"
	}
	return repositoryOf(t, then, now, sleep)
}

// repositoryOf makes a git repository whose first revision and working tree take what two
// expressions say; the first has no benchmark where that is "".
func repositoryOf(t *testing.T, then, now, sleep string) string {
	t.Helper()
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	folder := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := func(time, sleep string) string {
		text := strings.ReplaceAll(strings.ReplaceAll(fakeBench, "TIME", time), "SLEEP", sleep)
		if sleep != "" {
			text = strings.Replace(text, "\t\"os\"\n", "\t\"os\"\n\t\"time\"\n", 1)
		}
		return text
	}
	git := func(args ...string) {
		args = append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)
		if _, err := measure.Command(t.Context(), folder, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	write("go.mod", "module fake\n\ngo 1.26.0\n")
	write("go.sum", "")
	if then != "" {
		write("cmd/pmbench/main.go", program(then, ""))
	}
	git("add", ".")
	git("commit", "-q", "-m", "first")
	write("cmd/pmbench/main.go", program(now, sleep))
	t.Chdir(folder)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GOFLAGS", "-buildvcs=false -mod=mod")
	return folder
}

// tidy wants no worktree and no temporary file left.
func tidy(t *testing.T, folder string) {
	t.Helper()
	out, err := measure.Command(context.Background(), folder, "git", "worktree", "list")
	if err != nil || strings.Count(out, "\n") != 1 {
		t.Errorf("worktrees are left: %s %v", out, err)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "pmbench") {
			t.Errorf("%s is left", f.Name())
		}
	}
}

func TestAB(t *testing.T) {
	for _, c := range []struct {
		name, now string
		code      int
	}{{"same", "100.0", cli.OK}, {"slower", "120.0", cli.Failed}} {
		t.Run(c.name, func(t *testing.T) {
			folder := repository(t, true, c.now, "")
			code, stdout, stderr := call("ab", "-suite", "spmm", "HEAD", "-keep", "runs", "-case", "x")
			if code != c.code || !strings.Contains(stdout, "Fake/suite=spmm") || !strings.Contains(stdout, "10+10") {
				t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
			}
			// The table says it all: except for progress there is no message.
			if c.code == cli.Failed && !strings.Contains(stdout, "1 of 1 metrics worse") {
				t.Errorf("no verdict in\n%s", stdout)
			}
			for line := range strings.Lines(stderr) {
				if strings.HasPrefix(line, "pmbench: ") {
					t.Errorf("message %q", line)
				}
			}
			for _, name := range []string{"old.txt", "new.txt"} {
				text, err := os.ReadFile(filepath.Join(folder, "runs", name))
				if err != nil || strings.Count(string(text), " ns/op") != compare.MinRuns {
					t.Errorf("%s: %s %v", name, text, err)
				}
			}
			tidy(t, folder)
		})
	}
}

// A revision from before there was a pmbench borrows the present one.
func TestABLendsTheBench(t *testing.T) {
	folder := repository(t, false, "100.0", "")
	if code, stdout, stderr := call("ab", "HEAD", "-suite", "spmm", "-quiet"); code != cli.OK {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	tidy(t, folder)
}

func TestABRefuses(t *testing.T) {
	folder := repository(t, true, "100.0", "")
	refuse(t, cli.Failed, []string{"ab", "nowhere", "-suite", "spmm", "-quiet"}, "nowhere")
	tidy(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "cmd/pmbench/main.go"), []byte("package main\nfunc main() { x }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, []string{"ab", "HEAD", "-suite", "spmm", "-quiet"}, "building the new side")
	tidy(t, folder)
	t.Chdir(t.TempDir())
	refuse(t, cli.Failed, []string{"ab", "HEAD", "-suite", "spmm", "-quiet"}, "git repository")
}

// Ctrl-C leaves nothing behind.
func TestABInterrupted(t *testing.T) {
	folder := repository(t, true, "100.0", "time.Sleep(time.Hour)")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out, messages bytes.Buffer
	done := make(chan int)
	go func() {
		done <- program().Run(ctx, []string{"ab", "HEAD", "-suite", "spmm", "-quiet"}, &out, &messages)
	}()
	// The old side takes its turn, then the new one sleeps.
	deadline := time.Now().Add(20 * time.Second)
	for {
		found, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "pmbench-ab-*", "new.txt"))
		if len(found) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Error("the new side never began")
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	if code := <-done; code != cli.Interrupted {
		t.Errorf("exit code %d: %s", code, messages.String())
	}
	tidy(t, folder)
}

// With times that 10 turns cannot distinguish ab goes on to 20 and to 40; with -count it does
// not. Both sides make the choices between loops that ab has measured.
func TestABGoesOn(t *testing.T) {
	// Each side takes one, two, three times as long by turns: it counts them in a file.
	turn := `func() float64 {
		name := *out + ".turn"
		text, _ := os.ReadFile(name)
		os.WriteFile(name, append(text, 'x'), 0o644)
		return 100 * float64(1+len(text)%3)
	}()`
	t.Setenv("PM_SIMD", "")
	for _, c := range []struct {
		args []string
		runs string
		more int
	}{{nil, "40+40", 2}, {[]string{"-count", "12"}, "12+12", 0}} {
		folder := repositoryOf(t, turn, turn, "")
		code, stdout, stderr := call(append([]string{"ab", "HEAD", "-suite", "spmm", "-keep", "runs"}, c.args...)...)
		if code != compare.UnclearCode || !strings.Contains(stdout, c.runs) {
			t.Errorf("%q: exit code %d\n%s%s", c.args, code, stdout, stderr)
		}
		if got := strings.Count(stderr, "turns do not decide, going on to"); got != c.more {
			t.Errorf("%q: goes on %d times\n%s", c.args, got, stderr)
		}
		asked := ""
		if simd.Measured() {
			asked = simd.At(simd.Best()).Choices()
		}
		for _, name := range []string{"old.txt", "new.txt"} {
			text, err := os.ReadFile(filepath.Join(folder, "runs", name))
			if runs := strings.Count(string(text), "asked: "+strconv.Quote(asked)+"\n"); err != nil || strconv.Itoa(runs) != c.runs[:2] {
				t.Errorf("%s: %d turns were asked for %q, %v", name, runs, asked, err)
			}
		}
		tidy(t, folder)
	}
}

// The three looks that ab may take share the chance of an alarm, and the one of -count has it all.
func TestABSharesTheAlarms(t *testing.T) {
	folder := repositoryOf(t, "100.0", "120.0", "")
	for looks, args := range map[float64][]string{3: nil, 1: {"-count", "10"}} {
		code, stdout, stderr := call(append([]string{"ab", "HEAD", "-suite", "spmm", "-quiet", "-json"}, args...)...)
		if code != cli.Failed {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		v := object(t, stdout)
		if p, all := v["p"].(float64), v["p_holm"].(float64); !(p > 0) || math.Abs(all-looks*p) > 1e-9*all {
			t.Errorf("%q: p is %g and %g with all looks, want %g times", args, p, all, looks)
		}
	}
	tidy(t, folder)
}
