// Package clibrary builds the library of pm.h, which programs in C, C++ and Python link, from
// package capi.
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

// source is the package that the library is made of, and own this one.
const (
	source = "github.com/seed-64e14a55/privatemail/capi"
	own    = "github.com/seed-64e14a55/privatemail/internal/clibrary"
)

// ErrPart reports a part that the library does not have.
var ErrPart = errors.New("no such part of the library")

// ErrSystem reports a system that the library cannot be built on.
var ErrSystem = errors.New("the library is built on Linux with glibc")

// ErrPath reports a folder whose name cannot be handed to the compilers.
var ErrPath = errors.New("the path has a quotation mark or a comma")

// Parts of what Build writes.
const (
	All    = ""
	Shared = "shared" // no archive
	Static = "static" // no shared library
)

// Build writes the library into a folder, which it makes: lib/libprivatemail.so.1 with the
// name libprivatemail.so for the linker, lib/libprivatemail.a, include/pm.h, and files for
// pkg-config, CMake and valgrind. It needs Go, a C compiler and no network, and runs in a folder of this
// module. The shared library exports the functions of the header and nothing else. On amd64
// it runs with glibc 2.17 and later. Errors: ErrPart, ErrSystem, ErrPath for the folder and
// that of the sources, those of the compilers and of the file system, and that of ctx.
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

// checkSystem refuses systems on which a shared library of Go would not start. Under musl it
// crashes when it is loaded, before it could say why.
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

// A build is a library that is being built.
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
		return nil, fmt.Errorf("the source of the library is not found: %w", explained(err))
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
	for _, path := range []string{b.folder, b.threads, b.oldGlibc} { // they stand within quotation marks, and among options of the linker
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
	// Nothing but the functions of the header is seen by others: two libraries with a Go
	// runtime, or a program with its own symbols, must not get in each other's way.
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
		// The old forms of these functions are in libpthread where glibc is old.
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

// place moves a file that is on the disk, all of it, to its name.
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

// run runs go build with some arguments. C files are compiled with the headers, and so are those of
// the Go runtime.
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

// including returns the flags of the C compiler for the headers. Go keeps what it has compiled until a
// flag changes, and does not look into these files: a flag has the hash of them, and of those that they
// may include.
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
	// The folder may be moved: paths begin at the place of the file itself.
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

// writeFile replaces a file at once: others may read it.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".privatemail-new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails where it was renamed
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// explained adds what a command printed to its error.
func explained(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w\n%s", err, exit.Stderr)
	}
	return err
}
