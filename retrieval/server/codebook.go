package server

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// CellsSettings say how a gallery is cut into cells. Zero values mean the
// defaults, where there is one.
type CellsSettings struct {
	// Share of the gallery in an answer, above 0, at most 1/2; 0 means 1/8.
	Share float64
	// Epsilon is what a client is expected to spend on a query, from which the
	// number of cells follows (retrieval.Centres). It has no default. A client
	// may spend another epsilon: its privacy is that of its own epsilon, and it
	// retrieves less well.
	Epsilon float64
	// Cells is the number of cells, in place of the rule.
	Cells int
	// Size is the number w of cells in a request; 0 means 1, which is best.
	Size int
	// Partition puts each row in the list of its nearest centre only. There are
	// round(1/Share) cells then, or Cells, and their lists differ in length. It
	// is better for an epsilon up to 3.
	Partition bool
	// Base is the share of the gallery that clients take once, without a query;
	// 0 means 1/16.
	Base float64
	// Version of the codebook. Each change of the gallery needs a higher one.
	Version uint64
	// Seed of the first centres and of the base sample. It is no secret.
	Seed uint64
	// Workers share the work, such as par.New starts; nil when the caller works alone.
	// Their number changes no bit of the codebook.
	Workers *par.Workers
	// Progress is called after each step of k-means; nil when nobody listens.
	Progress func(done, total int)
}

// withDefaults returns the settings with all numbers set, for a gallery of n
// rows.
func (s CellsSettings) withDefaults(n int) (CellsSettings, error) {
	if s.Share == 0 {
		s.Share = 1. / 8
	}
	if s.Base == 0 {
		s.Base = 1. / 16
	}
	if s.Size == 0 {
		s.Size = 1
	}
	if !(s.Share > 0 && s.Share <= 0.5) || !(s.Base > 0 && s.Base <= 1) {
		return s, fmt.Errorf("%w: a share of %g in an answer and %g in the base", retrieval.ErrCells, s.Share, s.Base)
	}
	switch {
	case s.Cells != 0:
	case s.Partition:
		s.Cells = int(min(math.Round(1/s.Share), wire.MaxCells+1))
	default:
		cells, err := retrieval.Centres(s.Share, s.Epsilon)
		if err != nil {
			return s, err
		}
		s.Cells = cells
	}
	if most := min(n, wire.MaxCells); s.Cells > most {
		return s, fmt.Errorf("%w: %d cells, and %d rows allow at most %d", retrieval.ErrCells, s.Cells, n, most)
	}
	if s.Size < 1 || s.Size >= s.Cells {
		return s, fmt.Errorf("%w: %d of %d cells in a request", retrieval.ErrCells, s.Size, s.Cells)
	}
	return s, nil
}

// newLists finds centres among the rows of x and lists the rows of each cell, in
// rising order.
//
// The list of a centre is the round(Share n / Size) rows nearest to it, so that
// lists overlap and are of one length, and a row that is in no list joins that of
// its nearest centre. A partition begins with empty lists, and all rows join.
func newLists[M points.Matrix](ctx context.Context, x M, s CellsSettings) (centres []float32, lists [][]uint32, err error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, nil, err
	}
	clusters, err := kmeans.Fit(ctx, x, s.Cells, kmeans.Settings{Seed: s.Seed, Workers: s.Workers, Progress: s.Progress})
	if err != nil {
		return nil, nil, err
	}
	// What is published decides, on both sides.
	centres = points.Single(clusters.Centres.RawMatrix()).Data
	length := int(math.Round(s.Share * float64(n) / float64(s.Size)))
	if s.Partition {
		length = 0
	}
	lists = make([][]uint32, s.Cells)
	if length > 0 {
		err = s.Workers.Do(ctx, s.Cells, par.Func(func(_, c int) {
			lists[c] = nearestRows(x, n, centres[c*d:(c+1)*d], length)
		}))
		if err != nil {
			return nil, nil, err
		}
	}
	err = joinRest(ctx, x, &wire.Codebook{Dimension: d, Centres: centres}, lists, s.Workers)
	return centres, lists, err
}

// nearestRows returns the numbers of the rows nearest to a centre.
func nearestRows[M points.Matrix](x M, n int, centre []float32, count int) []uint32 {
	type member struct {
		distance float64
		row      uint32
	}
	all := make([]member, n)
	row := make([]float64, len(centre))
	for i := range all {
		points.ReadRow(row, x, i)
		all[i] = member{kmeans.SquaredDistance(row, centre), uint32(i)}
	}
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	list := make([]uint32, count)
	for i := range list {
		list[i] = all[i].row
	}
	return list
}

// joinRest adds each row that is in no list to that of its nearest centre, and
// sorts the lists.
func joinRest[M points.Matrix](ctx context.Context, x M, book *wire.Codebook, lists [][]uint32, workers *par.Workers) error {
	n, d, err := points.Dims(x)
	if err != nil {
		return err
	}
	const listed = -1
	home := make([]int32, n)
	for _, list := range lists {
		for _, row := range list {
			home[row] = listed
		}
	}
	const blockRows = 256
	err = workers.Do(ctx, par.Blocks(n, blockRows), par.Func(func(_, block int) {
		row := make([]float64, d)
		lo, hi := par.Block(block, n, blockRows)
		for i := lo; i < hi; i++ {
			if home[i] != listed {
				points.ReadRow(row, x, i)
				home[i] = int32(kmeans.Nearest(row, book.Centres))
			}
		}
	}))
	if err != nil {
		return err
	}
	for i, c := range home {
		if c != listed {
			lists[c] = append(lists[c], uint32(i))
		}
	}
	for _, list := range lists {
		slices.Sort(list)
	}
	return nil
}
