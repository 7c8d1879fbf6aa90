package client

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// checkAnchors refuses compact rows whose anchors the codebook does not have.
func checkAnchors(book *wire.Codebook, anchors []uint16) error {
	count := limits.Turns * book.AnchorCount()
	for _, a := range anchors {
		if int(a) >= count {
			return fmt.Errorf("client: %w: an anchor that the codebook does not have", ErrAnswer)
		}
	}
	return nil
}

// A compactQuery is a record that is compared with compact rows.
type compactQuery struct {
	book    *wire.Codebook
	rotated []float64   // the record
	away    [][]float64 // what it is away from each anchor, for each turn; nil until a row needs it
}

func newCompactQuery(book *wire.Codebook, row []float64) *compactQuery {
	q := &compactQuery{book: book, rotated: make([]float64, len(row)), away: make([][]float64, limits.Turns*book.AnchorCount())}
	rotate(q.rotated, row)
	return q
}

// rotate is rotation.Row without very small numbers.
func rotate(dst, row []float64) {
	rotation.Row(dst, row)
	dropSmall(dst)
}

// awayFrom returns what the record is away from the anchor of rows, turned as they are.
func (q *compactQuery) awayFrom(entry uint16) []float64 {
	if v := q.away[entry]; v != nil {
		return v
	}
	anchor, turn := q.book.Place(entry)
	v := make([]float64, len(q.rotated))
	for j, a := range anchor {
		v[j] = q.rotated[j] - float64(a)
	}
	for range turn {
		rotate(v, v)
	}
	q.away[entry] = v
	return v
}

// slots appends the rows from number at on, whose numbers in the gallery are ids. Their anchors
// were checked. Rows whose numbers are in one of the exact lists, which rise, came as float32
// too: they are left out, since their distances are known.
func (q *compactQuery) slots(dst []sametime.Slot, ids []uint32, rows *wire.Compact, at int, exact ...[]uint32) []sametime.Slot {
	for i, id := range ids {
		known := func(list []uint32) bool {
			_, found := slices.BinarySearch(list, id)
			return found
		}
		if slices.ContainsFunc(exact, known) {
			continue
		}
		dst = append(dst, slotOf(id, q.squaredDistance(rows, at+i)))
	}
	return dst
}

// offerAll offers all rows, whose numbers are their places.
func (q *compactQuery) offerAll(best *nearest, rows *wire.Compact) {
	for i := range rows.Anchors {
		best.take(Match{ID: int64(i), Distance: q.squaredDistance(rows, i)})
	}
}

// squaredDistance returns the squared distance from a row: the sum of
// (away - unit code)^2 in four parts, whose sums do not wait for each other. The order is the
// same everywhere, and the conversions forbid fused products: same bits everywhere. A record
// whose rotation is beyond float64 is infinitely far away, as it is from rows of float32.
func (q *compactQuery) squaredDistance(rows *wire.Compact, i int) float64 {
	unit := q.book.Unit(rows.Steps[i])
	away := q.awayFrom(rows.Anchors[i])
	codes := rows.Codes[i*len(away):][:len(away)]
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
	sum := math.Float64bits(s0+s1+(s2+s3)) &^ (1 << 63)
	infinite := math.Float64bits(math.Inf(1)) // also for NaN, which is the difference of two infinities
	return math.Float64frombits(sametime.Choose(sametime.Less(infinite, sum), infinite, sum))
}
