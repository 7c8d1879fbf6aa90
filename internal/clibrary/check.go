package clibrary

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errLibrary reports a library that is not what it should be.
var errLibrary = errors.New("the library is not fit to be passed on")

// newestGlibc is the newest version of glibc that the library may need, that of
// manylinux_2_17.
var newestGlibc = []int{2, 17}

// check refuses a shared library that exports something else than the functions of the
// header, that has another name than programs are to look for, that can be unloaded, that needs
// other libraries than the C library, or a newer glibc than the given one, which is nil where
// any will do.
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
		return fmt.Errorf("%w: it exports %s, and pm.h has %s", errLibrary, without(exported, h.functions), without(h.functions, exported))
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
	// The Go runtime cannot be unloaded: its threads would run on where no code is.
	if len(flags) == 0 || elf.DynFlag1(flags[0])&elf.DF_1_NODELETE == 0 {
		return fmt.Errorf("%w: it can be unloaded", errLibrary)
	}
	return nil
}

// checkNames looks at the names of the library itself and of those that it needs.
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

// dynamicSymbols returns the names that a library exports, sorted, and what it needs of
// others.
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

// without returns what names has and other has not, for a message.
func without(names, other []string) string {
	var only []string
	for _, n := range names {
		if !slices.Contains(other, n) {
			only = append(only, n)
		}
	}
	if only == nil {
		return "nothing else"
	}
	return strings.Join(only, " ") + " beside"
}

// numbers returns the numbers of a version such as 2.17. What is none counts as above all.
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
