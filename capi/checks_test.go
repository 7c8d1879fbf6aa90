//go:build cgo

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// A program in C that uses the library wrongly, or from several threads, gets statuses.
func TestStatusesInC(t *testing.T) {
	program := compile(t, "checks.c", dynamic)
	text, err := os.ReadFile(filepath.Join("testdata", "checks.c"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\{"([a-z]+)", [a-z_]+\}`).FindAllSubmatch(text, -1)
	if len(names) < 10 {
		t.Fatalf("%d checks", len(names))
	}
	for _, name := range names {
		t.Run(string(name[1]), func(t *testing.T) {
			out, err := run(t, program, string(name[1]))
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			} else if out != "" {
				t.Log(out)
			}
		})
	}
}

// A program that loads the library while it runs cannot unload it, and keeps its signals.
func TestLoadedLate(t *testing.T) {
	program := compile(t, "loaded.c", unlinked)
	library := filepath.Join(built, "lib", "libprivatemail.so.1")
	if out, err := run(t, program, library, "unload"); err != nil {
		t.Errorf("unload: %v\n%s", err, out)
	}
	var exit *exec.ExitError
	if out, err := run(t, program, library, "fault"); !errors.As(err, &exit) || exit.ExitCode() != 42 {
		t.Errorf("the handler of the program has not seen its fault: %v\n%s", err, out)
	}
	out, err := run(t, program, library, "signal")
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("SIGINT does not end the program: %v\n%s", err, out)
	}
}
