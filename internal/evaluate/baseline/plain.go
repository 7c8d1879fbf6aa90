package baseline

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// Raw searches with the rows as the file has them, by Euclidean distance.
func Raw() evaluate.Mode {
	return evaluate.Mode{
		Name: "raw", Title: "raw rows",
		Protects: "Nothing: the server sees the query's row.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			r, err := t.SearchRaw(ctx)
			if err != nil {
				return nil, err
			}
			return &evaluate.Answer{Ranking: r, Exact: r}, nil
		},
	}
}

// Prepared searches with the prepared rows, on which all modes but Raw work:
// evaluate.Features says how they are made.
func Prepared() evaluate.Mode {
	return evaluate.Mode{
		Name: "prepared", Title: "prepared rows",
		Protects: "Nothing: the server sees the query's row, prepared.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			r, err := t.Search(ctx, t.Queries, t.Gallery)
			if err != nil {
				return nil, err
			}
			return &evaluate.Answer{Ranking: r, Exact: r}, nil
		},
	}
}

// compare answers with noisy queries and knows what the true ones find.
func compare(ctx context.Context, t *evaluate.Task, noisy, queries, gallery *mat.Dense) (*evaluate.Answer, error) {
	ranking, err := t.Search(ctx, noisy, gallery)
	if err != nil {
		return nil, err
	}
	exact, err := t.Search(ctx, queries, gallery)
	if err != nil {
		return nil, err
	}
	return &evaluate.Answer{Ranking: ranking, Exact: exact}, nil
}

// stack puts the rows of matrices of one width below each other.
func stack(top *mat.Dense, below ...*mat.Dense) *mat.Dense {
	for _, next := range below {
		both := new(mat.Dense)
		both.Stack(top, next)
		top = both
	}
	return top
}

// rows returns rows lo to hi of x.
func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}
