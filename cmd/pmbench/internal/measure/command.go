package measure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// Command runs a program to its end and returns what it printed; an error
// carries the telling line of its messages. When ctx ends the program is asked to
// end, and made to a little later.
func Command(ctx context.Context, folder, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	return Output(ctx, c)
}

// Output runs a program of the context as command does.
func Output(ctx context.Context, c *exec.Cmd) (string, error) {
	var out, messages bytes.Buffer
	c.Stdout, c.Stderr = &out, &messages
	endApart(c)
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if text := tellingLine(messages.String()); text != "" {
			return "", fmt.Errorf("%s: %s", strconv.Quote(filepath.Base(c.Path)), text)
		}
		return "", fmt.Errorf("%s: %w", strconv.Quote(filepath.Base(c.Path)), err)
	}
	return out.String(), nil
}

// tellingLine returns the line of a program's messages that says most: the
// first about an error, as compilers print it, or that this program prints on a rank, or
// the last that has words: mpirun ends with a rule.
func tellingLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "error: ") || strings.HasPrefix(line, "pmbench: ") {
			return line
		}
		if strings.Trim(line, "-") != "" {
			last = line
		}
	}
	return last
}

// ExeSuffix is how names of programs end on this system.
func ExeSuffix() string {
	if filepath.Separator == '\\' {
		return ".exe"
	}
	return ""
}

// MPIRun is the command that starts a program on a number of ranks.
func MPIRun(mpirun string, ranks int, program ...string) []string {
	words := strings.Fields(mpirun)
	if len(words) == 0 {
		return nil
	}
	return append(append(words, "-n", fmt.Sprint(ranks)), program...)
}

// RankEnvironment is what mpirun is started with: Open MPI would bind a rank to one core,
// where its workers and its messages wait for each other, and refuse more ranks than cores.
func RankEnvironment() []string {
	out := os.Environ()
	for _, v := range []struct{ name, value string }{
		{"OMPI_MCA_hwloc_base_binding_policy", "none"}, {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
	} {
		if _, ok := os.LookupEnv(v.name); !ok {
			out = append(out, v.name+"="+v.value)
		}
	}
	return out
}

// SameChoices returns an environment with which processes that are compared make the choices
// between loops that this process has measured. Where PM_SIMD asks for choices they stay, and
// where there is nothing to choose nothing is asked for.
func SameChoices(environment []string) []string {
	if !simd.Measured() {
		return environment
	}
	return append(environment, "PM_SIMD="+withChoices(os.Getenv("PM_SIMD"), simd.At(simd.Best()).Choices()))
}

// withChoices adds choices to a value of PM_SIMD.
func withChoices(value, choices string) string {
	if value == "" {
		return choices
	}
	return value + "," + choices
}

// Child is a peer in a process of its own. It reads questions and answers with
// lines of JSON; between them it waits and costs nothing.
type Child struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    bytes.Buffer // messages
	v       string
	peak    int64 // the largest memory it has reported
}

// StartChild starts a peer on the data file and waits until it has read it.
func StartChild(ctx context.Context, args []string, data string) (*Child, error) {
	c := &Child{process: exec.CommandContext(ctx, args[0], append(args[1:], data)...)}
	c.process.Stderr = &c.said
	endApart(c.process)
	// Threads that wait must not take the other side's time, and large pages are for
	// both sides: ours asks for them.
	c.process.Env = append(SameChoices(RankEnvironment()), "OMP_WAIT_POLICY=passive", "OMP_PROC_BIND=false", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1")
	// Peers in Python import peer.py from their folder, which this would forbid.
	c.process.Env = append(c.process.Env, "PYTHONSAFEPATH=")
	// OpenBLAS before 0.3.25 takes slow kernels on processors it does not know.
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && os.Getenv("OPENBLAS_CORETYPE") == "" {
		c.process.Env = append(c.process.Env, "OPENBLAS_CORETYPE=SkylakeX")
	}
	in, err := c.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.process.Start(); err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	var hello struct{ Version string }
	if err := c.answer(&hello); err != nil {
		return nil, err
	}
	c.v = hello.Version
	return c, nil
}

// answer reads a line. A peer without a line has ended.
func (c *Child) answer(v any) error {
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		err = c.Close()
		if said := tellingLine(c.said.String()); said != "" {
			return errors.New(said)
		}
		return fmt.Errorf("ended without an answer: %w", err)
	}
	return json.Unmarshal(line, v)
}

// Version is what the peer says of itself.
func (c *Child) Version() string { return c.v }

// Round repeats the operation for that many seconds, at least once, and returns the
// seconds of each. With the name of a file in check it does the operation once and writes the
// result there.
func (c *Child) Round(k, workers int, duration float64, check string) ([]float64, error) {
	question := strings.TrimSpace(fmt.Sprintf("%d %d %g %s", k, workers, duration, check))
	if _, err := fmt.Fprintln(c.in, question); err != nil {
		return nil, err
	}
	var a struct {
		Seconds []float64
		Peak    int64 `json:"peak_bytes"`
	}
	if err := c.answer(&a); err != nil {
		return nil, err
	}
	if len(a.Seconds) == 0 {
		return nil, errors.New("measured nothing")
	}
	c.peak = max(c.peak, a.Peak)
	return a.Seconds, nil
}

// PeakBytes is the largest memory of the process, 0 where the peer does not report it.
func (c *Child) PeakBytes() int64 { return c.peak }

// Close ends the process: without questions there is nothing left to do.
func (c *Child) Close() error { return errors.Join(c.in.Close(), c.process.Wait()) }
