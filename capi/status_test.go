//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// statusNumbers returns the statuses by their names in pm.h.
func statusNumbers(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("pm.h")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]int{}
	for line := range strings.Lines(string(text)) {
		var name string
		var n int
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "PM_%s = %d", &name, &n); err == nil {
			numbers["PM_"+name] = n
		}
	}
	if len(numbers) != 22 {
		t.Fatalf("%d statuses in pm.h", len(numbers))
	}
	return numbers
}

func TestStatusOfErrors(t *testing.T) {
	number := statusNumbers(t)
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	for _, c := range []struct {
		err  error
		want string
	}{
		{kernel.ErrShape, "PM_SHAPE"},
		{kernel.ErrNonFinite, "PM_NOT_FINITE"},
		{privatemail.ErrZeroRow, "PM_ZERO_ROW"},
		{privatemail.ErrSettings, "PM_SETTING"},
		{privatemail.ErrClosed, "PM_HANDLE"},
		{context.Canceled, "PM_CANCELLED"},
		{mechanism.ErrLocked, "PM_BUSY"},
		{mechanism.ErrBudgetExceeded, "PM_BUDGET"},
		{errors.Join(mechanism.ErrSpent, context.Canceled), "PM_SPENT"},
		{errors.Join(context.Canceled, mechanism.ErrSpent), "PM_SPENT"},
		{missing, "PM_SYSTEM"},
		{fmt.Errorf("%w: %w", supervised.ErrFile, missing), "PM_SYSTEM"},
		{supervised.ErrFile, "PM_FILE"},
		{&fs.PathError{Op: "read", Path: "x", Err: fs.ErrPermission}, "PM_SYSTEM"},
		{&par.PanicError{Value: "x"}, "PM_INTERNAL"},
		{errors.New("unforeseen"), "PM_INTERNAL"},
	} {
		if got := statusOf(fmt.Errorf("outer: %w", c.err)); got != number[c.want] {
			t.Errorf("%v: %d, want %s", c.err, got, c.want)
		}
	}
}

// Every error that packages below the library export has a status. A new one that is
// missing here would be reported as a fault of the library.
func TestEveryErrorHasAStatus(t *testing.T) {
	text, err := os.ReadFile("status.go")
	if err != nil {
		t.Fatal(err)
	}
	known := string(text)
	// These are other names of errors with a status.
	same := []string{"kernel.ErrShape", "kernel.ErrNonFinite", "sparse.ErrShape", "sparse.ErrNonFinite", "kernel.ErrOption", "privatemail.ErrSettings", "privatemail.ErrZeroRow", "points.ErrDiverged"}
	// No function of the library returns these.
	never := []string{"sparse.ErrStructure", "sparse.ErrRange", "formats.ErrColumn", "supervised.ErrRange"}
	folders := map[string]string{
		"privatemail": "..", "formats": "../formats", "iterate": "../iterate", "kernel": "../kernel", "mechanism": "../mechanism", "release": "../mechanism/release",
		"par": "../par", "points": "../internal/points", "post": "../post", "supervised": "../retrieval/supervised", "sensitivity": "../sensitivity", "sparse": "../sparse",
	}
	found := 0
	for name, folder := range folders {
		for _, e := range sentinels(t, folder) {
			found++
			full := name + "." + e
			if !strings.Contains(known, full+",") && !slices.Contains(same, full) && !slices.Contains(never, full) {
				t.Errorf("%s has no status", full)
			}
		}
	}
	if found < 40 {
		t.Errorf("%d errors were found", found)
	}
}

// sentinels returns the names of the errors that a package exports.
func sentinels(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					if strings.HasPrefix(n.Name, "Err") {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// No panic of Go reaches C.
func TestGuard(t *testing.T) {
	number := statusNumbers(t)
	var nothing map[string]int
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"nothing":          {func() error { return nil }, "PM_OK"},
		"an error":         {func() error { return argument("x is NULL") }, "PM_ARGUMENT"},
		"a panic":          {func() error { panic("fault") }, "PM_INTERNAL"},
		"a runtime error":  {func() error { nothing["x"] = 1; return nil }, "PM_INTERNAL"},
		"a panic of nil":   {func() error { panic(nil) }, "PM_INTERNAL"},
		"an error's panic": {func() error { panic(kernel.ErrShape) }, "PM_INTERNAL"},
		"text with a NUL":  {func() error { return argument("a\x00b") }, "PM_ARGUMENT"},
	} {
		if got := int(guard("pm_test", c.do)); got != number[c.want] {
			t.Errorf("%s: %d, want %s", name, got, c.want)
		}
	}
}

// Work in another goroutine is guarded too, since only apart can catch its panic.
func TestGuardOfWorkApart(t *testing.T) {
	want := statusNumbers(t)["PM_INTERNAL"]
	if got := int(guard("pm_test", func() error { return apart(func() error { panic("fault") }) })); got != want {
		t.Errorf("a panic: status %d, want %d", got, want)
	}
	if err := apart(func() error { return kernel.ErrShape }); err != kernel.ErrShape {
		t.Errorf("an error: %v", err)
	}
	if err := apart(func() error { return nil }); err != nil {
		t.Errorf("no error: %v", err)
	}
}
