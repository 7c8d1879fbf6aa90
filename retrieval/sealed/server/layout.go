package server

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const (
	// sampleOfCell is how many rows of a cell k-means looks at.
	sampleOfCell = 256
	// layoutRows is how many rows are compared with all centres at a time.
	layoutRows = 128
	// nearCentres is how many of its nearest centres are kept for a row. More are looked for
	// where all of them are full.
	nearCentres = 8
	// dealtRows is how many rows take their places before those to come are looked at again.
	dealtRows = 16 << 10
)

// layoutBytes is what the layout of n rows takes in addition to the sample of k-means.
func layoutBytes(n int) int64 { return int64(n) * (4*nearCentres + 16 + 4) }

// findCentres returns centres of rows by k-means on a sample.
func findCentres[M points.Matrix](ctx context.Context, x M, n, d int, s Settings, kernels *simd.Kernels) ([]float32, error) {
	settings := kmeans.Settings{Seed: s.Seed, AnyRows: true, Workers: s.Workers, Kernels: kernels, Progress: s.stage("centres")}
	var clusters *kmeans.Clusters
	var err error
	if size := int64(sampleOfCell) * int64(s.Cells); size < int64(n) {
		clusters, err = kmeans.Fit(ctx, sample(x, n, d, int(size), s.Seed), s.Cells, settings)
	} else {
		clusters, err = kmeans.Fit(ctx, x, s.Cells, settings)
	}
	if err != nil {
		return nil, err
	}
	out := make([]float32, 0, s.Cells*d)
	for _, v := range clusters.Centres.RawMatrix().Data {
		out = append(out, float32(v))
	}
	return out, nil
}

// sample returns that many rows, drawn by the seed, as float32.
func sample[M points.Matrix](x M, n, d, size int, seed uint64) blas32.General {
	chosen := random.Permutation(n, seed)[:size]
	slices.Sort(chosen)
	out := blas32.General{Rows: size, Cols: d, Stride: d, Data: make([]float32, 0, size*d)}
	row := make([]float64, d)
	for _, i := range chosen {
		points.ReadRow(row, x, i)
		for _, v := range row {
			out.Data = append(out.Data, float32(v))
		}
	}
	return out
}

// A layout gives rows their cells.
type layout[M points.Matrix] struct {
	x       M
	n       int
	centres *centres
	workers *par.Workers
	near    []uint32   // nearCentres of each row, or all centres where there are fewer
	width   int        // of near
	turns   []turn     // rows in the order in which they take their places
	room    []int      // of each cell
	scratch []struct { // of each worker
		rows, distances []float64
	}
}

// A turn is a row and the squared distance from its nearest centre.
type turn struct {
	distance float64
	row      uint32
}

// newLayout returns for each of n rows the number of its cell. Rows take their places by rising
// distance from their nearest centre, ties by row number; each goes to the nearest centre
// with room, ties by the number of the centre. A cell has room for length rows.
func newLayout[M points.Matrix](ctx context.Context, x M, n int, c *centres, length int, workers *par.Workers, progress func(done, total int)) ([]uint32, error) {
	l := &layout[M]{x: x, n: n, centres: c, workers: workers, width: min(nearCentres, c.count), room: slices.Repeat([]int{length}, c.count)}
	l.near, l.turns = make([]uint32, n*l.width), make([]turn, n)
	l.scratch = make([]struct{ rows, distances []float64 }, workers.Count())
	// Rows are compared in stretches, so that somebody hears about the progress.
	const stretch = 512 * layoutRows
	for from := 0; from < n; from += stretch {
		to := min(n, from+stretch)
		if err := workers.Do(ctx, split.Blocks(to-from, layoutRows), par.Func(func(worker, block int) {
			lo, hi := split.Block(block, to-from, layoutRows)
			l.compare(worker, from+lo, from+hi)
		})); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(to, n)
		}
	}
	slices.SortFunc(l.turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	return l.deal(ctx)
}

// measure returns the squared distances of count rows from all centres, in memory of a worker.
// The number of row i is row(i).
func (l *layout[M]) measure(worker, count int, row func(i int) int) []float64 {
	s, d := &l.scratch[worker], l.centres.d
	if s.rows == nil {
		s.rows, s.distances = make([]float64, layoutRows*d), make([]float64, layoutRows*l.centres.count)
	}
	for i := range count {
		points.ReadRow(s.rows[i*d:(i+1)*d], l.x, row(i))
	}
	l.centres.distances(s.distances, s.rows[:count*d])
	return s.distances
}

// compare sets the nearest centres of rows lo to hi-1, and when it is their turn.
func (l *layout[M]) compare(worker, lo, hi int) {
	all := l.measure(worker, hi-lo, func(i int) int { return lo + i })
	m := l.centres.count
	for i := lo; i < hi; i++ {
		near, distances := l.near[i*l.width:(i+1)*l.width], all[(i-lo)*m:(i-lo+1)*m]
		nearest(near, distances, nil)
		l.turns[i] = turn{distances[near[0]], uint32(i)}
	}
}

// deal lets the rows take their places, one after the other. A cell that is full stays full,
// so rows whose centres are all full can look for others some time before it is their turn,
// all at once.
func (l *layout[M]) deal(ctx context.Context) ([]uint32, error) {
	cells := make([]uint32, l.n)
	for first := 0; first < l.n; first += dealtRows {
		turns := l.turns[first:min(l.n, first+dealtRows)]
		var lost []int
		for _, t := range turns {
			if _, found := l.place(int(t.row)); !found {
				lost = append(lost, int(t.row))
			}
		}
		if err := l.workers.Do(ctx, split.Blocks(len(lost), layoutRows), par.Func(func(worker, block int) {
			lo, hi := split.Block(block, len(lost), layoutRows)
			l.search(worker, lost[lo:hi])
		})); err != nil {
			return nil, err
		}
		for _, t := range turns {
			cell, found := l.place(int(t.row))
			if !found {
				l.search(0, []int{int(t.row)})
				cell, _ = l.place(int(t.row)) // there is room for more rows than there are
			}
			cells[t.row] = cell
			l.room[cell]--
		}
	}
	return cells, nil
}

// place returns the nearest centre with room of those that are kept for a row.
func (l *layout[M]) place(row int) (cell uint32, found bool) {
	for _, c := range l.near[row*l.width : (row+1)*l.width] {
		if l.room[c] > 0 {
			return c, true
		}
	}
	return 0, false
}

// search sets the centres that are kept for rows to the nearest that have room now.
func (l *layout[M]) search(worker int, rows []int) {
	all := l.measure(worker, len(rows), func(i int) int { return rows[i] })
	m := l.centres.count
	for i, row := range rows {
		// Where fewer centres have room than are kept, the others stay, which are full.
		nearest(l.near[row*l.width:(row+1)*l.width], all[i*m:(i+1)*m], l.room)
	}
}

// namesOf returns the row number of each slot, wire.Padding where it is empty: the rows of a
// cell are in its first slots, in their order.
func namesOf(cells []uint32, count, length int) []uint32 {
	ids := slices.Repeat([]uint32{wire.Padding}, count*length)
	next := make([]int, count)
	for row, c := range cells {
		ids[int(c)*length+next[c]] = uint32(row)
		next[c]++
	}
	return ids
}
