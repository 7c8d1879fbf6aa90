package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/graphstats"
)

// cellsCases build the truncated graph of points with about 32 neighbours: the
// neighbour search, the weights, and the certificate.
func cellsCases(l *lab) (out []benchCase) {
	n := l.size(1_000_000)
	for _, d := range []int{2, 3} {
		for _, kind := range []string{"uniform", "clustered"} {
			for _, w := range workerCounts() {
				out = append(out, benchCase{
					name: cellsName(kind, n, d, w), n: n, d: d, workers: w,
					setup: func(ctx context.Context, l *lab) (*subject, error) { return cellsSubject(ctx, l, kind, n, d, w) },
				})
			}
		}
	}
	return out
}

func cellsName(kind string, n, d, workers int) string {
	return fmt.Sprintf("kind=%s/n=%d/d=%d/workers=%d", kind, n, d, workers)
}

func cellsSubject(ctx context.Context, l *lab, kind string, n, d, workers int) (*subject, error) {
	s, err := l.pointSet(ctx, kind, n, d)
	if err != nil {
		return nil, err
	}
	return buildSubject(l, s, workers, ""), nil
}

// buildSubject measures building the graph of points. The first operator is kept for
// other cases where there is a key for it.
func buildSubject(l *lab, s *pointSet, workers int, key string) *subject {
	sub := &subject{pairs: true, roof: roofRead, memory: true, stores: true, eta: math.NaN(), etaP99: math.NaN()}
	sub.run = func(ctx context.Context) error {
		op, err := s.graph(ctx, l.workers(workers))
		if err != nil {
			return err
		}
		cert := op.Certificate()
		sub.nnz, sub.search = op.Cost().NNZ, graphstats.SearchOf(op)
		sub.eta, sub.etaP99 = cert.RowMax, cert.RowP99
		sub.bytes = buildBytes(s.points, sub.nnz)
		if key != "" && l.made[key] == nil {
			l.made[key] = op
			return nil
		}
		return op.Close()
	}
	return sub
}

// buildBytes is the model of building a graph: the points once, the graph once.
func buildBytes(x blas32.General, nnz int64) int64 {
	return 4*int64(x.Rows)*int64(x.Cols) + 8*nnz + 8*int64(x.Rows+1)
}
