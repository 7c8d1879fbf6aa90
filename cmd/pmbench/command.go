package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// command runs a program to its end and returns what it printed; an error
// carries the telling line of its messages. When ctx ends the program is asked to
// end, and made to a little later.
func command(ctx context.Context, folder, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	return output(ctx, c)
}

// output runs a program of the context as command does.
func output(ctx context.Context, c *exec.Cmd) (string, error) {
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

func exeSuffix() string {
	if filepath.Separator == '\\' {
		return ".exe"
	}
	return ""
}
