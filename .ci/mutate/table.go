package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A table is a text. A mutant has a name and what is wrong with it, the file that
// is wrong, what is replaced in it and by what, and the tests of one package or
// several that must fail:
//
//	mutant swapped: epsilon and delta in each other's place
//	in mechanism/decisions.go
//	-Multiplier(p.Epsilon, p.Delta)
//	+Multiplier(p.Delta, p.Epsilon)
//	killed in mechanism by CalibrateVectors
//
// Lines with - are the old text and lines with + the new one, as in a patch, but
// the first and the last of them need not be whole lines of the file. The old
// text occurs exactly once in the file. A file may have several replacements, one
// after the other, and a mutant several files. Tests are named without "Test".
// Empty lines and lines with # mean nothing.
type mutant struct {
	table        string // the name of its file
	name, wrong  string
	replacements []replacement
	kills        []kill
}

// A replacement turns one text of a file into another.
type replacement struct{ file, old, new string }

// A kill names tests of a package.
type kill struct {
	folder string // of the package
	tests  []string
}

// tests returns the tests of all packages.
func (m mutant) tests() (all []string) {
	for _, k := range m.kills {
		all = append(all, k.tests...)
	}
	return all
}

// readTables returns the mutants of all tables.
func readTables(paths []string) (all []mutant, err error) {
	names := make(map[string]bool)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		mutants, err := parseTable(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for i := range mutants {
			m := &mutants[i]
			m.table = filepath.Base(path)
			if names[m.name] {
				return nil, fmt.Errorf("%s: a second mutant %s", path, m.name)
			}
			names[m.name] = true
		}
		all = append(all, mutants...)
	}
	return all, nil
}

// parseTable returns the mutants of one table.
func parseTable(text string) (all []mutant, err error) {
	var old, new []string
	file := ""
	finish := func() { // a replacement
		if old != nil {
			m := &all[len(all)-1]
			m.replacements = append(m.replacements, replacement{file, strings.Join(old, "\n"), strings.Join(new, "\n")})
		}
		old, new = nil, nil
	}
	for number, line := range strings.Split(text, "\n") {
		fail := func(problem string) error { return fmt.Errorf("line %d: %s", number+1, problem) }
		name, ok := strings.CutPrefix(line, "mutant ")
		switch {
		case line == "" || line[0] == '#':
		case ok:
			finish()
			name, wrong, ok := strings.Cut(name, ": ")
			if !ok || name == "" || wrong == "" {
				return nil, fail("want mutant NAME: what is wrong")
			}
			all, file = append(all, mutant{name: name, wrong: wrong}), ""
		case len(all) == 0:
			return nil, fail("it belongs to no mutant")
		case strings.HasPrefix(line, "in "):
			finish()
			file = line[len("in "):]
		case line[0] == '-' && file != "":
			if new != nil {
				finish()
			}
			old = append(old, line[1:])
		case line[0] == '+' && old != nil:
			new = append(new, line[1:])
		case strings.HasPrefix(line, "killed in "):
			finish()
			folder, tests, ok := strings.Cut(line[len("killed in "):], " by ")
			if !ok || len(strings.Fields(tests)) == 0 {
				return nil, fail("want killed in PACKAGE by TEST...")
			}
			m := &all[len(all)-1]
			m.kills = append(m.kills, kill{folder, strings.Fields(tests)})
		default:
			return nil, fail("it is no line of a table, or not at its place")
		}
	}
	finish()
	for _, m := range all {
		same := func(r replacement) bool { return r.old == r.new || r.old == "" }
		if len(m.replacements) == 0 || slices.ContainsFunc(m.replacements, same) || len(m.kills) == 0 {
			return nil, fmt.Errorf("%s changes nothing, or names no test", m.name)
		}
	}
	return all, nil
}
