package nearest

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// scanRows is how many rows of the gallery a worker compares with all queries at a time.
const scanRows = 512

// A scan compares few queries with the stored gallery. Workers share the rows of the gallery,
// not the queries as tilers do, so one query has work for all. The gallery is not copied.
type scan[M points.Matrix] struct {
	*search[M]
	kernels *simd.Kernels
	query   []float64 // the queries, row after row
	single  []float32 // the same in float32; nil where sums in float32 do not help
	rows    simd.Rows[float32]
}

// newScan prepares the queries. With many columns, sums in float32 come first, and exclude rows
// that are certainly too far.
func newScan[M points.Matrix](s *search[M], settings Settings) *scan[M] {
	out := &scan[M]{search: s, kernels: settings.Kernels, query: make([]float64, len(s.queryRows)*s.d)}
	if out.kernels == nil {
		out.kernels = simd.At(simd.Best())
	}
	for i, row := range s.queryRows {
		points.ReadRow(out.query[i*s.d:][:s.d], s.queries, row)
	}
	if gallery, ok := any(s.gallery).(blas32.General); ok && s.d >= 16 && uint64(gallery.Rows) <= math.MaxUint32 {
		out.rows = simd.RowsOf(gallery.Data, gallery.Stride)
		out.single = make([]float32, len(out.query)) // exact: the queries are of the same type
		for i, v := range out.query {
			out.single[i] = float32(v)
		}
	}
	return out
}

// A scanned has the rows a worker has found: places in the list of gallery rows, and the
// squared distances of these rows.
type scanned struct {
	places  []int
	squared []float64
}

// run passes to give the rows whose squared distance from a query is at most the limit, and
// maybe others. Pieces of the gallery are numbered. Each piece is passed once for each query,
// by several workers at the same time. A worker calls limit before it calls give.
func (s *scan[M]) run(ctx context.Context, workers *par.Workers, limit func(worker, query int) float64, give func(worker, piece, query int, found scanned)) error {
	type scratch struct {
		index []uint32
		rough []float32
		found scanned
	}
	of := make([]*scratch, workers.Count())
	n := len(s.galleryRows)
	return workers.Do(ctx, split.Blocks(n, scanRows), par.Func(func(worker, piece int) {
		if of[worker] == nil {
			of[worker] = &scratch{make([]uint32, scanRows), make([]float32, scanRows), scanned{make([]int, scanRows), make([]float64, scanRows)}}
		}
		w := of[worker]
		lo, hi := split.Block(piece, n, scanRows)
		if s.single != nil {
			for i, row := range s.galleryRows[lo:hi] {
				w.index[i] = uint32(row)
			}
		}
		for i := range s.queryRows {
			places := w.found.places[:0]
			if most := s.roughLimit(limit(worker, i)); s.single == nil || math.IsInf(float64(most), 1) {
				for at := lo; at < hi; at++ {
					places = append(places, at)
				}
			} else {
				rough := w.rough[:hi-lo]
				s.kernels.SqDists(rough, s.single[i*s.d:][:s.d], s.rows, w.index[:hi-lo], most)
				for j, v := range rough {
					if v <= most {
						places = append(places, lo+j)
					}
				}
			}
			squared := w.found.squared[:len(places)]
			s.distances(squared, s.query[i*s.d:][:s.d], places)
			give(worker, piece, i, scanned{places, squared})
		}
	}))
}

// roughLimit returns the largest result of simd.SqDists for rows whose squared distance is at
// most the limit: it is off by (d/64 + 10) 2^-24, and by d 2^-149, and the deciding sum in
// float64 by far less. If float32 has no such number the result is infinity, and every row
// stays.
func (s *scan[M]) roughLimit(limit float64) float32 {
	most := limit*(1+float64(s.d/64+12)*0x1p-24) + float64(s.d)*0x1p-148
	if !(most < math.MaxFloat32) {
		return float32(math.Inf(1))
	}
	rounded := float32(most)
	if float64(rounded) < most {
		rounded = math.Nextafter32(rounded, float32(math.Inf(1)))
	}
	return rounded
}

// distances writes the squared distances of a query from the gallery rows at some places.
func (s *scan[M]) distances(squared, query []float64, places []int) {
	for from := 0; from < len(places); from += panelRows {
		var rows [panelRows]int
		count := min(panelRows, len(places)-from)
		for r := range rows {
			rows[r] = s.galleryRows[places[from+min(r, count-1)]]
		}
		found := distancesTo(query, s.gallery, rows)
		copy(squared[from:], found[:count])
	}
}

// fewQueries is the number of queries from which on tilers are faster if sums in float32 do not
// help a scan.
const fewQueries = 4

// few answers all queries by a scan.
func (s *search[M]) few(ctx context.Context, settings Settings) ([]int, []float64, error) {
	best := make([][]nearestK, settings.Workers.Count())
	for worker := range best {
		best[worker] = make([]nearestK, len(s.queryRows))
	}
	err := newScan(s, settings).run(ctx, settings.Workers, func(worker, query int) float64 {
		if h := best[worker][query]; len(h) == s.k {
			return h[0].squaredDistance
		}
		return math.Inf(1)
	}, func(worker, _, query int, found scanned) {
		for j, at := range found.places {
			if row := s.galleryRows[at]; !s.leaveOut || row != s.queryRows[query] {
				best[worker][query].offer(s.k, candidate{squaredDistance: found.squared[j], row: row})
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	for query := range s.queryRows {
		var all nearestK
		for worker := range best {
			for _, c := range best[worker][query] {
				all.offer(s.k, c)
			}
		}
		s.put(query, all)
	}
	if settings.Progress != nil {
		settings.Progress(len(s.queryRows), len(s.queryRows))
	}
	return s.index, s.squared, nil
}
