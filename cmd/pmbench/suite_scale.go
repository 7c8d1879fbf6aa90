package main

import (
	"context"
	"fmt"
)

// scaleCases measure the graph and the step in 2 dimensions over two orders of
// magnitude of n, with all workers: time per point and per entry should stay.
func scaleCases(l *lab) (out []benchCase) {
	workers := allWorkers()
	const k = 2
	for _, size := range []int{100_000, 300_000, 1_000_000, 3_000_000, 10_000_000} {
		n := l.size(size)
		out = append(out,
			benchCase{
				name: fmt.Sprintf("op=build/n=%d/d=2/workers=%d", n, workers), n: n, d: 2, workers: workers, full: size == 10_000_000,
				setup: func(ctx context.Context, l *lab) (*subject, error) {
					s, err := pointsOfKind(ctx, l, "uniform", n, 2)
					if err != nil {
						return nil, err
					}
					return buildSubject(l, s, workers, operatorKey(n, 2, workers)), nil
				},
			},
			benchCase{
				name: fmt.Sprintf("op=step/n=%d/d=2/k=%d/workers=%d", n, k, workers), n: n, d: 2, k: k, workers: workers, full: size == 10_000_000,
				setup: func(ctx context.Context, l *lab) (*subject, error) { return stepSubject(ctx, l, n, k, workers) },
			})
	}
	return out
}
