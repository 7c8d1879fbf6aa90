package graph

import (
	"context"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// In up to CellDimensions dimensions pairs within a radius are searched by cells, in more
// than ChoiceDimensions by codes. In between it depends on the points: cells win where the
// points fill few dimensions or are in clusters, codes where they fill all. Either search
// finds the same pairs with the same weights, bit by bit; the order of rows and the bounds
// of what is left out are its own. So the choice depends on the points alone: neither the
// memory that is left nor the number of workers has a say. Where the search that is chosen
// does not fit into the memory, it is refused.
const (
	CellDimensions   = 3
	ChoiceDimensions = codes.DefinedColumns
)

// Codes are prepared where cells take longer than codes at their best by codesMargin. Only
// then balls tell what codes cost here, and where it is more than that of cells the
// preparation was in vain.
const codesMargin = 1.25

// foundCellSeconds is a pair that cells find, from both of its ends.
const foundCellSeconds = 9e-9

// SearchPairs finds all pairs within the radius of a request.
func SearchPairs(ctx context.Context, request *rows.Request) (*rows.Result, error) {
	p := request.Points
	if p.D > ChoiceDimensions {
		return codes.Search(ctx, request)
	}
	if p.D <= CellDimensions {
		return cells.Search(ctx, request)
	}
	list, err := cells.Prepare(ctx, request)
	if err != nil {
		return nil, err
	}
	seconds, err := list.Seconds(ctx)
	if err != nil {
		return nil, err
	}
	if seconds <= codesMargin*codes.LeastSeconds(p.N) {
		return list.Find(ctx)
	}
	// The list is not needed any more: should cells be better after all, they are sorted
	// again, which takes a fraction of the time that the codes have taken, and no memory
	// in addition to theirs.
	prepared, err := codes.Prepare(ctx, request)
	if err != nil {
		return nil, err
	}
	if prepared.Seconds() > seconds+prepared.Found()*foundCellSeconds {
		return cells.Search(ctx, request)
	}
	return prepared.Find(ctx)
}

// Chosen returns the cost of the search that is made in d dimensions, of two: the lesser
// where there is a choice.
func Chosen(d int, byCells, byCodes float64) float64 {
	switch {
	case d <= CellDimensions:
		return byCells
	case d > ChoiceDimensions:
		return byCodes
	}
	return min(byCells, byCodes)
}
