package client

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// checkAnchors refuses compact rows whose anchors the codebook does not have.
func checkAnchors(book *wire.Codebook, anchors []uint16) error {
	count := book.AnchorCount()
	for _, a := range anchors {
		if int(a) >= count {
			return fmt.Errorf("client: %w: an anchor that the codebook does not have", ErrAnswer)
		}
	}
	return nil
}

// A compactQuery is a record that is compared with compact rows.
type compactQuery struct {
	book *wire.Codebook
	d    int
	away []float64 // what the rotated record is away from each anchor
}

func newCompactQuery(book *wire.Codebook, row []float64) *compactQuery {
	rotated := make([]float64, len(row))
	wire.Rotate(rotated, row)
	q := &compactQuery{book: book, d: len(row), away: make([]float64, len(book.Anchors))}
	for i, a := range book.Anchors {
		q.away[i] = rotated[i%len(row)] - float64(a)
	}
	return q
}

// offer offers the rows from number at on, whose numbers in the gallery are ids. Their anchors
// were checked.
func (q *compactQuery) offer(best *nearest, ids []uint32, rows *wire.Compact, at int) {
	for i, id := range ids {
		best.take(Match{ID: int64(id), Distance: q.squaredDistance(rows, at+i)})
	}
}

// offerAll offers all rows, whose numbers are their places.
func (q *compactQuery) offerAll(best *nearest, rows *wire.Compact) {
	for i := range rows.Anchors {
		best.take(Match{ID: int64(i), Distance: q.squaredDistance(rows, i)})
	}
}

// squaredDistance returns the squared distance from a row: the sum of
// (away - unit code)^2 in four parts, whose sums do not wait for each other. The order is the
// same everywhere, and the conversions forbid fused products: same bits everywhere.
func (q *compactQuery) squaredDistance(rows *wire.Compact, i int) float64 {
	unit := q.book.Unit(rows.Steps[i])
	away := q.away[int(rows.Anchors[i])*q.d:][:q.d]
	codes := rows.Codes[i*q.d:][:len(away)]
	var s0, s1, s2, s3 float64
	for len(away) >= 4 && len(codes) >= 4 {
		e0, e1 := away[0]-float64(unit*float64(codes[0])), away[1]-float64(unit*float64(codes[1]))
		e2, e3 := away[2]-float64(unit*float64(codes[2])), away[3]-float64(unit*float64(codes[3]))
		s0 += float64(e0 * e0)
		s1 += float64(e1 * e1)
		s2 += float64(e2 * e2)
		s3 += float64(e3 * e3)
		away, codes = away[4:], codes[4:]
	}
	for j, v := range away {
		e := v - float64(unit*float64(codes[j]))
		s0 += float64(e * e)
	}
	return s0 + s1 + (s2 + s3)
}
