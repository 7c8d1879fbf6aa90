package suites

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
)

// sealedRows is the number of gallery rows of suite sealed, unless -n says otherwise.
const sealedRows = DefaultRows

const (
	SealedDimension = 64
	SealedProbes    = 8
	// sealedWaiting is how many queries share a pass in case op=waiting.
	sealedWaiting = 16
)

// sealedCases answer encrypted queries of mode sealed, read and rank the answers at the client,
// and count how many of the exact neighbours are found.
func sealedCases(l *measure.Lab) (out []measure.Case) {
	n := l.Size(cmp.Or(l.Rows, sealedRows))
	add := func(op string, workers int, full bool, of func(context.Context, *SealedSetting) (*measure.Subject, error)) {
		out = append(out, measure.Case{
			Name: fmt.Sprintf("op=%s/n=%d/d=%d/workers=%d", op, n, SealedDimension, workers),
			N:    n, D: SealedDimension, K: SealedProbes, Workers: workers, Full: full,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
				s, err := measure.Shared(l, "sealed", func() (*SealedSetting, error) { return NewSealedSetting(ctx, l, n) })
				if err != nil {
					return nil, err
				}
				return of(ctx, s)
			},
		})
	}
	for _, w := range measure.WorkerCounts() {
		add("read", w, false, func(_ context.Context, s *SealedSetting) (*measure.Subject, error) { return s.reading(w), nil })
		add("one", w, false, func(ctx context.Context, s *SealedSetting) (*measure.Subject, error) { return s.answering(ctx, 1, w) })
	}
	add(fmt.Sprint("waiting=", sealedWaiting), 1, false, func(ctx context.Context, s *SealedSetting) (*measure.Subject, error) {
		return s.answering(ctx, sealedWaiting, 1)
	})
	all := slices.Max(measure.WorkerCounts())
	add("client", all, false, func(_ context.Context, s *SealedSetting) (*measure.Subject, error) { return s.client(), nil })
	add("bytes", 1, false, func(_ context.Context, s *SealedSetting) (*measure.Subject, error) { return s.messages(), nil })
	add("end", all, false, func(_ context.Context, s *SealedSetting) (*measure.Subject, error) { return s.endToEnd(), nil })
	for _, probes := range []int{4, 8, 16} {
		add(fmt.Sprint("overlap/probes=", probes), all, false, func(ctx context.Context, s *SealedSetting) (*measure.Subject, error) {
			return s.plainOverlap(ctx, probes)
		})
	}
	add("overlap/encrypted", all, false, func(ctx context.Context, s *SealedSetting) (*measure.Subject, error) { return s.encryptedOverlap(ctx) })
	add("build", all, true, func(_ context.Context, s *SealedSetting) (*measure.Subject, error) { return s.building(), nil })
	return out
}
