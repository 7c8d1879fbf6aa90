//go:build cgo

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/clibrary"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// built is a folder with the library, which TestMain builds once.
var built string

func TestMain(m *testing.M) {
	if !longtest.Wanted() { // building the library takes a minute
		os.Exit(m.Run())
	}
	code, err := withLibrary(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withLibrary runs tests with the library.
func withLibrary(run func() int) (code int, err error) {
	if built, err = os.MkdirTemp("", "privatemail-capi-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(built)
	if err := clibrary.Build(context.Background(), built, clibrary.All); err != nil {
		return 1, err
	}
	return run(), nil
}

// The ways to link a program with the library.
var (
	dynamic  = []string{"-lprivatemail"}
	archived = []string{"-l:libprivatemail.a"}
	unlinked []string // the program loads the library itself
)

// compile compiles a program of testdata, as C99 or C++11 according to its name. Every
// warning is an error.
func compile(t *testing.T, source string, link []string) (program string) {
	t.Helper()
	longtest.Only(t)
	program = filepath.Join(t.TempDir(), "program")
	compiler, standard := compilerOf(t, "CC"), "-std=c99"
	if strings.HasSuffix(source, ".cpp") {
		compiler, standard = compilerOf(t, "CXX"), "-std=c++11"
	}
	args := []string{standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I", filepath.Join(built, "include"),
		filepath.Join("testdata", source), "-o", program, "-L", filepath.Join(built, "lib")}
	args = append(args, link...)
	args = append(args, "-lpthread", "-ldl", "-Wl,-rpath,"+filepath.Join(built, "lib"))
	if out, err := exec.Command(compiler[0], append(compiler[1:], args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return program
}

// compilerOf returns the compiler that Go uses, with its arguments, from CC or CXX.
func compilerOf(t *testing.T, variable string) []string {
	t.Helper()
	out, err := exec.Command("go", "env", variable).Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) == 0 {
		t.Fatalf("no %s: %v", variable, err)
	}
	return words
}

// compilesCpp reports whether there is a C++ compiler. Building the library does not need one,
// but CI, which sets PM_PEERS, must have it.
func compilesCpp(t *testing.T) bool {
	t.Helper()
	compiler := compilerOf(t, "CXX")[0]
	if _, err := exec.LookPath(compiler); err != nil && os.Getenv("PM_PEERS") == "" {
		t.Logf("C++ is not tested: %v", err)
		return false
	}
	return true
}

// run runs a program, in a folder that it must leave empty, and returns its output and how it
// ended. A program that hangs is killed and fails the test.
func run(t *testing.T, program string, args ...string) (output string, ended error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = t.TempDir()
	out, ended := c.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("it hangs: %s", out)
	}
	if left, err := os.ReadDir(c.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v; files in the current folder: %v", err, left)
	}
	return string(out), ended
}
