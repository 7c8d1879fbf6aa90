package files

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Explain adds to an error of the engine what only the command knows: which
// file the rows came from, and which flag helps. Hints of a verb come before those
// of all.
func Explain(err error, in Input, own ...Hint) error {
	if err == nil {
		return nil
	}
	if entry, ok := errors.AsType[*points.NonFiniteError](err); ok && entry.What == "points" {
		return fmt.Errorf("%s: row %d, column %d is NaN or infinite; remove the row or replace the value", in.Features, entry.Row+1, entry.Col+1)
	}
	if zero, ok := errors.AsType[*privatemail.ZeroRowError](err); ok {
		return fmt.Errorf("%s: row %d is zero and cannot be divided by its norm; remove the row, or leave out -normalize-rows", in.Features, zero.Row+1)
	}
	for _, h := range append(own, hints()...) {
		if !errors.Is(err, h.Kind) || !strings.Contains(err.Error(), h.Says) {
			continue
		}
		advice := h.Advice
		if advice != "" {
			advice = "; " + advice
		}
		return fmt.Errorf("%s%w%s", in.about(h.Part), text.Bare(err), advice)
	}
	return err
}

// Hint says what a user can do about a kind of error.
type Hint struct {
	Kind   error
	Says   string // what the message must contain for the advice to fit
	Part   Part
	Advice string // empty where the message says it
}

// SayOtherRelation is the advice for a spend that protects other data sets.
const SayOtherRelation = "the flag is -other-relation"

func hints() []Hint {
	return []Hint{
		{mechanism.ErrOtherRelation, "", nothing, SayOtherRelation},
		{kernel.ErrMemory, "label table", nothing, "the flag is -table"}, // its limit is fixed
		{kernel.ErrMemory, "", nothing, "-max-memory allows more"},
		{kernel.ErrIsolated, "", Features, "use a larger -sigma or -mean-neighbours, -isolated repair to give them neighbours, or -isolated keep to leave them where they are"},
		{kernel.ErrTolerance, "", Features, "use a larger -tolerance or -operator dense"},
		{kernel.ErrUnitNorm, "", Features, "-normalize-rows divides every row by its norm first"},
		{iterate.ErrDiverged, "", nothing, "the flags are -normalize, -steps, -alpha and -beta"},
		{kernel.ErrLabels, "", labels, ""},
		{kernel.ErrEmpty, "", Features, "embedding needs at least one row and one column"},
	}
}
