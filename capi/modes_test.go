//go:build cgo && (amd64 || arm64)

package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Results have the same bits in any floating-point mode of the program: rounding, small numbers
// as 0, exceptions as signals. That holds for the mode when it loads the library and when it
// calls it, in several threads and modes at the same time, and after progress functions that
// change the mode. Each call restores the mode, and progress functions run in that of the
// caller.
func TestFloatingPointModes(t *testing.T) {
	t.Setenv("GOMAXPROCS", "8") // threads are created during calls
	program := compile(t, "modes.c", unlinked)
	archive := compile(t, "modes.c", append([]string{"-DLINKED", "-ffast-math"}, archived...))
	library, release := filepath.Join(built, "lib", "libprivatemail.so.1"), filepath.Join(t.TempDir(), "release")
	want := ""
	compare := func(what string, mode, rounds int, lines []string) {
		if len(lines) != rounds {
			t.Fatalf("%s %d: %d rounds, want %d", what, mode, len(lines), rounds)
		}
		for _, line := range lines {
			hash, when, _ := strings.Cut(line, " ")
			if want == "" {
				want = hash // the mode of a new process
			}
			if hash != want {
				t.Errorf("%s %d: other results %s", what, mode, when)
			}
		}
	}
	for mode, modes := 0, 1; mode < modes; mode++ {
		out, err := run(t, program, library, strconv.Itoa(mode), release)
		if err != nil {
			t.Fatalf("loaded in mode %d: %v\n%s", mode, err, out)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if modes, err = strconv.Atoi(lines[0]); err != nil || modes < 16 {
			t.Fatalf("loaded in mode %d: %v\n%s", mode, err, out)
		}
		rounds := 4 // after loading, in the mode, in a thread in the mode, afterwards
		if mode == 0 {
			rounds = 2*modes + 2
		}
		compare("loaded in mode", mode, rounds, lines[1:])
	}
	out, err := run(t, archive, "", "1", release)
	if err != nil {
		t.Fatalf("the archive: %v\n%s", err, out)
	}
	compare("the archive in mode", 1, 4, strings.Split(strings.TrimSpace(out), "\n")[1:])
}
