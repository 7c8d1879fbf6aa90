package modes

import (
	"context"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// sealedBatch is how many queries are encrypted together: the public matrix is expanded once for
// all of them.
const sealedBatch = 256

// Sealed encrypts every query, has the server score all of its gallery with it, and ranks the
// cells nearest to the query by the decrypted scores, in the supervised embedding.
func Sealed() evaluate.Mode {
	return evaluate.Mode{
		Name: "sealed", Title: "sealed, supervised, 8 probes",
		Protects: "Nothing by an epsilon: there is none, and no ledger is touched.",
		Assumes:  "All of the query, its cells and its scores, as long as learning with errors is hard for secrets of 1408 words modulo 2^32 (estimated at 2^142 operations for a query, 2^128 with a quantum computer; no proof, no outside audit), and AES-256 is good. The gallery is the server's own and is not hidden from clients.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			s, queries, err := placed(ctx, t)
			if err != nil {
				return nil, err
			}
			return askSealed(ctx, t, queries, s.x)
		},
	}
}

// askSealed puts every query through client, wire and server.
func askSealed(ctx context.Context, t *evaluate.Task, queries, ranking *mat.Dense) (*evaluate.Answer, error) {
	gallery, err := sealedserver.New(ctx, ranking.RawMatrix(), sealedserver.Settings{Seed: t.Seed, Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	defer gallery.Close()
	manifest, hint := gallery.Manifest(), gallery.Hint()
	// Both sides are this program: there is no second path that could confirm the epoch.
	asker, err := sealedclient.New(manifest, hint, sealedclient.Settings{UnconfirmedEpoch: true, Workers: t.Workers.Count()})
	if err != nil {
		return nil, err
	}
	s := &sealedSides{gallery: gallery, asker: asker, ids: gallery.IDs().IDs, ranking: &evaluate.Ranking{K: evaluate.DeepLength}}
	n, _ := queries.Dims()
	rows := queries.RawMatrix()
	for lo := 0; lo < n; lo += sealedBatch {
		count := min(sealedBatch, n-lo)
		batch := blas64.General{Rows: count, Cols: rows.Cols, Stride: rows.Stride, Data: rows.Data[lo*rows.Stride : (lo+count-1)*rows.Stride+rows.Cols]}
		if err := s.ask(ctx, batch); err != nil {
			return nil, err
		}
	}
	a := &evaluate.Answer{Ranking: s.ranking, Facts: map[string]float64{
		"cells": float64(manifest.Cells), "slots of a cell": float64(manifest.Length), "probes": float64(manifest.Probes),
		"bound on the error of a squared distance": asker.Bound(),
	}}
	if a.Volume.Sealed, err = s.exchange(manifest, hint, n); err != nil {
		return nil, err
	}
	a.Exact, err = t.Search(ctx, queries, ranking)
	return a, err
}

// sealedSides are client and server of one gallery, and what came of the queries so far.
type sealedSides struct {
	gallery *sealedserver.Gallery
	asker   *sealedclient.Client
	ids     []uint32 // row numbers by the names that clients get
	ranking *evaluate.Ranking
	request *wire.SealedRequest // of the last query
	answer  *wire.SealedAnswer
	took    time.Duration // of the server, for all queries
}

// ask encrypts some queries together and has each answered in a pass of its own.
func (s *sealedSides) ask(ctx context.Context, rows blas64.General) error {
	queries, err := s.asker.Ask(ctx, rows)
	if err != nil {
		return err
	}
	for _, q := range queries {
		s.request = q.Request()
		began := time.Now()
		answers, err := s.gallery.Answer(ctx, s.request)
		if err != nil {
			return err
		}
		s.took += time.Since(began)
		s.answer = answers[0]
		matches, err := s.asker.Rank(q, s.answer, s.ranking.K)
		if err != nil {
			return err
		}
		q.Forget()
		appendRows(s.ranking, len(matches), func(i int) int { return int(s.ids[matches[i].Name]) })
	}
	return nil
}

// exchange returns what a query takes, and what is taken once. All queries have messages of the
// same length.
func (s *sealedSides) exchange(manifest *wire.SealedManifest, hint *wire.SealedHint, queries int) (x evaluate.Exchange, err error) {
	for _, m := range []struct {
		bytes   *float64
		message interface{ MarshalBinary() ([]byte, error) }
	}{{&x.Up, s.request}, {&x.Down, s.answer}, {&x.Once, manifest}, {&x.Once, hint}} {
		frame, err := m.message.MarshalBinary()
		if err != nil {
			return x, err
		}
		*m.bytes += float64(len(frame))
	}
	x.Seconds = s.took.Seconds() / float64(queries)
	return x, nil
}
