package suites

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
)

// scaleCases measure the graph and the step in 2 dimensions over two orders of
// magnitude of n, with all workers: time per point and per entry should stay.
func scaleCases(l *measure.Lab) (out []measure.Case) {
	workers := measure.AllWorkers()
	const k = 2
	for _, size := range []int{100_000, 300_000, 1_000_000, 3_000_000, 10_000_000} {
		n := l.Size(size)
		out = append(out,
			measure.Case{
				Name: fmt.Sprintf("op=build/n=%d/d=2/workers=%d", n, workers), N: n, D: 2, Workers: workers, Full: size == 10_000_000,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
					s, err := PointsOfKind(ctx, l, "uniform", n, 2)
					if err != nil {
						return nil, err
					}
					return buildSubject(l, s, workers, operatorKey(n, 2, workers)), nil
				},
			},
			measure.Case{
				Name: fmt.Sprintf("op=step/n=%d/d=2/k=%d/workers=%d", n, k, workers), N: n, D: 2, K: k, Workers: workers, Full: size == 10_000_000,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
					return stepSubject(ctx, l, n, k, workers)
				},
			})
	}
	return out
}
