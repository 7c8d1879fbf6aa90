package show

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
)

// showCheckpoint explains the state of a run. Hashes of features and labels are left out: with
// them one could try guesses.
func showCheckpoint(ctx context.Context, path string) (_ *explanation, err error) {
	c, err := privatemail.OpenCheckpoint(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	state, run := c.State, c.Run
	x := &explanation{kind: "checkpoint", about: "a run of 'privatemail embed' after some of its steps; the same command with -resume goes on from it"}
	x.add("steps", fmt.Sprintf("%d taken", len(state.Trace)), len(state.Trace))
	x.add("iterate", fmt.Sprintf("%d x %d", state.Points.Rows, state.Points.Cols), []int{state.Points.Rows, state.Points.Cols})
	for _, name := range slices.Sorted(maps.Keys(run)) {
		value, _, _ := strings.Cut(run[name], "SHA-256")
		if value = strings.TrimRight(value, ", "); value != "" {
			x.add("of "+text.Harmless(name), value, nil)
		}
	}
	x.addf("privacy", "keep it as private as the features")
	x.addf("checksums", "all are right")
	return x, nil
}
