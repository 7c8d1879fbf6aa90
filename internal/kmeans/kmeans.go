// Package kmeans finds centres c of rows that make sum_i min_c |x_i - c|^2 small, with
// the same bits for any number of workers.
//
// Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding" (2007); Lloyd,
// "Least squares quantization in PCM" (1982).
package kmeans

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// Settings says how to find centres. Zero values mean the defaults.
type Settings struct {
	// Steps is the most steps of Lloyd; 0 means 25.
	Steps int
	// Seed is the seed of the SplitMix64 that chooses the first centres.
	Seed uint64
	// AnyRows chooses any m rows as first centres, each with the same probability, instead of
	// k-means++. This is faster, and centres lie where the rows are: k-means++ chooses
	// outlying rows as centres, which then have few rows each.
	AnyRows bool
	// Workers share the work; nil if the caller works alone. Their number changes no
	// bit of the result.
	Workers *par.Workers
	// Kernels multiply rows with centres, with the same bits at every level; nil means gonum,
	// which is several times slower and has other bits in the last place.
	Kernels *simd.Kernels
	// Progress, if not nil, is called after each step with the number done and the
	// largest possible number.
	Progress func(done, total int)
}

const (
	defaultSteps = 25
	// clusterRows is how many rows are compared with all centres at a time: a matrix
	// product of that height is below the size at which gonum starts goroutines.
	clusterRows = 128
)

// Clusters are centres and the rows that are nearest to each.
type Clusters struct {
	// Centres holds one centre per row, m x d.
	Centres *mat.Dense
	// Of holds for each row the number of its nearest centre, the lowest if centres are
	// equally near up to rounding.
	Of []int
	// Steps is how many steps of Lloyd were done. Fewer than requested means that no
	// row changed its centre in the last one.
	Steps int
}

// Fit returns m centres c of the rows of x for which
//
//	sum_i min_c |x_i - c|^2
//
// is small: chosen from the rows by k-means++ (Arthur and Vassilvitskii 2007),
// each with a probability in proportion to the squared distance from those before it,
// unless Settings.AnyRows is set. Then they are moved to the mean of the rows nearest
// to them until nothing changes or the steps are done (Lloyd 1982). A centre without
// rows moves to the row that is farthest from its own centre. If there are fewer
// different rows than centres, some centres are equal and have no rows.
//
// It computes in float64 and costs n m d products per step, and memory for n numbers
// and one block of rows per worker. The same rows, seed and steps give the same bits
// for any number of workers. Errors: points.ErrShape for m < 1, m > n or an empty x,
// *points.NonFiniteError for NaN and infinities, and the error of the context, which is
// checked every few milliseconds.
func Fit[M points.Matrix](ctx context.Context, x M, m int, settings Settings) (*Clusters, error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("kmeans: k-means: %w", err)
	}
	if n == 0 || d == 0 || m < 1 || m > n {
		return nil, fmt.Errorf("kmeans: k-means: %w: %d centres of %d x %d", points.ErrShape, m, n, d)
	}
	if err := points.CheckFinite(x); err != nil {
		return nil, fmt.Errorf("kmeans: k-means: %w", err)
	}
	if settings.Steps <= 0 {
		settings.Steps = defaultSteps
	}
	k := &kmeans[M]{
		x: x, n: n, d: d, m: m, workers: settings.Workers, kernels: settings.Kernels,
		centres:  blas64.General{Rows: m, Cols: d, Stride: d, Data: make([]float64, m*d)},
		half:     make([]float64, m),
		of:       make([]int, n),
		distance: make([]float64, n),
	}
	k.scratches = make([]scratch, k.workers.Count())
	for i := range k.scratches {
		k.scratches[i] = scratch{rows: make([]float64, clusterRows*d), products: make([]float64, clusterRows*m)}
	}
	steps, err := k.run(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("kmeans: k-means: %w", err)
	}
	return &Clusters{Centres: mat.NewDense(m, d, k.centres.Data), Of: k.of, Steps: steps}, nil
}

// kmeans is one search for centres.
type kmeans[M points.Matrix] struct {
	x         M
	n, d, m   int
	centres   blas64.General
	half      []float64 // |c|^2/2
	of        []int     // the nearest centre of each row
	distance  []float64 // the squared distance from it
	workers   *par.Workers
	kernels   *simd.Kernels
	scratches []scratch // one per worker
}

// A scratch is the scratch memory of a worker.
type scratch struct {
	rows, products []float64
	changed        bool
}

func (k *kmeans[M]) run(ctx context.Context, settings Settings) (steps int, err error) {
	if settings.AnyRows {
		k.chooseAny(settings.Seed)
	} else if err := k.choose(ctx, random.NewSplitMix64(settings.Seed)); err != nil {
		return 0, err
	}
	if _, err := k.assign(ctx); err != nil {
		return 0, err
	}
	for steps < settings.Steps {
		if err := k.move(ctx); err != nil {
			return steps, err
		}
		changed, err := k.assign(ctx)
		if err != nil {
			return steps, err
		}
		steps++
		if settings.Progress != nil {
			settings.Progress(steps, settings.Steps)
		}
		if !changed {
			break
		}
	}
	return steps, nil
}

// chooseAny sets the centres to any different rows.
func (k *kmeans[M]) chooseAny(seed uint64) {
	for c, row := range random.Permutation(k.n, seed)[:k.m] {
		points.ReadRow(k.centre(c), k.x, row)
	}
}

// choose sets the centres by k-means++.
func (k *kmeans[M]) choose(ctx context.Context, words *random.SplitMix64) error {
	for i := range k.distance {
		k.distance[i] = math.Inf(1)
	}
	row := int(uniform(words) * float64(k.n))
	for c := range k.m {
		centre := k.centre(c)
		points.ReadRow(centre, k.x, row)
		if c == k.m-1 {
			break
		}
		if err := k.workers.Do(ctx, split.Blocks(k.n, clusterRows), par.Func(func(worker, block int) {
			v := k.scratches[worker].rows[:k.d]
			lo, hi := split.Block(block, k.n, clusterRows)
			for i := lo; i < hi; i++ {
				points.ReadRow(v, k.x, i)
				k.distance[i] = min(k.distance[i], SquaredDistance(v, centre))
			}
		})); err != nil {
			return err
		}
		row = pick(k.distance, uniform(words))
	}
	return nil
}

// pick returns the index i at which the running sum of the weights passes the
// share u of the whole; a weight of zero is not picked unless all are.
func pick(weights []float64, u float64) int {
	var total float64
	for _, w := range weights {
		total += w
	}
	last, sum := 0, 0.0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if last, sum = i, sum+w; sum > u*total {
			break
		}
	}
	return last
}

// uniform returns a number in [0, 1).
func uniform(words *random.SplitMix64) float64 { return float64(words.Uint64()>>11) * 0x1p-53 }

func (k *kmeans[M]) centre(c int) []float64 { return k.centres.Data[c*k.d : (c+1)*k.d] }

// assign finds the nearest centre of each row and the distance from it, and
// reports whether any has changed. The nearest has the least |c|^2/2 - x'c, which
// is a matrix product; only the distance from it is then taken by differences.
func (k *kmeans[M]) assign(ctx context.Context) (changed bool, err error) {
	for c := range k.half {
		centre := k.centre(c)
		k.half[c] = dot(centre, centre) / 2
	}
	for i := range k.scratches {
		k.scratches[i].changed = false
	}
	err = k.workers.Do(ctx, split.Blocks(k.n, clusterRows), par.Func(func(worker, block int) {
		r := &k.scratches[worker]
		lo, hi := split.Block(block, k.n, clusterRows)
		rows := blas64.General{Rows: hi - lo, Cols: k.d, Stride: k.d, Data: r.rows}
		for i := range rows.Rows {
			points.ReadRow(rows.Data[i*k.d:], k.x, lo+i)
		}
		products := blas64.General{Rows: hi - lo, Cols: k.m, Stride: k.m, Data: r.products}
		k.multiply(products, rows)
		for i := range rows.Rows {
			best, least := 0, math.Inf(1)
			for c, p := range products.Data[i*k.m : (i+1)*k.m] {
				if s := k.half[c] - p; s < least {
					best, least = c, s
				}
			}
			r.changed = r.changed || k.of[lo+i] != best
			k.of[lo+i] = best
			k.distance[lo+i] = SquaredDistance(rows.Data[i*k.d:(i+1)*k.d], k.centre(best))
		}
	}))
	for i := range k.scratches {
		changed = changed || k.scratches[i].changed
	}
	return changed, err
}

// multiply sets products to the products of rows with all centres.
func (k *kmeans[M]) multiply(products, rows blas64.General) {
	if k.kernels == nil {
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, rows, k.centres, 0, products)
		return
	}
	k.kernels.Dots64(simd.RowsOf(products.Data, products.Stride), simd.RowsOf(rows.Data, rows.Stride), simd.RowsOf(k.centres.Data, k.centres.Stride), rows.Rows, k.m, k.d)
}

// move sets each centre to the mean of its rows, added up in their order, so
// that it does not matter who adds them.
func (k *kmeans[M]) move(ctx context.Context) error {
	start := make([]int, k.m+1)
	for _, c := range k.of {
		start[c+1]++
	}
	for c := range k.m {
		start[c+1] += start[c]
	}
	rows, next := make([]int, k.n), slices.Clone(start)
	for i, c := range k.of {
		rows[next[c]] = i
		next[c]++
	}
	err := k.workers.Do(ctx, k.m, par.Func(func(worker, c int) {
		mine := rows[start[c]:start[c+1]]
		if len(mine) == 0 {
			return
		}
		centre, v := k.centre(c), k.scratches[worker].rows[:k.d]
		clear(centre)
		for _, i := range mine {
			points.ReadRow(v, k.x, i)
			for j, e := range v {
				centre[j] += e
			}
		}
		for j := range centre {
			centre[j] /= float64(len(mine))
		}
	}))
	if err != nil {
		return err
	}
	k.revive(start)
	return nil
}

// revive moves each centre without rows to another one of the rows farthest from their
// own centres.
func (k *kmeans[M]) revive(start []int) {
	var empty []int
	for c := range k.m {
		if start[c] == start[c+1] {
			empty = append(empty, c)
		}
	}
	if len(empty) == 0 {
		return
	}
	far := make([]int, k.n)
	for i := range far {
		far[i] = i
	}
	slices.SortFunc(far, func(a, b int) int {
		return cmp.Or(cmp.Compare(k.distance[b], k.distance[a]), cmp.Compare(a, b))
	})
	for i, c := range empty {
		if k.distance[far[i]] > 0 {
			points.ReadRow(k.centre(c), k.x, far[i])
		}
	}
}

func dot(a, b []float64) (s float64) {
	b = b[:len(a)]
	for j, v := range a {
		s += float64(v * b[j])
	}
	return s
}
