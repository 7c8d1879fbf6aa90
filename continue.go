package privatemail

import (
	"context"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// Continue continues from a release: it rebuilds the graph from the released points and takes the
// later steps (package post). Its input is not private, so it may run anywhere. labels and settings
// may be nil, as in post.Continue; workers, ranks, kernels, memory limit, calibration and progress come
// from the Engine. Errors: ErrClosed and those of post.Continue.
func (e *Engine) Continue(ctx context.Context, r *release.Release, labels *release.PublicLabels, settings *post.Settings) (out *iterate.Embedding, err error) {
	c, err := e.begin(ctx, "continue")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	m, err := e.reserve(ctx, 0, "continue")
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		var s post.Settings
		if settings != nil {
			s = *settings
		}
		s.Workers, s.Kernels, s.MaxMemory, s.Reserve, s.Progress = e.workers, e.kernels, m.limit, m.grow, e.report(ctx)
		s.Calibration, s.Ranks = e.options.calibration, e.options.ranks
		out, err = post.Continue(ctx, r, labels, &s)
	}
	return out, err
}
