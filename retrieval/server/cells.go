package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/usage"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Cells answers requests of mode cells: the lists of the cells a client names.
// The names are all that a request tells it. It is safe for concurrent use.
type Cells struct {
	book  wire.Codebook
	hash  wire.Hash
	lists [][]uint32 // rows of each cell
	// displaced is how many rows are not in the list of their nearest centre for want of room.
	displaced int
	shard     Shard          // the rows that are here
	split     bool           // they are a shard; otherwise they are all
	rows      []float32      // of the ranking space, those that are here
	gallery   []byte         // the binary form of a wire.AllRows
	view      *wire.RowsView // of gallery
	bases     [2]*wire.Base  // by encoding
	encoded   [2][]byte      // by encoding, the answers of all cells one behind the other; nil where there are none
	spare     sync.Pool      // of *wire.CellsAnswer with room for the lists of an answer
	published []byte         // the map
	source    string

	release func() // of the gallery that a shard is a view of; nil for none
	hashing sync.Once
	whole   wire.Hash // of gallery, for shards

	calls    usage.Calls
	file     *sections.File // what all this is a view of; nil where NewCells made it
	closing  sync.Once
	closeErr error
}

// NewCells cuts a gallery into cells. The cells follow from the rows of space,
// the lists hold the rows of ranking, in which clients search; the two may be the
// same. They have a row each for the same item. The rows of ranking are copied, as
// float32; those of space are not kept. Build on features that were not yet drawn to
// their classes, and rank in the embedding: lists of pure classes help less. Of a
// supervised.Model, space is Z and ranking X.
//
// It takes 25 steps of k-means, sorts the distances from each centre, makes the rows compact,
// and encodes the answers of all cells if CellsSettings.Encoded has room for them. Errors are ErrGallery,
// also for numbers that are not finite, ErrCells, and that of the context.
func NewCells[M blas32.General | blas64.General](ctx context.Context, space, ranking M, settings CellsSettings) (*Cells, error) {
	n, d, err := points.Dims(space)
	if err != nil {
		return nil, fmt.Errorf("server: %w: %w", ErrGallery, err)
	}
	rankingRows, rankingD, err := points.Dims(ranking)
	if err != nil {
		return nil, fmt.Errorf("server: %w: ranking: %w", ErrGallery, err)
	}
	if n != rankingRows || n < 2 || n > limits.MaxRows || max(d, rankingD) > limits.MaxDimension || min(d, rankingD) < 1 {
		return nil, fmt.Errorf("server: %w: %d x %d to build on and %d x %d to rank", ErrGallery, n, d, rankingRows, rankingD)
	}
	rows, err := singleRows(ranking, n, rankingD)
	if err != nil {
		return nil, fmt.Errorf("server: %w: ranking: %w", ErrGallery, err)
	}
	if err := points.CheckFinite(space); err != nil {
		return nil, fmt.Errorf("server: %w: %w", ErrGallery, err)
	}
	if settings, err = settings.withDefaults(n); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	centres, lists, displaced, err := newLists(ctx, space, rows, settings)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	c := &Cells{
		lists: lists, displaced: displaced, rows: rows, source: settings.Source, published: slices.Clone(settings.Map),
		book: wire.Codebook{
			Version: settings.Version, Rows: n, Size: settings.Size, Dimension: d, Ranking: rankingD, Centres: centres,
		},
	}
	for _, list := range lists {
		c.book.Length = max(c.book.Length, len(list))
	}
	c.shard = Shard{Index: 1, Count: 1, Rows: n, Length: c.book.Length}
	if bytes := 4 * float64(settings.Size) * float64(c.book.Length) * float64(1+rankingD); bytes > math.MaxInt32/2 {
		return nil, fmt.Errorf("server: %w: an answer of %.3g bytes; make the share smaller", ErrGallery, bytes)
	}
	compact, err := c.compactRows(ctx, settings.Workers)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if c.hash, err = c.book.Hash(); err != nil {
		return nil, fmt.Errorf("server: %w: %w", ErrGallery, err)
	}
	if err := c.keepGallery(compact); err != nil {
		return nil, fmt.Errorf("server: %w: %w", ErrGallery, err)
	}
	if err := c.sample(max(1, int(math.Round(settings.Base*float64(n)))), settings.Seed); err != nil {
		return nil, fmt.Errorf("server: %w: %w", ErrGallery, err)
	}
	if err := c.encode(ctx, settings.Encoded, settings.Workers); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return c, nil
}

// singleRows returns the entries of x as float32, all of them finite.
func singleRows[M points.Matrix](x M, n, d int) ([]float32, error) {
	if int64(n) > math.MaxInt/8/int64(d) {
		return nil, points.ErrShape
	}
	out := make([]float32, 0, n*d)
	row := make([]float64, d)
	for i := range n {
		points.ReadRow(row, x, i)
		for j, v := range row {
			s := float32(v)
			if s-s != 0 {
				return nil, &points.NonFiniteError{What: "points", Row: i, Col: j}
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// sample makes the base samples of both encodings: that many rows, drawn by the seed.
func (c *Cells) sample(count int, seed uint64) error {
	base := wire.Base{Codebook: c.hash, Dimension: c.book.Ranking}
	for _, row := range random.Permutation(c.book.Rows, seed)[:count] {
		base.IDs = append(base.IDs, uint32(row))
	}
	slices.Sort(base.IDs)
	compact := base
	compact.Encoding = wire.Int8
	base.Rows = make([]float32, 0, count*c.book.Ranking)
	for _, id := range base.IDs {
		base.Rows = append(base.Rows, c.row(id)...)
	}
	c.bases = [2]*wire.Base{wire.Float32: &base, wire.Int8: &compact}
	return c.view.Gather(&compact.Compact, compact.IDs)
}

func (c *Cells) row(id uint32) []float32 {
	d, at := c.book.Ranking, int(id)-c.shard.First
	return c.rows[at*d : (at+1)*d]
}

// Rows returns the rows that matches are ranked by, in full precision; of a shard, its own. They are a
// view, must not be changed, and Hold keeps them as it does AllRowsFrame.
func (c *Cells) Rows() blas32.General {
	return blas32.General{Rows: c.shard.Rows, Cols: c.book.Ranking, Stride: c.book.Ranking, Data: c.rows}
}

// Codebook returns what is published. It must not be changed.
func (c *Cells) Codebook() *wire.Codebook { return &c.book }

// Base returns the sample that all clients may have, with rows of an encoding: nil for an unknown
// one. It must not be changed.
func (c *Cells) Base(encoding wire.Encoding) *wire.Base {
	if encoding.Check() != nil {
		return nil
	}
	return c.bases[encoding]
}

// AllRowsFrame returns the binary form of a wire.AllRows with all rows, for clients that
// rank at home; of a shard, with its rows. It is in memory once, or a view of the file, and must
// not be changed. Whoever reads it while somebody may call Close calls Hold before.
func (c *Cells) AllRowsFrame() []byte { return c.gallery }

// Map returns CellsSettings.Map. It must not be changed, and Hold keeps it as it does
// AllRowsFrame.
func (c *Cells) Map() []byte { return c.published }

// Source returns CellsSettings.Source.
func (c *Cells) Source() string { return c.source }

// ListLength returns the mean length of a list, without padding.
func (c *Cells) ListLength() float64 {
	sum := 0
	for _, list := range c.lists {
		sum += len(list)
	}
	return float64(sum) / float64(len(c.lists))
}

// Displaced returns how many rows are in the list of a farther centre only, because that
// of their nearest centre and of others were full. Queries near them may miss them. Where
// there are many, a larger share or more cells make room.
func (c *Cells) Displaced() int { return c.displaced }

// Answer returns the lists of the cells of a request, with rows of an encoding. Those of a shard have
// the rows of the shard, padded to the length of its longest list. Errors are
// wire.ErrCodebook for a request that was made with another codebook,
// wire.ErrMessage, also for an unknown encoding, ErrQuestion for a number of cells that is
// not the codebook's, or a cell it does not have, and ErrClosed.
func (c *Cells) Answer(request *wire.CellsRequest, encoding wire.Encoding) (*wire.CellsAnswer, error) {
	if err := c.checkRequest(request, encoding); err != nil {
		return nil, err
	}
	if err := c.begin(); err != nil {
		return nil, err
	}
	defer c.calls.End()
	out := new(wire.CellsAnswer)
	if err := c.fill(out, request.Cells, encoding); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return out, nil
}

func (c *Cells) checkRequest(request *wire.CellsRequest, encoding wire.Encoding) error {
	if request == nil {
		return fmt.Errorf("server: %w: there is none", ErrQuestion)
	}
	if err := errors.Join(request.Check(), encoding.Check()); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if request.Codebook != c.hash {
		return fmt.Errorf("server: the request: %w; the current version is %d", wire.ErrCodebook, c.book.Version)
	}
	if w := len(request.Cells); w != c.book.Size || int(request.Cells[w-1]) >= len(c.lists) {
		return fmt.Errorf("server: %w: %d cells up to %d, want %d below %d",
			ErrQuestion, w, request.Cells[w-1], c.book.Size, len(c.lists))
	}
	return nil
}

// fill sets out to the answer for some cells, in the memory that out has.
func (c *Cells) fill(out *wire.CellsAnswer, cells []uint32, encoding wire.Encoding) error {
	c.fillLists(out, cells, encoding)
	if encoding == wire.Int8 {
		compact := &out.Compact
		compact.Anchors, compact.Steps, compact.Codes = compact.Anchors[:0], compact.Steps[:0], compact.Codes[:0]
		out.Rows = nil
		return c.view.Gather(compact, out.IDs)
	}
	d := c.book.Ranking
	out.Compact = wire.Compact{}
	out.Rows = slices.Grow(out.Rows[:0], len(out.IDs)*d)[:len(out.IDs)*d]
	for i, id := range out.IDs {
		if row := out.Rows[i*d : (i+1)*d]; id == wire.Padding {
			clear(row)
		} else {
			copy(row, c.row(id))
		}
	}
	return nil
}

// fillLists sets all of out but its rows.
func (c *Cells) fillLists(out *wire.CellsAnswer, cells []uint32, encoding wire.Encoding) {
	length := c.shard.Length
	out.Codebook, out.Length, out.Dimension, out.Encoding = c.hash, length, c.book.Ranking, encoding
	out.Cells = append(out.Cells[:0], cells...)
	out.IDs = slices.Grow(out.IDs[:0], len(cells)*length)
	for i, cell := range cells {
		out.IDs = append(out.IDs, c.lists[cell]...)
		for len(out.IDs) < (i+1)*length {
			out.IDs = append(out.IDs, wire.Padding)
		}
	}
}
