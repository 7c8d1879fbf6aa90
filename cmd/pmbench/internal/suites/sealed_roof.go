package suites

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// wordPeak returns the multiply-adds of bytes a second that simd.MulWords reaches on data that
// stays in the caches of a core, the best of some shapes. Each worker has data of its own.
func wordPeak(ctx context.Context, l *measure.Lab, workers int) (float64, error) {
	return measure.Shared(l, fmt.Sprint("words ", workers), func() (best float64, err error) {
		for _, columns := range []int{8, 16, 32, 64} {
			for _, depth := range []int{128, 256, 512, 1024} {
				rate, err := wordRate(ctx, l.Workers(workers), columns, depth)
				if err != nil {
					return 0, err
				}
				best = max(best, rate)
			}
		}
		return best, nil
	})
}

// wordRate returns the multiply-adds of bytes a second of one shape, with words of three bytes.
func wordRate(ctx context.Context, workers *par.Workers, columns, depth int) (float64, error) {
	const rows, planes, pieces, products = 64, 3, 8, 1 << 24
	kernels := simd.At(simd.Best())
	type own struct {
		panel []int8
		sums  []uint32
		words simd.Words
	}
	data := make([]own, workers.Count())
	for i := range data {
		data[i].panel, data[i].sums = make([]int8, rows*depth), make([]uint32, columns*rows)
		kernels.PackWords(&data[i].words, make([]uint32, columns*depth), depth, planes)
	}
	work := planes * rows * depth * columns
	times := max(1, products/work)
	return measure.BestRate(ctx, float64(pieces*workers.Count()*times)*float64(work), func() error {
		return workers.Do(ctx, pieces*workers.Count(), par.Func(func(worker, _ int) {
			d := &data[worker]
			for range times {
				kernels.MulWords(d.sums, rows, d.panel, rows, &d.words)
			}
		}))
	})
}
