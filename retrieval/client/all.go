package client

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// AllSettings say how the codebook of a gallery is known.
type AllSettings struct {
	// Codebook is the hash of the codebook that everybody has, from a second path; see
	// CellsSettings.Codebook.
	Codebook wire.Hash
	// UnconfirmedCodebook goes without that hash. Nothing about a query is sent in any case.
	// The server may have made the gallery for this client alone.
	UnconfirmedCodebook bool
}

// All ranks a whole gallery that was taken once, at the client. Nothing is sent about a
// query, so that there is no epsilon, no ledger and no memory: the server learns that the
// gallery was taken, and not what is looked for, how often or when. It is safe for concurrent
// use.
type All struct {
	book    wire.Codebook // a copy
	gallery *wire.AllRows
}

// NewAll returns a client of a gallery and its codebook. The codebook is copied; the gallery
// is long, is not copied, and must not be changed any more.
//
// Errors are wire.ErrMessage for an invalid codebook or gallery, wire.ErrCodebook
// for a codebook that is not the one expected, as NewCells has it, and ErrAnswer for a gallery
// of another codebook.
func NewAll(book *wire.Codebook, settings AllSettings, gallery *wire.AllRows) (*All, error) {
	own, hash, err := confirm(book, settings.Codebook, settings.UnconfirmedCodebook)
	if err != nil {
		return nil, err
	}
	if gallery == nil {
		return nil, fmt.Errorf("client: the gallery: %w: there is none", ErrAnswer)
	}
	if err := gallery.Check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if gallery.Codebook != hash || gallery.Dimension != own.Ranking || len(gallery.Rows.Anchors) != own.Rows {
		return nil, fmt.Errorf("client: the gallery: %w", ErrAnswer)
	}
	if err := checkAnchors(&own, gallery.Rows.Anchors); err != nil {
		return nil, err
	}
	return &All{book: own, gallery: gallery}, nil
}

// Rank returns the k rows of the gallery that are nearest to a record, nearest first, those of
// lower numbers first where distances are equal, and all rows if there are no more. row is the
// record in the space of the returned rows, as for Cells.Rank. Distances are as exact as rows of
// int8 are. Errors are ErrRecord and kernel.ErrNonFinite.
func (a *All) Rank(row []float64, k int) ([]Match, error) {
	if len(row) != a.book.Ranking || k < 1 {
		return nil, fmt.Errorf("client: %w: the %d nearest to %d features, want %d", ErrRecord, k, len(row), a.book.Ranking)
	}
	if err := checkFinite(row); err != nil {
		return nil, err
	}
	best := nearest{k: k}
	newCompactQuery(&a.book, row).offerAll(&best, &a.gallery.Rows)
	return best.matches(), nil
}
