// Package clibrary builds the library of pm.h from package capi, for programs in C, C++ and
// Python.
package clibrary

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// source is the package of the library, and own is this package.
const (
	source = "github.com/seed-64e14a55/privatemail/capi"
	own    = "github.com/seed-64e14a55/privatemail/internal/clibrary"
)

// ErrPart reports an unknown part of the library.
var ErrPart = errors.New("no such part of the library")

// ErrSystem reports a system on which the library cannot be built.
var ErrSystem = errors.New("the library is built on Linux with glibc")

// ErrPath reports a folder whose name cannot be passed to the compilers.
var ErrPath = errors.New("the path has a quotation mark or a comma")

// The parts that Build can be limited to.
const (
	All    = ""
	Shared = "shared" // no archive
	Static = "static" // no shared library
)

// Build writes the library into a folder, which it creates: lib/libprivatemail.so.1 with the
// name libprivatemail.so for the linker, lib/libprivatemail.a, include/pm.h, and files for
// pkg-config, CMake and valgrind. It needs Go and a C compiler but no network, and runs in a
// folder of this module. The shared library exports only the functions of the header. On amd64
// it runs with glibc 2.17 and later. Errors: ErrPart, ErrSystem, ErrPath for the folder or the
// folder of the sources, those of the compilers and of the file system, and that of ctx.
func Build(ctx context.Context, folder, part string) error {
	if part != All && part != Shared && part != Static {
		return fmt.Errorf("%w: %q; there are %s and %s", ErrPart, part, Shared, Static)
	}
	if err := checkSystem(ctx); err != nil {
		return err
	}
	b, err := begin(ctx, folder)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.temporary)
	if part != Static {
		if err := b.shared(ctx); err != nil {
			return err
		}
	}
	if part != Shared {
		if err := b.static(ctx); err != nil {
			return err
		}
	}
	return b.texts()
}

// checkSystem refuses systems on which a shared library of Go does not start. Under musl it
// crashes while it is loaded, before it could report why.
func checkSystem(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w, not on %s", ErrSystem, runtime.GOOS)
	}
	compiler, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return explained(err)
	}
	words := strings.Fields(string(compiler)) // it may have arguments
	if len(words) == 0 {
		return fmt.Errorf("%w: no C compiler", ErrSystem)
	}
	machine, err := exec.CommandContext(ctx, words[0], append(words[1:], "-dumpmachine")...).Output()
	if err != nil {
		return fmt.Errorf("the C compiler: %w", explained(err))
	}
	if strings.Contains(string(machine), "musl") {
		return fmt.Errorf("%w, not with musl: the compiler is for %s", ErrSystem, strings.TrimSpace(string(machine)))
	}
	return nil
}

// A build is the state of a build of the library.
type build struct {
	folder, temporary string
	text              []byte // of the header
	header            header
	threads, oldGlibc string // paths of headers that C files are compiled with
}

// begin reads the header and makes the folders.
func begin(ctx context.Context, folder string) (b *build, err error) {
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", source, own)
	list.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find the source of the library: %w", explained(err))
	}
	folders := strings.Split(strings.TrimSpace(string(out)), "\n")
	b = &build{threads: filepath.Join(folders[0], "threads.h"), oldGlibc: filepath.Join(folders[len(folders)-1], "oldglibc.h")}
	if b.text, err = os.ReadFile(filepath.Join(folders[0], "pm.h")); err != nil {
		return nil, err
	}
	if b.header, err = readHeader(b.text); err != nil {
		return nil, err
	}
	if b.folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	for _, path := range []string{b.folder, b.threads, b.oldGlibc} { // they are quoted, and passed as options of the linker
		if strings.ContainsAny(path, "'\",") {
			return nil, fmt.Errorf("%w: %s", ErrPath, path)
		}
	}
	for _, name := range []string{"include", "lib/pkgconfig", "lib/cmake/PrivateMail", "share/privatemail"} {
		if err := os.MkdirAll(filepath.Join(b.folder, name), 0o777); err != nil {
			return nil, err
		}
	}
	b.temporary, err = os.MkdirTemp(b.folder, ".privatemail-new-")
	return b, err
}

// shared builds the shared library.
func (b *build) shared(ctx context.Context) error {
	// Only the functions of the header are visible to others, so that two libraries with
	// a Go runtime, or a program with its own symbols, do not conflict.
	script := "{\n  global:\n    " + strings.Join(b.header.functions, ";\n    ") + ";\n  local: *;\n};\n"
	scriptPath := filepath.Join(b.temporary, "pm.map")
	if err := os.WriteFile(scriptPath, []byte(script), 0o666); err != nil {
		return err
	}
	name := b.header.soname()
	link := []string{"-Wl,--version-script=" + scriptPath, "-Wl,-soname," + name, "-Wl,-z,nodelete"}
	headers, glibc := []string{b.threads}, []int(nil)
	if runtime.GOARCH == "amd64" {
		headers = append(headers, b.oldGlibc)
		// An old glibc has the old versions of these functions in libpthread.
		link = append(link, "-Wl,--no-as-needed", "-l:libpthread.so.0")
		glibc = newestGlibc
	}
	path := filepath.Join(b.temporary, name)
	flags := "-s -w -buildid= -extldflags \"'" + strings.Join(link, "' '") + "'\""
	if err := b.run(ctx, headers, "-buildmode=c-shared", "-ldflags="+flags, "-o", path); err != nil {
		return err
	}
	if err := check(path, b.header, glibc); err != nil {
		return err
	}
	if err := place(path, filepath.Join(b.folder, "lib", name)); err != nil {
		return err
	}
	linked := filepath.Join(b.temporary, "libprivatemail.so")
	if err := os.Symlink(name, linked); err != nil {
		return err
	}
	return os.Rename(linked, filepath.Join(b.folder, "lib", "libprivatemail.so"))
}

// static builds the archive.
func (b *build) static(ctx context.Context) error {
	path := filepath.Join(b.temporary, "libprivatemail.a")
	if err := b.run(ctx, []string{b.threads}, "-buildmode=c-archive", "-ldflags=-s -w -buildid=", "-o", path); err != nil {
		return err
	}
	return place(path, filepath.Join(b.folder, "lib", "libprivatemail.a"))
}

// place syncs a file and renames it.
func place(path, to string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path, to)
}

// run runs go build with some arguments. C files, including those of the Go runtime, are
// compiled with the headers.
func (b *build) run(ctx context.Context, headers []string, arguments ...string) error {
	flags, err := including(headers)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "go", append(append([]string{"build", "-trimpath", "-buildvcs=false"}, arguments...), source)...)
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O2 "+flags)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// including returns the flags of the C compiler for the headers. Go keeps compiled files until
// a flag changes, and does not look into the headers. So a flag contains the hash of the
// headers and of those they may include.
func including(headers []string) (flags string, err error) {
	hash := sha256.New()
	for _, h := range headers {
		flags += " -include '" + h + "'"
		all, err := filepath.Glob(filepath.Join(filepath.Dir(h), "*.h"))
		if err != nil {
			return "", err
		}
		for _, path := range all {
			text, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			hash.Write(text)
		}
	}
	return fmt.Sprintf("%s -DPMC_HEADERS=0x%x", flags, hash.Sum(nil)[:7]), nil
}

// texts writes the header and the files for other programs.
func (b *build) texts() error {
	// The folder may be moved, so paths are relative to the file itself.
	pc := `prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/include

Name: privatemail
Description: supervised manifold learning with certified graphs and differential privacy
Version: ` + b.header.version + `
Cflags: -I${includedir}
Libs: -L${libdir} -lprivatemail
Libs.private: -lpthread
`
	for _, f := range []struct{ name, text string }{
		{"include/pm.h", string(b.text)},
		{"lib/pkgconfig/privatemail.pc", pc},
		{"lib/cmake/PrivateMail/PrivateMailConfig.cmake", b.header.cmake(cmakeConfig)},
		{"lib/cmake/PrivateMail/PrivateMailConfigVersion.cmake", b.header.cmake(cmakeVersion)},
		{"share/privatemail/valgrind.supp", b.header.suppressions()},
	} {
		if err := writeFile(filepath.Join(b.folder, f.name), []byte(f.text)); err != nil {
			return err
		}
	}
	return nil
}

// writeFile replaces a file atomically, since others may read it.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".privatemail-new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails if it was renamed
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// explained adds the output of a command to its error.
func explained(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}
