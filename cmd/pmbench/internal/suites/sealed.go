package suites

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// sealedRows is the number of gallery rows of suite sealed, unless -n says otherwise.
const sealedRows = DefaultRows

const (
	// SealedDimension is the number of columns of the rows of suite sealed, SealedProbes
	// how many cells a query asks for.
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

// SealedLines says what the cases of suite sealed came to.
func SealedLines(all []record.Summary) (out []string) {
	reading := map[string]float64{} // seconds of op=read, by the rest of the name
	for _, s := range all {
		if rest, ok := strings.CutPrefix(s.Case, "op=read/"); ok && s.Sealed != nil {
			reading[rest] = s.Seconds
		}
	}
	for _, s := range all {
		f := s.Sealed
		if f == nil {
			continue
		}
		op, rest, _ := strings.Cut(strings.TrimPrefix(s.Case, "op="), "/")
		switch {
		case f.Overlap != nil:
			out = append(out, fmt.Sprintf("%s: %d probes of %d cells find %.4f of the %d nearest rows, %d queries", s.Case, f.Probes, f.Cells, *f.Overlap, nearestOverlap, f.Queries))
		case op == "one" || strings.HasPrefix(op, "waiting"):
			out = append(out, fmt.Sprintf("%s: %.4g queries a second and core", s.Case, float64(f.Queries)/s.Seconds/float64(s.Workers)))
			if read := reading[rest]; read > 0 && op == "one" {
				out = append(out, fmt.Sprintf("%s: reading as many bytes takes %.2f of its time, in the same rounds", s.Case, read/s.Seconds))
			}
		case op == "bytes":
			out = append(out, fmt.Sprintf("%s: %d bytes up and %d down a query; once a hint of %d bytes, and %d of norms and centres", s.Case, f.UpBytes, f.DownBytes, f.HintBytes, f.ManifestBytes))
			out = append(out, fmt.Sprintf("%s: laid out in %s with %d workers, of which the hint took %s", s.Case, figures.Duration(f.BuildSeconds), f.BuildWorkers, figures.Duration(f.HintSeconds)))
		}
	}
	return out
}

// writeSealed prints the figures of suite sealed.
func writeSealed(w io.Writer, all []record.Summary) error {
	for _, line := range SealedLines(all) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

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
