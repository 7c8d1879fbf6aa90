//go:build cgo

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// With the suppressions valgrind reports nothing for a correct program, and the mistake of a
// faulty one. Building the library does not need valgrind, but CI must have it.
func TestValgrind(t *testing.T) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil && os.Getenv("PM_PEERS") == "" {
		t.Logf("not tested: %v", err)
		return
	}
	program := compile(t, "checked.c", dynamic)
	flags := []string{
		"--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all",
		"--suppressions=" + filepath.Join(built, "share", "privatemail", "valgrind.supp"), program,
	}
	if out, err := run(t, valgrind, append(flags, "right")...); err != nil {
		t.Errorf("without a mistake: %v\n%s", err, out)
	}
	var exit *exec.ExitError
	if out, err := run(t, valgrind, append(flags, "mistaken")...); !errors.As(err, &exit) || exit.ExitCode() != 9 {
		t.Errorf("with a mistake: %v\n%s", err, out)
	}
}
