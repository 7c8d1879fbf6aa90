package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// sealedRows is the number of gallery rows of suite sealed, unless -n says otherwise.
const sealedRows = defaultRows

const (
	sealedDimension = 64
	sealedProbes    = 8
	// sealedWaiting is how many queries share a pass in case op=waiting.
	sealedWaiting = 16
)

// sealedCases answer encrypted queries of mode sealed, read and rank the answers at the client,
// and count how many of the exact neighbours are found.
func sealedCases(l *lab) (out []benchCase) {
	n := l.size(cmp.Or(l.rows, sealedRows))
	add := func(op string, workers int, full bool, of func(context.Context, *sealedSetting) (*subject, error)) {
		out = append(out, benchCase{
			name: fmt.Sprintf("op=%s/n=%d/d=%d/workers=%d", op, n, sealedDimension, workers),
			n:    n, d: sealedDimension, k: sealedProbes, workers: workers, full: full,
			setup: func(ctx context.Context, l *lab) (*subject, error) {
				s, err := shared(l, "sealed", func() (*sealedSetting, error) { return newSealedSetting(ctx, l, n) })
				if err != nil {
					return nil, err
				}
				return of(ctx, s)
			},
		})
	}
	for _, w := range workerCounts() {
		add("read", w, false, func(_ context.Context, s *sealedSetting) (*subject, error) { return s.reading(w), nil })
		add("one", w, false, func(ctx context.Context, s *sealedSetting) (*subject, error) { return s.answering(ctx, 1, w) })
	}
	add(fmt.Sprint("waiting=", sealedWaiting), 1, false, func(ctx context.Context, s *sealedSetting) (*subject, error) {
		return s.answering(ctx, sealedWaiting, 1)
	})
	all := slices.Max(workerCounts())
	add("client", all, false, func(_ context.Context, s *sealedSetting) (*subject, error) { return s.client(), nil })
	add("bytes", 1, false, func(_ context.Context, s *sealedSetting) (*subject, error) { return s.messages(), nil })
	add("end", all, false, func(_ context.Context, s *sealedSetting) (*subject, error) { return s.endToEnd(), nil })
	for _, probes := range []int{4, 8, 16} {
		add(fmt.Sprint("overlap/probes=", probes), all, false, func(ctx context.Context, s *sealedSetting) (*subject, error) {
			return s.plainOverlap(ctx, probes)
		})
	}
	add("overlap/encrypted", all, false, func(ctx context.Context, s *sealedSetting) (*subject, error) { return s.encryptedOverlap(ctx) })
	add("build", all, true, func(_ context.Context, s *sealedSetting) (*subject, error) { return s.building(), nil })
	return out
}
