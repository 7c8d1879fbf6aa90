package suites

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/graphstats"
)

// cellsCases build the truncated graph of points with about 32 neighbours: the
// neighbour search, the weights, and the certificate.
func cellsCases(l *measure.Lab) (out []measure.Case) {
	n := l.Size(1_000_000)
	for _, d := range []int{2, 3} {
		for _, kind := range []string{"uniform", "clustered"} {
			for _, w := range measure.WorkerCounts() {
				out = append(out, measure.Case{
					Name: CellsName(kind, n, d, w), N: n, D: d, Workers: w,
					Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
						return cellsSubject(ctx, l, kind, n, d, w)
					},
				})
			}
		}
	}
	return out
}

// CellsName is the name of a case of suite cells.
func CellsName(kind string, n, d, workers int) string {
	return fmt.Sprintf("kind=%s/n=%d/d=%d/workers=%d", kind, n, d, workers)
}

func cellsSubject(ctx context.Context, l *measure.Lab, kind string, n, d, workers int) (*measure.Subject, error) {
	s, err := PointsOfKind(ctx, l, kind, n, d)
	if err != nil {
		return nil, err
	}
	return buildSubject(l, s, workers, ""), nil
}

// buildSubject measures building the graph of points. The first operator is kept for
// other cases where there is a key for it.
func buildSubject(l *measure.Lab, s *PointSet, workers int, key string) *measure.Subject {
	sub := &measure.Subject{Pairs: true, Roof: measure.RoofRead, Memory: true, Stores: true, Eta: math.NaN(), EtaP99: math.NaN()}
	sub.Run = func(ctx context.Context) error {
		op, err := s.Graph(ctx, l.Workers(workers))
		if err != nil {
			return err
		}
		cert := op.Certificate()
		sub.NNZ, sub.Search = op.Cost().NNZ, graphstats.SearchOf(op)
		sub.Eta, sub.EtaP99 = cert.RowMax, cert.RowP99
		sub.Bytes = buildBytes(s.Points, sub.NNZ)
		if key != "" && l.Keep(key, op) {
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
