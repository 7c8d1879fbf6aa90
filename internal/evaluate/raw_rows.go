package evaluate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
)

// rawRows are the rows of a problem as the data set has them: features, and which of
// its rows are gallery and queries.
type rawRows struct {
	features         blas32.General
	gallery, queries []int
}

// SearchRaw is Search with the rows as the data set has them, neither scaled nor
// projected. The error is an UnavailableError for rows that come prepared, and otherwise
// one of nearest.Within.
func (t *Task) SearchRaw(ctx context.Context) (*Ranking, error) {
	if t.raw == nil {
		return nil, &UnavailableError{Reason: fmt.Sprintf("the rows of %s come prepared", t.Name)}
	}
	asked, _ := t.Queries.Dims() // the first ones
	n := len(t.raw.gallery)
	k := min(DeepLength, n)
	index, _, err := nearest.Within(ctx, t.raw.features, t.raw.queries[:asked], t.raw.gallery, k, nearest.Settings{Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	place := make(map[int]int, n)
	for i, row := range t.raw.gallery {
		place[row] = i
	}
	for i, row := range index {
		index[i] = place[row]
	}
	return &Ranking{K: k, Index: index}, nil
}
