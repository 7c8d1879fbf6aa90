package measure

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/simd"
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
