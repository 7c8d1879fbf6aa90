// Package text formats messages: without package names, wrapped to the width of the terminal, sizes in words.
package text

import (
	"slices"
	"strings"
)

// Plain drops the names of packages from a message and keeps it on one line:
// those at the front with the operations of packages after them, and those in
// the middle, where one package reports what another said. Names that are among the
// arguments of the command, alone or after "=", stay.
func Plain(text string, args ...string) string {
	given := func(name string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return arg == name || strings.HasSuffix(arg, "="+name) })
	}
	packages := slices.DeleteFunc(packageNames(), given)
	operations := slices.DeleteFunc(operationNames(), given)
	for again := true; again; {
		again = false
		for _, name := range slices.Concat(packages, operations) {
			if rest, ok := strings.CutPrefix(text, name+": "); ok {
				text, again = rest, true
			}
		}
	}
	for _, name := range packages {
		text = strings.ReplaceAll(text, ": "+name+": ", ": ")
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// packageNames are what errors of our packages begin with.
func packageNames() []string {
	return []string{
		"privatemail", "kernel", "iterate", "sparse", "jb", "simd", "sensitivity", "mechanism", "release", "post", "formats",
		"client", "remote", "front", "sealed server", "server", "service", "session", "wire", "paper", "published", "supervised",
		"evaluate", "baseline", "report", "cluster",
		"align", "dense", "digits", "kmeans", "margin", "par", "pca", "plot", "points", "sections", "synth", "systemd",
	}
}

// operationNames are what may follow, and says no more than the verb.
func operationNames() []string {
	return []string{"embed", "plan", "graph", "converge", "privatize", "continue", "tight", "known", "paper", "unit rows", "labels", "fit", "map", "save", "open", "save checkpoint", "open checkpoint"}
}

// Bare is an error without the names of packages in front.
func Bare(err error) error { return &bareError{err} }

type bareError struct{ error }

func (e *bareError) Error() string { return Plain(e.error.Error()) }

func (e *bareError) Unwrap() error { return e.error }
