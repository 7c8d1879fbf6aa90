package clibrary

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errLibrary reports a library with an unexpected property.
var errLibrary = errors.New("the library is not fit for distribution")

// newestGlibc is the newest version of glibc that the library may need, as in
// manylinux_2_17.
var newestGlibc = []int{2, 17}

// check refuses a shared library that exports other functions than those of the header, that
// has another name than programs look for, that can be unloaded, or that needs libraries other
// than the C library or a newer glibc than the given one. A nil glibc allows any.
func check(path string, h header, glibc []int) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	exported, needed, err := dynamicSymbols(f)
	if err != nil {
		return err
	}
	if !slices.Equal(exported, h.functions) {
		return fmt.Errorf("%w: exported but not in pm.h: %s; in pm.h but not exported: %s", errLibrary, without(exported, h.functions), without(h.functions, exported))
	}
	for _, s := range needed {
		if v, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && glibc != nil && slices.Compare(numbers(v), glibc) > 0 {
			return fmt.Errorf("%w: it needs %s of glibc %s", errLibrary, s.Name, v)
		}
	}
	if err := checkNames(f, h); err != nil {
		return err
	}
	flags, err := f.DynValue(elf.DT_FLAGS_1)
	if err != nil {
		return err
	}
	// The Go runtime cannot be unloaded, since its threads would continue without their code.
	if len(flags) == 0 || elf.DynFlag1(flags[0])&elf.DF_1_NODELETE == 0 {
		return fmt.Errorf("%w: it can be unloaded", errLibrary)
	}
	return nil
}

// checkNames checks the names of the library itself and of those that it needs.
func checkNames(f *elf.File, h header) error {
	names, err := f.DynString(elf.DT_SONAME)
	if err != nil {
		return err
	}
	if want := h.soname(); !slices.Equal(names, []string{want}) {
		return fmt.Errorf("%w: programs would look for %q, want %s", errLibrary, names, want)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, name := range libraries {
		if name != "libc.so.6" && name != "libpthread.so.0" && !strings.HasPrefix(name, "ld-linux") {
			return fmt.Errorf("%w: it needs %s", errLibrary, name)
		}
	}
	return nil
}

// dynamicSymbols returns the names that a library exports, sorted, and the symbols it
// needs from others.
func dynamicSymbols(f *elf.File) (exported []string, needed []elf.Symbol, err error) {
	all, err := f.DynamicSymbols()
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		if s.Section == elf.SHN_UNDEF {
			needed = append(needed, s)
		} else {
			exported = append(exported, s.Name)
		}
	}
	slices.Sort(exported)
	return exported, needed, nil
}

// without returns the names that are not in other, for a message.
func without(names, other []string) string {
	var only []string
	for _, n := range names {
		if !slices.Contains(other, n) {
			only = append(only, n)
		}
	}
	if only == nil {
		return "none"
	}
	return strings.Join(only, " ")
}

// numbers returns the numbers of a version such as 2.17. A malformed part counts as larger than
// any number.
func numbers(version string) (out []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			n = 1 << 30
		}
		out = append(out, n)
	}
	return out
}
