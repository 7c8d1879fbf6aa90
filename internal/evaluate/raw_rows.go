package evaluate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// rawRows are the rows of a problem as the data set has them: features, and which of
// its rows are gallery and queries.
type rawRows struct {
	features         blas32.General
	gallery, queries []int
}

// SearchRaw is Search with the rows as the data set has them, neither scaled nor
// projected. The error is an UnavailableError for rows that come prepared, and otherwise
// one of NearestWithin.
func (t *Task) SearchRaw(ctx context.Context) (*Ranking, error) {
	if t.raw == nil {
		return nil, &UnavailableError{Reason: fmt.Sprintf("the rows of %s come prepared", t.Name)}
	}
	asked, _ := t.Queries.Dims() // the first ones
	n := len(t.raw.gallery)
	r, err := NearestWithin(ctx, t.raw.features, t.raw.queries[:asked], t.raw.gallery, min(DeepLength, n), &SearchSettings{Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	place := make(map[int]int, n)
	for i, row := range t.raw.gallery {
		place[row] = i
	}
	for i, row := range r.Index {
		r.Index[i] = place[row]
	}
	return r, nil
}
