package record

import (
	"context"
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Keep keeps the measurements or ratios of a suite in a recording of the folder, if
// there is a folder, and returns how the suite ended.
func Keep[T any](ctx context.Context, e *cli.Env, folder, name string, objects []T, ended error) error {
	if ended != nil {
		ended = errors.Join(ctx.Err(), ended) // a peer that was ended with us is no failure of its own
	}
	if folder == "" || len(objects) == 0 {
		return ended
	}
	path, err := Write(ctx, folder, name, ended != nil, objects)
	if err != nil {
		return EndedWith(ctx, ended, err)
	}
	e.Note("recorded in %s", path)
	return ended
}

// EndedWith adds the failure to write a file to how a run ended. Where a signal has ended
// the run, the failure alone is returned: of both together the command would say
// "interrupted" and no more.
func EndedWith(ctx context.Context, ended, failure error) error {
	if failure != nil && ctx.Err() != nil && errors.Is(ended, ctx.Err()) {
		return failure
	}
	return errors.Join(ended, failure)
}
