package suites

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
)

// concurrentCases measure callers of one Engine that embed at the same time, with and
// without a memory limit in which a little more than one embedding fits. One operation is one
// embedding of each caller: the time of 16 callers compared with that of one says what company
// costs, and the rate is that of all together.
func concurrentCases(l *measure.Lab) (out []measure.Case) {
	workers := measure.AllWorkers()
	for _, size := range []int{200_000, 1_000_000} {
		n := l.Size(size)
		for _, limit := range []int64{0, concurrentLimit(n)} {
			for _, callers := range []int{1, 4, 16} {
				out = append(out, measure.Case{
					Name: fmt.Sprintf("callers=%d/memory=%s/n=%d/d=2/k=2/workers=%d", callers, limitName(limit), n, workers),
					N:    n, D: 2, K: 2, Workers: workers, Full: size == 1_000_000,
					Setup: func(context.Context, *measure.Lab) (*measure.Subject, error) {
						return concurrentSubject(n, callers, workers, limit)
					},
				})
			}
		}
	}
	return out
}

// concurrentLimit is a memory limit that holds one embedding of n rows, and not two.
func concurrentLimit(n int) int64 { return max(int64(n)*1000>>20, 16) << 20 }

func limitName(limit int64) string {
	if limit == 0 {
		return "default"
	}
	return fmt.Sprintf("%dMiB", limit>>20)
}

// concurrentSubject is a number of callers of one Engine with a memory limit, 0 for the default.
func concurrentSubject(n, callers, workers int, limit int64) (*measure.Subject, error) {
	x, _, err := Synthetic("uniform", n, 2)
	if err != nil {
		return nil, err
	}
	settings := &privatemail.Settings{Graph: privatemail.Graph{MeanNeighbours: Neighbours, Operator: "csr"}, Dim: 2, Steps: iterateSteps, Seed: 1}
	options := []privatemail.Option{privatemail.WithWorkers(workers)}
	if limit > 0 {
		options = append(options, privatemail.WithMaxMemory(limit))
	}
	sub := &measure.Subject{Roof: measure.RoofRead, Eta: math.NaN(), EtaP99: math.NaN(), Memory: true}
	sub.Run = func(ctx context.Context) error {
		e, err := privatemail.New(options...)
		if err != nil {
			return err
		}
		defer e.Close()
		errs, nnz := make([]error, callers), make([]int64, callers)
		var all sync.WaitGroup
		for c := range callers {
			all.Go(func() {
				out, err := e.Embed(ctx, x, nil, settings)
				if errs[c] = err; err == nil {
					nnz[c] = out.Graph.Cost.NNZ
				}
			})
		}
		all.Wait()
		sub.NNZ = int64(callers) * iterateSteps * nnz[0]
		sub.Bytes = int64(callers) * (4*int64(n)*2 + 8*nnz[0] + iterateSteps*stepBytes(n, nnz[0], 2))
		return errors.Join(errs...)
	}
	return sub, nil
}
