package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// noEpsilon is what mode sealed says about privacy.
const noEpsilon = "no epsilon is spent: the query is encrypted; the assumption is LWE, see docs/privacy.md"

// A sealedAsking is what a run in mode sealed has found.
type sealedAsking struct {
	manifest *wire.SealedManifest
	client   *sealedclient.Client
	renewed  bool // a new epoch came in the middle of the run
	unusable int  // rows that the map of the server makes no query of

	// Of -fetch.
	records *wire.SealedRecords
	fetcher *sealedclient.Records
	fetched [][]byte // k for each row; nil where there is none
	missing int      // records that the server does not have, or that are none
}

// sealedRows asks for all rows in mode sealed. Where the server has a new epoch in the middle
// of it, all rows are encrypted anew, once: numbers of rows are those of one gallery.
func (a *asking) sealedRows(ctx context.Context) error {
	a.sealed = new(sealedAsking)
	err := a.askSealed(ctx)
	if errors.Is(err, remote.ErrEpoch) && !a.flags.sealed.confirmed() {
		a.sealed = &sealedAsking{renewed: true}
		a.ids, a.distances, a.came = nil, nil, nil
		err = a.askSealed(ctx)
	}
	return err
}

// askSealed asks for all rows under the epoch that the server has.
func (a *asking) askSealed(ctx context.Context) error {
	if err := a.findManifest(ctx); err != nil {
		return err
	}
	m := a.sealed.manifest
	batch := sealedBatch(m)
	if err := a.reserve(sealedMemory(m), m.Dimension, "a hint of mode sealed"); err != nil {
		return err
	}
	z, err := a.placeSealed(ctx)
	if err != nil {
		return err
	}
	if err := a.openSealed(ctx, 0); err != nil {
		return err
	}
	if err := a.openRecords(ctx); err != nil {
		return err
	}
	for from := 0; from < z.Rows; from += batch {
		to := min(from+batch, z.Rows)
		if err := a.askBatch(ctx, wideRows(z, from, to)); err != nil {
			return err
		}
		a.meter.report(privatemail.Progress{Stage: "queries", Done: to, Total: z.Rows})
	}
	return nil
}

// sealedBatch is how many rows are encrypted at a time: the public matrix is computed once
// for all of them, and each takes some times its request, and its answer, in memory.
func sealedBatch(m *wire.SealedManifest) int {
	const memory = 64 << 20
	return int(max(1, min(64, memory/max(m.RequestBytes(), m.AnswerBytes()))))
}

// sealedMemory estimates half of what the client of an epoch takes: hint, requests, answers,
// and the slots of one answer while it is ranked.
func sealedMemory(m *wire.SealedManifest) int64 {
	const slot = 14 // half of the score, norm, row number and place of a slot
	return m.MaxHintBytes() + int64(sealedBatch(m))*(3*m.RequestBytes()+m.AnswerBytes()) + slot*int64(m.Probes)*int64(m.Length)
}

// wideRows returns some rows in float64.
func wideRows(x blas32.General, from, to int) blas64.General {
	out := blas64.General{Rows: to - from, Cols: x.Cols, Stride: x.Cols}
	for i := from; i < to; i++ {
		out.Data = append(out.Data, wide(x, i)...)
	}
	return out
}

// findManifest gets the manifest.
func (a *asking) findManifest(ctx context.Context) (err error) {
	if a.sealed.manifest, err = a.server.SealedManifest(ctx); err != nil {
		return err
	}
	a.hash, err = a.sealed.manifest.Hash()
	return err
}

// openSealed makes the client of the epoch, with a hint of the given version or a later one.
// Where hint and row numbers of the cache do not come together, it takes both anew.
func (a *asking) openSealed(ctx context.Context, version uint64) error {
	err := a.openKept(ctx, version)
	if errors.Is(err, remote.ErrChanges) || errors.Is(err, remote.ErrResponse) {
		a.server.ForgetSealed(a.hash)
		err = a.openKept(ctx, version)
	}
	return err
}

func (a *asking) openKept(ctx context.Context, version uint64) error {
	hint, err := a.server.SealedHint(ctx, a.hash, version)
	if err != nil {
		return err
	}
	c, err := sealedclient.New(a.sealed.manifest, hint, sealedclient.Settings{Epoch: a.flags.sealed.epoch, UnconfirmedEpoch: a.flags.sealed.unconfirmed})
	if err != nil {
		return err
	}
	ids, err := a.server.SealedIDs(ctx, a.hash, hint.Version)
	if err != nil {
		return err
	}
	if ids.Version > hint.Version { // the gallery has grown between the two
		if err := a.update(ctx, c, hint.Version, ids.Version); err != nil {
			return err
		}
	}
	if err := c.SetIDs(ids); err != nil {
		return err
	}
	a.sealed.client = c
	return nil
}

// update takes a client from one version of the gallery to another.
func (a *asking) update(ctx context.Context, c *sealedclient.Client, since, to uint64) error {
	changes, err := a.server.SealedChanges(ctx, a.hash, since, to)
	if err != nil {
		return err
	}
	return c.Update(changes)
}

// askBatch asks for rows, and ranks when the answers to all of them are here. Nothing that
// the server sees depends on what was decrypted: neither what is sent, nor how often, nor
// whether the run goes on. Ranking takes the same steps whatever the scores are.
func (a *asking) askBatch(ctx context.Context, z blas64.General) error {
	queries, err := a.sealed.client.Ask(ctx, z)
	if err != nil {
		return err
	}
	defer func() {
		for _, q := range queries {
			q.Forget()
		}
	}()
	answers := make([]*wire.SealedAnswer, len(queries))
	for i, q := range queries {
		if answers[i], err = a.server.SealedAsk(ctx, q.Request()); err != nil {
			return err
		}
	}
	for i := range queries {
		row := blas64.General{Rows: 1, Cols: z.Cols, Stride: z.Cols, Data: z.Data[i*z.Stride:][:z.Cols]}
		matches, err := a.rankSealed(ctx, row, queries[i], answers[i])
		if errors.Is(err, sealedclient.ErrRecord) {
			a.sealed.unusable++ // told at the end, when everything was sent
		} else if err != nil {
			return err
		}
		a.keep(matches, back{all: a.sealed.manifest.Probes * a.sealed.manifest.Length})
		if err := a.fetchRecords(ctx, a.ids[len(a.ids)-a.flags.k:]); err != nil {
			return err
		}
	}
	return nil
}

// mostRenewals is how often a query is ranked under another version of the gallery, or asked
// again because of one.
const mostRenewals = 4

// rankSealed ranks an answer. Where it is of a version of the gallery that the client does
// not have, the client takes the changes first, and the same answer is ranked. Where these are
// not kept, the row is encrypted and asked anew, and so it is where the answer is of a version
// before those of the client. Where that comes twice, the server was set back, and the client
// takes the hint anew. Versions alone decide about all that.
func (a *asking) rankSealed(ctx context.Context, row blas64.General, q *sealedclient.Query, answer *wire.SealedAnswer) ([]client.Match, error) {
	for renewals := 0; ; renewals++ {
		c := a.sealed.client
		found, err := c.Rank(q, answer, a.flags.k)
		version, ok := errors.AsType[*sealedclient.VersionError](err)
		if !ok || renewals == mostRenewals {
			return matchesOf(found), err
		}
		if version.Have < version.Want {
			err := a.update(ctx, c, version.Have, version.Want)
			if err == nil {
				continue
			}
			if !errors.Is(err, remote.ErrChanges) {
				return nil, err
			}
			if err := a.openSealed(ctx, version.Want); err != nil {
				return nil, err
			}
		} else if renewals > 0 {
			a.server.ForgetSealed(a.hash)
			if err := a.openSealed(ctx, 0); err != nil {
				return nil, err
			}
		}
		again, err := a.sealed.client.Ask(ctx, row)
		if err != nil {
			return nil, err
		}
		q = again[0]
		defer q.Forget()
		if answer, err = a.server.SealedAsk(ctx, q.Request()); err != nil {
			return nil, err
		}
	}
}

// matchesOf returns matches as the other modes have them.
func matchesOf(found []sealedclient.Match) (out []client.Match) {
	for _, m := range found {
		out = append(out, client.Match{ID: int64(m.ID), Distance: m.Distance})
	}
	return out
}

// placeSealed returns the rows in the space of the server. Sizes are public, and an error
// where they do not fit. A row that the map fails for is made of NaN: its query is sent as
// all others are, since the map is the server's, and whether it fails must not show.
func (a *asking) placeSealed(ctx context.Context) (blas32.General, error) {
	m, err := a.server.SealedMap(ctx, a.hash)
	if err != nil {
		return blas32.General{}, err
	}
	if err := a.fits(m, a.sealed.manifest.Dimension); err != nil || m == nil {
		return a.x, err
	}
	if z, err := m.Apply(a.x); err == nil {
		return z, nil
	}
	return placeEach(m, a.x), nil
}

// placeEach places row by row, and has NaN for rows that the map fails for.
func placeEach(m *supervised.Map, x blas32.General) blas32.General {
	columns := m.Columns()
	out := blas32.General{Rows: x.Rows, Cols: columns, Stride: columns, Data: make([]float32, x.Rows*columns)}
	for i := range x.Rows {
		to := out.Data[i*columns:][:columns]
		one, err := m.Apply(blas32.General{Rows: 1, Cols: x.Cols, Stride: x.Cols, Data: x.Data[i*x.Stride:][:x.Cols]})
		if err == nil {
			copy(to, one.Data)
			continue
		}
		for j := range to {
			to[j] = float32(math.NaN())
		}
	}
	return out
}

// fits refuses rows of another size than those that a map takes, or without one the gallery.
func (a *asking) fits(m *supervised.Map, dimension int) error {
	switch {
	case m == nil && a.x.Cols != dimension:
		return fmt.Errorf("%s: rows of %d values, but those of the gallery have %d", a.in.features, a.x.Cols, dimension)
	case m != nil && a.x.Cols != m.Dim:
		return fmt.Errorf("%s: rows of %d values, but the map of the server takes %d", a.in.features, a.x.Cols, m.Dim)
	}
	return nil
}
