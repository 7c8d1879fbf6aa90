package main

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// cellsCases build the truncated graph of points with about 32 neighbours: the
// neighbour search, the weights, and the certificate.
func cellsCases(l *lab) (out []benchCase) {
	n := l.size(1_000_000)
	for _, d := range []int{2, 3} {
		for _, kind := range []string{"uniform", "clustered"} {
			for _, w := range workerCounts() {
				out = append(out, benchCase{
					name: fmt.Sprintf("kind=%s/n=%d/d=%d/workers=%d", kind, n, d, w), n: n, d: d, workers: w,
					setup: func(ctx context.Context, l *lab) (*subject, error) { return buildSubject(ctx, l, kind, n, d, w, false) },
				})
			}
		}
	}
	return out
}

// buildSubject measures kernel.NewCSR. Its bytes: the points once, the graph
// once. The first operator can be kept for other cases.
func buildSubject(ctx context.Context, l *lab, kind string, n, d, workers int, keep bool) (*subject, error) {
	s, err := l.pointSet(ctx, kind, n, d)
	if err != nil {
		return nil, err
	}
	sub := &subject{pairs: true, roof: roofRead, memory: true, stores: true, eta: math.NaN(), etaP99: math.NaN()}
	sub.run = func(ctx context.Context) error {
		op, err := kernel.NewCSR(ctx, s.points, s.sigma, &kernel.Options{CutoffRadius: s.radius, Workers: l.workers(workers)})
		if err != nil {
			return err
		}
		cert := op.Certificate()
		sub.nnz = op.Cost().NNZ
		sub.eta, sub.etaP99 = cert.RowMax, cert.RowP99
		sub.bytes = 4*int64(n)*int64(d) + 8*sub.nnz + 8*int64(n+1)
		if key := operatorKey(n, d, workers); keep && l.made[key] == nil {
			l.made[key] = op
			return nil
		}
		return op.Close()
	}
	return sub, nil
}
