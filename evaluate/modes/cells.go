package modes

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const cellsProtects = "The whole record of the query, pure epsilon (delta = 0), replace-one: the server learns one cell, drawn by randomised response. The gallery is the server's own."

// Cells asks for a list of an eighth of the gallery and ranks it, with a base
// sample fetched once, in the supervised embedding.
func Cells() evaluate.Mode {
	return evaluate.Mode{
		Name: "cells", Title: "cells, supervised, with base sample", Protects: cellsProtects,
		Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			s, err := fitted(ctx, t)
			if err != nil {
				return nil, err
			}
			queries, err := images(s.fit.Map, t.Queries)
			if err != nil {
				return nil, err
			}
			return askCells(ctx, t, &cellSpaces{space: s.z, ranking: s.x, queries: queries, withBase: true})
		},
	}
}

// CellsPrepared is Cells on the prepared rows and without the base sample.
func CellsPrepared() evaluate.Mode {
	return evaluate.Mode{
		Name: "cells-prepared", Title: "cells, prepared rows, list only", Protects: cellsProtects,
		Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			return askCells(ctx, t, &cellSpaces{space: t.Gallery, ranking: t.Gallery, queries: t.Queries})
		},
	}
}

// cellSpaces says where cells are cut and where lists are ranked. Queries have
// one row for both.
type cellSpaces struct {
	space, ranking, queries *mat.Dense
	withBase                bool
}

// askCells puts every query through client, wire and server.
func askCells(ctx context.Context, t *evaluate.Task, s *cellSpaces) (*evaluate.Answer, error) {
	cells, err := server.NewCells(ctx, s.space.RawMatrix(), s.ranking.RawMatrix(), server.CellsSettings{Epsilon: t.Epsilon, Seed: t.Seed, Encoded: -1})
	if errors.Is(err, retrieval.ErrCells) { // a large epsilon wants more cells than there are rows
		return nil, &evaluate.UnavailableError{Reason: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	// Both sides are this program: there is no second path that could confirm the codebook.
	asker, err := client.NewCells(cells.Codebook(), client.CellsSettings{
		UnconfirmedCodebook: true, Epsilon: t.Epsilon, Ledger: mechanism.NoLedger, Memory: client.NewMemory(),
	})
	if err != nil {
		return nil, err
	}
	a, err := askAll(ctx, cells, asker, s)
	if err != nil {
		return nil, err
	}
	search := &evaluate.SearchSettings{Workers: t.Workers}
	if a.Exact, err = evaluate.Nearest(ctx, s.queries.RawMatrix(), s.ranking.RawMatrix(), evaluate.ListLength, search); err != nil {
		return nil, err
	}
	if a.NoQuery, err = sample(ctx, s, int(a.Download+a.Base+0.5), t.Seed, search); err != nil {
		return nil, err
	}
	terms, err := asker.Terms()
	if err != nil {
		return nil, err
	}
	gallery, _ := s.ranking.Dims()
	a.Facts = map[string]float64{
		"cells": float64(terms.Cells), "probability of the own cell": terms.Inclusion,
		"largest answer": terms.Share, "mean list": cells.ListLength() / float64(gallery),
	}
	return a, nil
}

// askAll asks each query and keeps the matches and the number of rows that travel.
func askAll(ctx context.Context, cells *server.Cells, asker *client.Cells, s *cellSpaces) (*evaluate.Answer, error) {
	var base *client.Base
	a := &evaluate.Answer{Ranking: &evaluate.Ranking{K: evaluate.DeepLength}}
	if s.withBase {
		sample := cells.Base(wire.Float32)
		var err error
		if base, err = asker.NewBase(sample); err != nil {
			return nil, err
		}
		a.Base = float64(len(sample.IDs))
	}
	n, _ := s.queries.Dims()
	for q := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := s.queries.RawRowView(q)
		request, err := asker.Ask(fmt.Sprintf("query %d", q), row)
		if err != nil {
			return nil, err
		}
		answer, err := cells.Answer(request, wire.Float32)
		if err != nil {
			return nil, err
		}
		for i := range answer.Cells {
			a.Download += float64(len(answer.List(i))) / float64(n)
		}
		matches, err := asker.Rank(row, evaluate.DeepLength, request, answer, base)
		if err != nil {
			return nil, err
		}
		for i := range evaluate.DeepLength {
			id := -1
			if i < len(matches) {
				id = int(matches[i].ID)
			}
			a.Ranking.Index = append(a.Ranking.Index, id)
		}
	}
	return a, nil
}

// sample ranks as many random rows of the gallery as were downloaded.
func sample(ctx context.Context, s *cellSpaces, size int, seed uint64, settings *evaluate.SearchSettings) (*evaluate.Ranking, error) {
	n, d := s.ranking.Dims()
	chosen := random.Permutation(n, ^seed)[:min(max(size, evaluate.ListLength), n)]
	rows := mat.NewDense(len(chosen), d, nil)
	for i, row := range chosen {
		rows.SetRow(i, s.ranking.RawRowView(row))
	}
	r, err := evaluate.Nearest(ctx, s.queries.RawMatrix(), rows.RawMatrix(), evaluate.ListLength, settings)
	if err != nil {
		return nil, err
	}
	for i, at := range r.Index {
		r.Index[i] = chosen[at]
	}
	return r, nil
}
