package kernel

import (
	"context"
	"errors"

	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// In up to cellDimensions dimensions pairs within a radius are searched by cells, in more
// than choiceDimensions by codes. In between it depends on the points: cells win where the
// points fill few dimensions or are in clusters, codes where they fill all. Either search
// finds the same pairs with the same weights, bit by bit; the order of rows and the bounds
// of what is left out are its own.
const (
	cellDimensions   = 3
	choiceDimensions = codes.DefinedColumns
)

// Codes are prepared where cells take longer than codes at their best by codesMargin. Only
// then balls tell what codes cost here, and where it is more than that of cells the
// preparation was in vain.
const codesMargin = 1.25

// foundCellSeconds is a pair that cells find, from both of its ends.
const foundCellSeconds = 9e-9

// searchPairs finds all pairs within the radius of a request.
func searchPairs(ctx context.Context, request *rows.Request) (*rows.Result, error) {
	p := request.Points
	if p.D > choiceDimensions {
		return codes.Search(ctx, request)
	}
	if p.D <= cellDimensions {
		return cells.Search(ctx, request)
	}
	none, _ := request.StoredBytes(p.N)
	both := choiceBytes(p.N, p.D, request.Workers.Count()) + none
	if both > request.Memory {
		return searchUnchosen(ctx, request)
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
	if err := request.Take("choice of a search", both); err != nil {
		return nil, err
	}
	prepared, err := codes.Prepare(ctx, request)
	if e, short := errors.AsType[*rows.MemoryError](err); short && !e.Denied {
		return searchUnchosen(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	if prepared.Seconds() > seconds+prepared.Found()*foundCellSeconds {
		return list.Find(ctx)
	}
	found, err := prepared.Find(ctx)
	if err == nil {
		found.Peak = max(found.Peak, both)
	}
	return found, err
}

// choiceBytes is the bytes that codes and a cell list take while both are prepared.
func choiceBytes(n, d, workers int) int64 {
	return cells.Bytes(n, d, workers) + codes.Bytes(n, d, workers)
}

// searchUnchosen searches where there is no memory for a choice: by cells, which take the
// least, in as many dimensions as other distances are taken by differences.
func searchUnchosen(ctx context.Context, request *rows.Request) (*rows.Result, error) {
	if request.Points.D > maxDirect {
		return codes.Search(ctx, request)
	}
	return cells.Search(ctx, request)
}

// chosen returns the cost of the search that is made in d dimensions, of two: the lesser
// where there is a choice.
func chosen(d int, byCells, byCodes float64) float64 {
	switch {
	case d <= cellDimensions:
		return byCells
	case d > choiceDimensions:
		return byCodes
	}
	return min(byCells, byCodes)
}
