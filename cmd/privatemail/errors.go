package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/points"
)

// plain drops the names of packages from a message and keeps it on one line:
// those at the front with the operations of packages behind them, and those in
// the middle, where one package tells what another said. Names that are among the
// arguments of the command, by themselves or behind "=", stay.
func plain(message string, args ...string) string {
	given := func(name string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return arg == name || strings.HasSuffix(arg, "="+name) })
	}
	packages := slices.DeleteFunc(packageNames(), given)
	operations := slices.DeleteFunc(operationNames(), given)
	for again := true; again; {
		again = false
		for _, name := range slices.Concat(packages, operations) {
			if rest, ok := strings.CutPrefix(message, name+": "); ok {
				message, again = rest, true
			}
		}
	}
	for _, name := range packages {
		message = strings.ReplaceAll(message, ": "+name+": ", ": ")
	}
	return strings.Join(strings.FieldsFunc(message, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// packageNames are what errors of our packages begin with.
func packageNames() []string {
	return []string{
		"privatemail", "checkpoint", "kernel", "iterate", "sparse", "jb", "simd", "sensitivity", "mechanism", "release", "post", "formats",
		"retrieval", "client", "remote", "front", "sealed server", "server", "service", "wire", "paper", "published", "supervised",
		"evaluate", "baseline", "report", "cluster",
		"dense", "digits", "kmeans", "margin", "par", "pca", "plot", "points", "sections", "synth", "systemd",
	}
}

// operationNames are what may follow, and says no more than the verb.
func operationNames() []string {
	return []string{"embed", "plan", "graph", "converge", "privatize", "continue", "tight", "known", "paper", "unit rows", "labels", "fit", "map", "save", "open"}
}

// explain adds to an error of the engine what only the command knows: which
// file the rows came from, and which flag helps. Hints of a verb come before those
// of all.
func explain(err error, in input, own ...hint) error {
	if err == nil {
		return nil
	}
	if entry, ok := errors.AsType[*points.NonFiniteError](err); ok && entry.What == "points" {
		return fmt.Errorf("%s: row %d, column %d is NaN or infinite; remove the row or replace the value", in.features, entry.Row+1, entry.Col+1)
	}
	if zero, ok := errors.AsType[*privatemail.ZeroRowError](err); ok {
		return fmt.Errorf("%s: row %d is zero and cannot be divided by its norm; remove the row, or leave out -normalize-rows", in.features, zero.Row+1)
	}
	for _, h := range append(own, hints()...) {
		if !errors.Is(err, h.kind) || !strings.Contains(err.Error(), h.says) {
			continue
		}
		advice := h.advice
		if advice != "" {
			advice = "; " + advice
		}
		return fmt.Errorf("%s%w%s", in.about(h.part), bare(err), advice)
	}
	return err
}

// bare is an error without the names of packages in front.
func bare(err error) error { return &bareError{err} }

type bareError struct{ error }

func (e *bareError) Error() string { return plain(e.error.Error()) }
func (e *bareError) Unwrap() error { return e.error }

// hint says what a user can do about a kind of error.
type hint struct {
	kind   error
	says   string // what the message must contain for the advice to fit
	part   part
	advice string // empty where the message says it
}

func hints() []hint {
	return []hint{
		{mechanism.ErrOtherRelation, "", nothing, sayOtherRelation},
		{kernel.ErrMemory, "label table", nothing, "the flag is -table"}, // its limit is fixed
		{kernel.ErrMemory, "", nothing, "-budget allows more"},
		{kernel.ErrIsolated, "", features, "use a larger -sigma or -degree, -isolated repair to give them neighbours, or -isolated keep to leave them where they are"},
		{kernel.ErrTolerance, "", features, "use a larger -tolerance or -operator dense"},
		{kernel.ErrUnitNorm, "", features, "-normalize-rows divides every row by its norm first"},
		{iterate.ErrDiverged, "", nothing, "the flags are -normalize, -steps, -alpha and -beta"},
		{kernel.ErrLabels, "", labels, ""},
		{kernel.ErrEmpty, "", features, "embedding needs at least one row and one column"},
	}
}
