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

// C programs that use the library wrongly, or from several threads, get statuses.
func TestStatusesInC(t *testing.T) {
	for _, source := range []string{"arguments.c", "running.c", "scarce.c"} {
		program := compile(t, source, dynamic)
		text, err := os.ReadFile(filepath.Join("testdata", source))
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\{"([a-z]+)", [a-z_]+\}`).FindAllSubmatch(text, -1)
		if len(names) < 3 {
			t.Fatalf("%d checks", len(names))
		}
		for _, name := range names {
			t.Run(string(name[1]), func(t *testing.T) {
				if out, err := run(t, program, string(name[1])); err != nil {
					t.Errorf("%v\n%s", err, out)
				} else if out != "" {
					t.Log(out)
				}
			})
		}
	}
}

// The process works with more processors than there is address space for threads.
func TestFewThreadsInC(t *testing.T) {
	t.Setenv("GOMAXPROCS", "64")
	if out, err := run(t, compile(t, "scarce.c", dynamic), "threads"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	const all = 1 << 40
	for _, c := range []struct {
		left          int64
		started, want int
	}{{0, 0, 1}, {threadBytes, 5, 1}, {2*threadBytes + 3*oneThread, 5, 4}, {2*threadBytes + 3*oneThread - 1, 5, 3}, {threadBytes, 20, 16}, {all, 0, all/oneThread - 6}} {
		if got := processorsWithin(c.left, c.started); got != c.want {
			t.Errorf("%d bytes, %d threads: %d processors, want %d", c.left, c.started, got, c.want)
		}
	}
}

// A program that loads the library at run time cannot unload it, and keeps its signal handlers.
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

// No settings, shapes and bytes cause a fault of the library, and each kind of answer that
// they can have occurs.
func TestThrownAtTheLibrary(t *testing.T) {
	out, err := run(t, compile(t, "thrown.c", dynamic), t.TempDir(), "1500", "1")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, status := range []string{
		"PM_OK", "PM_ARGUMENT", "PM_SETTING", "PM_SHAPE", "PM_NOT_FINITE", "PM_ZERO_ROW", "PM_LABELS", "PM_MEMORY", "PM_SIZE", "PM_FILE", "PM_PRIVACY",
	} {
		if !regexp.MustCompile("(?m)^" + status + " ").MatchString(out) {
			t.Errorf("no %s:\n%s", status, out)
		}
	}
}

// Every function is called with one wrong argument at a time, and none returns a fault of the
// library.
func TestEveryFunctionWithAWrongArgument(t *testing.T) {
	out, err := run(t, compile(t, "every.c", dynamic), t.TempDir())
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	header, err := os.ReadFile("pm.h")
	if err != nil {
		t.Fatal(err)
	}
	// Functions of other checks: they take a handle, or nothing.
	others := regexp.MustCompile(`^pm_(\w+_free|call_new|call_on_progress|call_cancel)$`)
	for _, m := range regexp.MustCompile(`(?m)^pm_status (pm_\w+)\(`).FindAllStringSubmatch(string(header), -1) {
		if !others.MatchString(m[1]) && !regexp.MustCompile(`(?m)^`+m[1]+` [0-9]+$`).MatchString(out) {
			t.Errorf("%s is not called", m[1])
		}
	}
	// Each field of the structs that callers fill in is among the arguments. Every seed is
	// valid, and start has its own checks.
	program, err := os.ReadFile(filepath.Join("testdata", "every.c"))
	if err != nil {
		t.Fatal(err)
	}
	structs := regexp.MustCompile(`(?s)typedef struct \{\s+size_t struct_size;(.*?)\n\} (pm_\w+);`).FindAllStringSubmatch(string(header), -1)
	if len(structs) < 5 {
		t.Fatalf("%d structs", len(structs))
	}
	for _, m := range structs {
		text := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(m[1], "")
		for _, f := range regexp.MustCompile(`(\w+)[,;]`).FindAllStringSubmatch(text, -1) {
			if f[1] != "seed" && f[1] != "start" && !regexp.MustCompile(`OF\(\w+, \w+, `+f[1]+`\)`).Match(program) {
				t.Errorf("no wrong %s of %s is tried", f[1], m[2])
			}
		}
	}
}
