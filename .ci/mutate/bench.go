package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A bench compiles and runs tests.
type bench struct{ root, temporary string }

// passes runs the tests of all mutants without any and returns what is wrong with
// them: each has to pass, and not to be skipped.
func (b bench) passes(ctx context.Context, mutants []mutant) (complaint string) {
	packages := make(map[string][]string)
	for _, m := range mutants {
		for _, k := range m.kills {
			packages[k.folder] = append(packages[k.folder], k.tests...)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		tests := packages[folder]
		slices.Sort(tests)
		k := kill{folder, slices.Compact(tests)}
		log, err := b.test(ctx, k, "none", "", "-test.v")
		if err != nil {
			return err.Error()
		}
		if missing := without(k.tests, log, "--- PASS: "); missing != nil {
			return fmt.Sprintf("%s: %s do not pass:\n%s", folder, strings.Join(missing, " "), tail(log))
		}
	}
	return ""
}

// try returns why a mutant is not killed, or nothing if it is.
func (b bench) try(ctx context.Context, m mutant) (complaint string) {
	overlay, err := b.overlay(m)
	if err != nil {
		return "CANNOT BE MADE: " + err.Error()
	}
	for _, k := range m.kills {
		log, err := b.test(ctx, k, m.name, overlay)
		if err != nil {
			return "CANNOT BE TRIED: " + err.Error()
		}
		if missing := without(k.tests, log, "--- FAIL: "); missing != nil {
			return fmt.Sprintf("SURVIVES %s of %s (%s):\n%s", strings.Join(missing, " "), k.folder, m.wrong, tail(log))
		}
	}
	return ""
}

// overlay writes the files of a mutant and returns the name of what lists them,
// as the go command wants it.
func (b bench) overlay(m mutant) (string, error) {
	texts := make(map[string]string) // by file
	for _, r := range m.replacements {
		text, ok := texts[r.file]
		if !ok {
			read, err := os.ReadFile(filepath.Join(b.root, r.file))
			if err != nil {
				return "", err
			}
			text = string(read)
		}
		if n := strings.Count(text, r.old); n != 1 {
			return "", fmt.Errorf("%s has the text %d times, not once:\n%s", r.file, n, r.old)
		}
		texts[r.file] = strings.Replace(text, r.old, r.new, 1)
	}
	replace := make(map[string]string)
	for file, text := range texts {
		path, err := filepath.Abs(filepath.Join(b.root, file))
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(b.temporary, fmt.Sprintf("%s-%d.go", m.name, len(replace)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(b.temporary, m.name+".json")
	return name, os.WriteFile(name, list, 0o600)
}

// test compiles the tests of a package with an overlay, or without if it is empty,
// and returns what they print, whether they pass or not. An error means that they
// did not compile, or could not be run.
func (b bench) test(ctx context.Context, k kill, name, overlay string, flags ...string) (log []byte, err error) {
	program, err := filepath.Abs(filepath.Join(b.temporary, name+".test"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(program)
	// The go command takes the overlay from here, also when a test calls it.
	environment := os.Environ()
	if overlay != "" {
		environment = append(environment, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay)
	}
	// Most of the time is that of the compiler: it leaves out what no test looks at.
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-l -dwarf=false", "-ldflags=-w", "-o", program, "./"+k.folder)
	compile.Dir, compile.Env = b.root, environment
	if log, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s does not compile: %w\n%s", k.folder, err, tail(log))
	}
	pattern := "^Test(" + strings.Join(k.tests, "|") + ")$"
	run := exec.CommandContext(ctx, program, append(flags, "-test.run="+pattern, "-test.short", "-test.timeout=2m", "-test.paniconexit0")...)
	run.Dir, run.Env = filepath.Join(b.root, k.folder), environment
	log, err = run.CombinedOutput()
	if failed := new(exec.ExitError); ctx.Err() == nil && errors.As(err, &failed) {
		err = nil
	}
	return log, err
}

// without returns the tests about which the log has no line with this mark.
func without(tests []string, log []byte, mark string) (missing []string) {
	for _, test := range tests {
		if !bytes.Contains(append([]byte("\n"), log...), []byte("\n"+mark+"Test"+test+" ")) {
			missing = append(missing, test)
		}
	}
	return missing
}

// tail returns the last lines of a log.
func tail(log []byte) string {
	lines := strings.Split(strings.TrimRight(string(log), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
