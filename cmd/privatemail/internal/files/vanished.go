package files

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
)

// refuseVanished refuses features of which float32 leaves nothing but zeros: rows that
// differ in the file would all be equal.
func refuseVanished(ctx context.Context, in Input, data []float32) error {
	if len(data) == 0 || slices.ContainsFunc(data, func(v float32) bool { return v != 0 }) {
		return nil
	}
	x, err := progress.Await(ctx, func() (*formats.Matrix64, error) { return formats.ReadMatrix64(in.Features) })
	if err != nil {
		return ctx.Err() // the zeros have been read already
	}
	defer x.Close()
	if slices.ContainsFunc(x.Data, func(v float64) bool { return v != 0 }) {
		return fmt.Errorf("%s: all values are below 1e-45, too small for float32: they would all become 0; multiply them by a number such as 1e200", in.Features)
	}
	return nil
}
