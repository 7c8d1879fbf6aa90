package privatemail

import (
	"context"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// Continue continues from a release: it rebuilds the graph from the released points and takes the
// later steps (package post). Its input is not private, so it may run anywhere. labels and settings
// may be nil, as in post.Continue; workers, ranks, kernels, budget, calibration and progress come
// from the Engine. Errors: ErrClosed and those of post.Continue.
func (e *Engine) Continue(ctx context.Context, r *release.Release, labels *release.PublicLabels, settings *post.Settings) (*iterate.Embedding, error) {
	return call(ctx, e, "continue", func() (*iterate.Embedding, error) {
		return within(ctx, e, 0, "continue", func(m *share) (*iterate.Embedding, error) {
			var s post.Settings
			if settings != nil {
				s = *settings
			}
			s.Workers, s.Kernels, s.BudgetBytes, s.Reserve, s.Progress = e.workers, e.kernels, m.limit, m.reserve, e.report(ctx)
			s.Calibration, s.Ranks = e.options.calibration, e.options.ranks
			return post.Continue(ctx, r, labels, &s)
		})
	})
}
