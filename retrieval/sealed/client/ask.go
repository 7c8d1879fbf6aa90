package client

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/par"
)

// probeWidth is how many bytes of a word of a probe are sent.
const probeWidth = 3

// Ask encrypts rows, each for the cells whose centres are nearest to it: as many as the manifest
// says, always. Every probe has fresh secrets from the operating system, also when a row is
// asked again. The public matrix is computed once for all rows, so that many rows at a time are
// cheaper than one after the other; a query takes as much memory as its request has bytes, and
// a little more.
//
// Errors are ErrRecord for rows of another dimension than the centres, which is public, and
// those of the context and of the source of randomness. A row that is not finite, or that has
// an entry beyond 2^500 in size, is no error here: the map that made it may be the server's,
// and a query that is not sent tells it something. In place of such a row zeros are encrypted,
// and Rank returns ErrRecord when the answer is there. Entries below 2^-400 in size count as 0.
func (c *Client) Ask(ctx context.Context, rows blas64.General) (_ []*Query, err error) {
	n, d, err := points.Dims(rows)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if d != c.manifest.Dimension {
		return nil, fmt.Errorf("client: %w: %d columns, want %d", ErrRecord, d, c.manifest.Dimension)
	}
	queries, requests := make([]*Query, 0, n), make([]*ciphertexts, 0, n)
	defer func() {
		if err != nil {
			for _, q := range queries {
				q.Forget()
			}
		}
	}()
	for i := range n {
		row := make([]float64, d)
		points.ReadRow(row, rows, i)
		plain := c.newQueryRow(row)
		sealed, err := newCiphertexts(c.seeds, c.manifest.Probes, c.manifest.Columns(), probeWidth, plain)
		if err != nil {
			plain.forget()
			return nil, err
		}
		requests = append(requests, sealed)
		queries = append(queries, &Query{request: sealed.request(c.epoch), secret: &secret{sealed: sealed, row: plain}})
	}
	workers := par.New(c.workers)
	defer workers.Close()
	if err := encrypt(ctx, workers, c.matrix, requests); err != nil {
		return nil, err
	}
	return queries, nil
}

// A queryRow is what is encrypted for a row, and what its scores are read with.
type queryRow struct {
	words  []uint32 // the row at length kappa, rounded, modulo 2^32
	cells  []uint32 // one a probe
	length float64  // of the row
	valid  uint64   // a mask: the row was finite
}

// newQueryRow prepares a row, which it overwrites. It goes over all centres alike: no branch and
// no place in memory depends on the row.
func (c *Client) newQueryRow(row []float64) *queryRow {
	q := &queryRow{words: make([]uint32, len(row)), cells: make([]uint32, c.manifest.Probes), valid: keepFinite(row)}
	keys := make([]uint64, c.manifest.Cells)
	for i := range keys {
		var product float64
		for j, v := range c.centre(i) {
			product += float64(float64(v) * row[j]) // not fused: same bits everywhere
		}
		keys[i] = sametime.Order(c.lengths[i] - 2*product)
	}
	chooseLeast(q.cells, keys)
	q.length = normalize(row)
	rotation.Row(row, row) // as the stored rows are
	for j, v := range row {
		q.words[j] = sametime.NearestWhole(float64(float64(c.manifest.Kappa) * v))
	}
	clear(row)
	return q
}

// keepFinite sets all of a row to 0 where an entry is not finite or too large, and returns a
// mask: whether none is. It sets small entries to 0.
func keepFinite(row []float64) uint64 {
	valid := ^uint64(0)
	for _, v := range row {
		valid &= sametime.Less(math.Float64bits(v)&^(1<<63), math.Float64bits(largestEntry))
	}
	for i, v := range row {
		row[i] = sametime.DropSmall(math.Float64frombits(math.Float64bits(v)&valid), smallestEntry)
	}
	return valid
}

// normalize divides a finite row by its length, which it returns. A row of zeros stays one.
func normalize(row []float64) float64 {
	largest := smallestEntry // of a row of zeros
	for _, v := range row {
		largest = sametime.Larger(largest, math.Abs(v))
	}
	var sum float64
	for i, v := range row {
		row[i] = sametime.DropSmall(v/largest, smallestShare)
		sum += float64(row[i] * row[i])
	}
	length := math.Sqrt(sametime.Larger(sum, 1)) // the largest entry alone gives 1
	for i := range row {
		row[i] /= length
	}
	return largest * math.Sqrt(sum)
}

// chooseLeast sets cells to the numbers of the least keys, ties by number. It overwrites the
// keys.
func chooseLeast(cells []uint32, keys []uint64) {
	for p := range cells {
		least, at := ^uint64(0), uint32(0)
		for i, key := range keys {
			below := sametime.Less(key, least)
			least, at = sametime.Choose(below, key, least), sametime.Choose(uint32(below), uint32(i), at)
		}
		for i := range keys {
			taken := sametime.Equal(uint32(i), at)
			keys[i] |= uint64(taken)<<32 | uint64(taken)
		}
		cells[p] = at
	}
	clear(keys)
}

// add adds the row to the columns of the cell of a probe, by a mask over the columns of all
// cells.
func (q *queryRow) add(words []uint32, probe, first int) {
	cell, d := q.cells[probe], len(q.words)
	for i := range words {
		column := first + i
		words[i] += sametime.Equal(cell, uint32(column/d)) & q.words[column%d]
	}
}

// forget overwrites the row.
func (q *queryRow) forget() {
	clear(q.words)
	clear(q.cells)
	q.length, q.valid = 0, 0
}
