//go:build linux && cgo

package clibrary

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Faulty libraries that a change of the build could produce are refused.
func TestCheck(t *testing.T) {
	h, err := readHeader([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	named, kept := "-Wl,-soname,libprivatemail.so.3", "-Wl,-z,nodelete"
	right := []string{named, kept}
	const both = "int pm_one(void) { return 1; } int pm_two(void) { return 2; } "
	for _, c := range []struct {
		name, source string
		flags        []string
		glibc        []int
		refused      string // part of the message
	}{
		{"as it should be", both, right, nil, ""},
		{"one more function", both + "int other(void) { return 3; }", right, nil, "other"},
		{"one function fewer", "int pm_one(void) { return 1; }", right, nil, "pm_two"},
		{"it can be unloaded", both, []string{named}, nil, "unloaded"},
		{"it has no name", both, []string{kept}, nil, "libprivatemail.so.3"},
		{"it has the name of another version", both, []string{kept, "-Wl,-soname,libprivatemail.so.2"}, nil, "libprivatemail.so.3"},
		{"it needs another library", both, []string{named, kept, "-Wl,--no-as-needed", "-lm"}, nil, "libm.so"},
		{"glibc is new enough", "#include <stdlib.h>\nint pm_one(void) { return abs(1); } int pm_two(void) { abort(); }", right, []int{99}, ""},
		{"it needs a newer glibc", "#include <stdlib.h>\nint pm_one(void) { return abs(1); } int pm_two(void) { abort(); }", right, []int{1, 99}, "abort"},
	} {
		path := filepath.Join(t.TempDir(), "library.so")
		compile := exec.Command(cmp.Or(os.Getenv("CC"), "gcc"), append([]string{"-shared", "-fPIC", "-nostartfiles", "-x", "c", "-", "-o", path}, c.flags...)...)
		compile.Stdin = strings.NewReader(c.source)
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, out)
		}
		switch err := check(path, h, c.glibc); {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.refused != "" && (!errors.Is(err, errLibrary) || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if check(text, h, nil) == nil || check(text+"2", h, nil) == nil {
		t.Error("a text, or nothing, is accepted as a library")
	}
}

func TestPartsOfTheLibrary(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "x")
	if err := Build(t.Context(), folder, "half"); !errors.Is(err, ErrPart) {
		t.Error(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("a folder was made")
	}
}

// Paths that the compilers would split are refused before anything is made.
func TestPathsAreRefused(t *testing.T) {
	for _, name := range []string{"it's", "a,b", `"x"`} {
		folder := filepath.Join(t.TempDir(), name)
		if err := Build(t.Context(), folder, Shared); !errors.Is(err, ErrPath) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
}

func TestMuslIsRefused(t *testing.T) {
	compiler := filepath.Join(t.TempDir(), "cc")
	if err := os.WriteFile(compiler, []byte("#!/bin/sh\necho x86_64-alpine-linux-musl\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CC", compiler)
	if err := Build(t.Context(), filepath.Join(t.TempDir(), "x"), All); !errors.Is(err, ErrSystem) || !strings.Contains(err.Error(), "musl") {
		t.Error(err)
	}
	t.Setenv("CC", compiler+"-none")
	if err := Build(t.Context(), filepath.Join(t.TempDir(), "x"), All); err == nil {
		t.Error("a compiler that is not there builds")
	}
}
