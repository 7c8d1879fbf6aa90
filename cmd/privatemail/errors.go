package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/points"
)

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

// hint says what a user can do about a kind of error.
type hint struct {
	kind   error
	says   string // what the message must contain for the advice to fit
	part   part
	advice string // empty where the message says it
}

// sayOtherRelation is the advice for a spend that protects other data sets.
const sayOtherRelation = "the flag is -other-relation"

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
