package modes

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/mechanism"
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
			s, queries, err := placed(ctx, t)
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
	if errors.Is(err, server.ErrCells) { // a large epsilon wants more cells than there are rows
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
	if a.Exact, err = t.Search(ctx, s.queries, s.ranking); err != nil {
		return nil, err
	}
	if a.NoQuery, err = sample(ctx, t, s, int(a.Download+a.Base+0.5)); err != nil {
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

// askAll asks each query, has it answered with rows of both encodings, and keeps the matches and
// what travels.
func askAll(ctx context.Context, cells *server.Cells, asker *client.Cells, s *cellSpaces) (*evaluate.Answer, error) {
	a := &evaluate.Answer{Ranking: &evaluate.Ranking{K: evaluate.DeepLength}, Compact: &evaluate.Ranking{K: evaluate.DeepLength}}
	rankings := [...]*evaluate.Ranking{wire.Float32: a.Ranking, wire.Int8: a.Compact}
	var bases [len(rankings)]*client.Base
	if s.withBase {
		for encoding := range rankings {
			sample := cells.Base(wire.Encoding(encoding))
			var err error
			if bases[encoding], err = asker.NewBase(sample); err != nil {
				return nil, err
			}
			a.Base = float64(len(sample.IDs))
		}
	}
	var err error
	if a.Volume, err = volumeOf(cells.Codebook(), int(a.Base)); err != nil {
		return nil, err
	}
	n, _ := s.queries.Dims()
	for q := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := s.queries.RawRowView(q)
		record, err := client.ByName(fmt.Sprintf("query %d", q), row) // equal queries draw sets of their own
		if err != nil {
			return nil, err
		}
		request, err := asker.Ask(record, row)
		if err != nil {
			return nil, err
		}
		for encoding, ranking := range rankings {
			answer, err := cells.Answer(request, wire.Encoding(encoding))
			if err != nil {
				return nil, err
			}
			if ranking == a.Ranking {
				for i := range answer.Cells {
					a.Download += float64(len(answer.List(i))) / float64(n)
				}
			}
			matches, err := asker.Rank(row, evaluate.DeepLength, request, answer, bases[encoding])
			if err != nil {
				return nil, err
			}
			appendMatches(ranking, matches)
		}
	}
	return a, nil
}

// appendMatches adds the matches of a query to a ranking.
func appendMatches(r *evaluate.Ranking, matches []client.Match) {
	appendRows(r, len(matches), func(i int) int { return int(matches[i].ID) })
}

// appendRows adds the rows of a query to a ranking. Places that are left have no row.
func appendRows(r *evaluate.Ranking, count int, row func(i int) int) {
	for i := range r.K {
		id := -1
		if i < count {
			id = row(i)
		}
		r.Index = append(r.Index, id)
	}
}

// volumeOf returns what travels in bytes: answers for each query, and once the codebook with a
// base sample of that many rows, if any, or with the whole gallery.
func volumeOf(book *wire.Codebook, base int) (v evaluate.Volume, err error) {
	frame, err := book.MarshalBinary()
	if err != nil {
		return v, err
	}
	traffic := func(encoding wire.Encoding) evaluate.Traffic {
		t := evaluate.Traffic{Query: float64(book.AnswerBytes(encoding)), Once: float64(len(frame))}
		if base > 0 {
			t.Once += float64(book.BaseBytes(encoding, base))
		}
		return t
	}
	v.Float32, v.Int8 = traffic(wire.Float32), traffic(wire.Int8)
	v.AllRows = float64(len(frame)) + float64(book.AllRowsBytes())
	return v, nil
}

// sample ranks as many random rows of the gallery as were downloaded.
func sample(ctx context.Context, t *evaluate.Task, s *cellSpaces, size int) (*evaluate.Ranking, error) {
	n, d := s.ranking.Dims()
	chosen := random.Permutation(n, ^t.Seed)[:min(max(size, evaluate.ListLength), n)]
	rows := mat.NewDense(len(chosen), d, nil)
	for i, row := range chosen {
		rows.SetRow(i, s.ranking.RawRowView(row))
	}
	r, err := t.Search(ctx, s.queries, rows)
	if err != nil {
		return nil, err
	}
	for i, at := range r.Index {
		r.Index[i] = chosen[at]
	}
	return r, nil
}
