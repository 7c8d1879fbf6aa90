package client

import (
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Base is a base sample that was checked once, for all calls of Rank. It is safe for
// concurrent use.
type Base struct {
	codebook wire.Hash
	ids      []uint32
	encoding wire.Encoding
	rows     []float32
	compact  wire.Compact
}

// NewBase checks and copies the base sample that goes with the codebook, of either encoding.
// Errors are wire.ErrMessage for an invalid sample, and ErrAnswer for one of another codebook.
func (c *Cells) NewBase(sample *wire.Base) (*Base, error) {
	if err := CheckBase(&c.book, c.settings.Codebook, sample); err != nil {
		return nil, err
	}
	return &Base{
		codebook: sample.Codebook, ids: slices.Clone(sample.IDs), encoding: sample.Encoding, rows: slices.Clone(sample.Rows),
		compact: wire.Compact{
			Anchors: slices.Clone(sample.Compact.Anchors), Steps: slices.Clone(sample.Compact.Steps), Codes: slices.Clone(sample.Compact.Codes),
		},
	}, nil
}

// CheckBase refuses a base sample that does not go with a codebook, whose hash is given. Who
// keeps samples for later calls it before. Errors are those of NewBase.
func CheckBase(book *wire.Codebook, hash wire.Hash, sample *wire.Base) error {
	if sample == nil {
		return fmt.Errorf("client: the base: %w: there is none", ErrAnswer)
	}
	if err := sample.Check(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if sample.Codebook != hash || sample.Dimension != book.Ranking {
		return fmt.Errorf("client: the base: %w", ErrAnswer)
	}
	if err := checkRows(book, sample.IDs); err != nil {
		return err
	}
	return checkAnchors(book, sample.Compact.Anchors)
}

// Rank returns the k rows nearest to a record among the lists of an answer and
// those of the base sample, nearest first, fewer if there are not as many. row is
// the record in the space of the returned rows; in mode supervised that is the z that
// Ask was given. This happens at the client: row may be anything, and nothing is
// disclosed. Neither is it by the time: that depends on sizes and numbers of rows, which are public,
// and not on distances, so that the next request may follow. base may be nil; NewBase checks it
// once for all calls. Answer and base may be of either encoding, and need not be of the same: distances
// to rows of int8 are a little off, each by no more than the row is, so that equal rows that came
// in two encodings are not equally far. A row that came in both is taken as float32.
//
// Errors are ErrRecord, kernel.ErrNonFinite, wire.ErrMessage for an answer that is
// none, and ErrAnswer for one of another request or codebook.
func (c *Cells) Rank(row []float64, k int, request *wire.CellsRequest, answer *wire.CellsAnswer, base *Base) ([]Match, error) {
	if len(row) != c.book.Ranking || k < 1 {
		return nil, fmt.Errorf("client: %w: the %d nearest to %d features, want %d", ErrRecord, k, len(row), c.book.Ranking)
	}
	if err := checkFinite(row); err != nil {
		return nil, err
	}
	if err := c.checkAnswer(request, answer); err != nil {
		return nil, err
	}
	if base != nil && base.codebook != c.settings.Codebook {
		return nil, fmt.Errorf("client: the base: %w", ErrAnswer)
	}
	row = slices.Clone(row)
	dropSmall(row)
	var runs [][]sametime.Slot // with rising names
	var compact *compactQuery
	if answer.Encoding == wire.Int8 || base != nil && base.encoding == wire.Int8 {
		compact = newCompactQuery(&c.book, row)
	}
	var exact [][]uint32 // numbers of rows of float32
	if base != nil && base.encoding == wire.Float32 {
		runs = append(runs, slotsOf(row, base.ids, base.rows))
		exact = append(exact, base.ids)
	}
	for i := range answer.Cells {
		list, at := answer.List(i), i*answer.Length
		if answer.Encoding == wire.Int8 {
			runs = append(runs, compact.slots(nil, list, &answer.Compact, at, exact...))
		} else {
			runs = append(runs, slotsOf(row, list, answer.Rows[at*len(row):]))
			exact = append(exact, list)
		}
	}
	if base != nil && base.encoding == wire.Int8 {
		runs = append(runs, compact.slots(nil, base.ids, &base.compact, 0, exact...))
	}
	return matches(sametime.Least(merged(runs), k)), nil
}

func (c *Cells) checkAnswer(request *wire.CellsRequest, answer *wire.CellsAnswer) error {
	if request == nil || answer == nil {
		return fmt.Errorf("client: %w: there is none", ErrAnswer)
	}
	if err := answer.Check(); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if answer.Codebook != c.settings.Codebook || request.Codebook != c.settings.Codebook || !slices.Equal(answer.Cells, request.Cells) ||
		answer.Length != c.book.Length || answer.Dimension != c.book.Ranking {
		return fmt.Errorf("client: %w", ErrAnswer)
	}
	for i := range answer.Cells {
		list := answer.List(i)
		if err := checkRows(&c.book, list); err != nil {
			return err
		}
		if answer.Encoding == wire.Int8 {
			if err := checkAnchors(&c.book, answer.Compact.Anchors[i*answer.Length:][:len(list)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRows refuses numbers, which rise, that no row of the gallery has.
func checkRows(book *wire.Codebook, ids []uint32) error {
	if len(ids) > 0 && int64(ids[len(ids)-1]) >= int64(book.Rows) {
		return fmt.Errorf("client: %w: a row that the gallery does not have", ErrAnswer)
	}
	return nil
}
