package modes

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// AllRows takes the whole gallery once, as rows of int8, and ranks it at the client, in the
// supervised embedding. It is what mode cells has to be compared with.
func AllRows() evaluate.Mode {
	return evaluate.Mode{
		Name: "all", Title: "all rows, int8, supervised",
		Protects: "All of the query, without an epsilon: nothing is sent about it, and the server learns that the gallery was taken. The gallery is the server's own.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			s, queries, err := placed(ctx, t)
			if err != nil {
				return nil, err
			}
			return rankAll(ctx, t, &cellSpaces{space: s.z, ranking: s.x, queries: queries})
		},
	}
}

// rankAll ranks every query at the client, with what a server publishes.
func rankAll(ctx context.Context, t *evaluate.Task, s *cellSpaces) (*evaluate.Answer, error) {
	// Nobody asks for a list: the fewest cells do.
	published, err := server.NewCells(ctx, s.space.RawMatrix(), s.ranking.RawMatrix(), server.CellsSettings{Cells: 2, Seed: t.Seed, Encoded: -1})
	if err != nil {
		return nil, err
	}
	var gallery wire.AllRows
	if err := gallery.UnmarshalBinary(published.AllRowsFrame()); err != nil {
		return nil, err
	}
	all, err := client.NewAll(published.Codebook(), client.AllSettings{UnconfirmedCodebook: true}, &gallery)
	if err != nil {
		return nil, err
	}
	volume, err := volumeOf(published.Codebook(), 0)
	if err != nil {
		return nil, err
	}
	rows, _ := s.ranking.Dims()
	a := &evaluate.Answer{
		Ranking: &evaluate.Ranking{K: min(evaluate.DeepLength, rows)}, Base: float64(rows),
		Volume: evaluate.Volume{Int8: evaluate.Traffic{Once: volume.AllRows}, AllRows: volume.AllRows},
	}
	n, _ := s.queries.Dims()
	for q := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		matches, err := all.Rank(s.queries.RawRowView(q), a.Ranking.K)
		if err != nil {
			return nil, err
		}
		appendMatches(a.Ranking, matches)
	}
	a.Exact, err = t.Search(ctx, s.queries, s.ranking)
	return a, err
}
