package session

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A sealedSession is what a run in mode sealed has found.
type sealedSession struct {
	manifest *wire.SealedManifest
	client   *sealedclient.Client
	updates  int // versions of the gallery that came after the first one

	// Of Fetch.
	records *wire.SealedRecords
	fetcher *sealedclient.Records
}

// sealedRows asks for all rows in mode sealed. Where the server has a new epoch in the middle
// of it, all rows are encrypted again, once: numbers of rows are those of one gallery.
func (s *Session) sealedRows(ctx context.Context) error {
	s.sealed = new(sealedSession)
	err := s.askSealed(ctx)
	if errors.Is(err, remote.ErrEpoch) && !s.settings.confirmed() {
		s.sealed = new(sealedSession)
		s.result.begin()
		s.result.NewEpoch = true
		err = s.askSealed(ctx)
	}
	return err
}

// askSealed asks for all rows under the epoch that the server has.
func (s *Session) askSealed(ctx context.Context) error {
	if err := s.findManifest(ctx); err != nil {
		return err
	}
	m := s.sealed.manifest
	batch := sealedBatch(m)
	if err := s.reserve(s.results(m.Dimension)+sealedMemory(m), m.MaxHintBytes(), "mode sealed"); err != nil {
		return err
	}
	chart, err := s.server.SealedMap(ctx, s.hash)
	if err != nil {
		return err
	}
	if err := s.fits(chart, m.Dimension); err != nil {
		return err
	}
	if err := s.labels(func() (*wire.Labels, error) { return s.server.SealedLabels(ctx, s.hash) }); err != nil {
		return err
	}
	if err := s.openSealed(ctx, 0); err != nil {
		return err
	}
	if err := s.openRecords(ctx); err != nil {
		return err
	}
	z, err := s.place(chart)
	if err != nil {
		return err
	}
	for from := 0; from < z.Rows; from += batch {
		to := min(from+batch, z.Rows)
		if err := s.askBatch(ctx, wideRows(z, from, to)); err != nil {
			return err
		}
		s.progress("queries", to, z.Rows)
	}
	s.result.Bound = s.sealed.client.Bound()
	return nil
}

// wideRows returns some rows in float64.
func wideRows(x blas32.General, from, to int) blas64.General {
	out := blas64.General{Rows: to - from, Cols: x.Cols, Stride: x.Cols}
	for i := from; i < to; i++ {
		out.Data = append(out.Data, wide(x, i)...)
	}
	return out
}

// sealedBatch is how many rows are encrypted at a time: the public matrix is computed once
// for all of them, and each takes some times its request, and its answer, in memory.
func sealedBatch(m *wire.SealedManifest) int {
	const memory = 64 << 20
	return int(max(1, min(64, memory/max(m.RequestBytes(), m.AnswerBytes()))))
}

// sealedMemory estimates what the client of an epoch takes besides messages: requests, answers, the
// slots of one answer while it is ranked, and where the rows of the hint and the cells are.
func sealedMemory(m *wire.SealedManifest) float64 {
	const slot = 28 // the score, norm, row number and place of a slot
	return 2*float64(sealedBatch(m))*float64(3*m.RequestBytes()+m.AnswerBytes()) + slot*float64(m.Probes)*float64(m.Length) + versionPlaces(m)
}

// versionPlaces is what a version of a gallery takes to say where its rows of the hint and its cells are,
// with lengths of centres.
func versionPlaces(m *wire.SealedManifest) float64 {
	const place = 24
	return place*(float64(m.Length)+2*float64(m.Cells)) + 8*float64(m.Cells)
}

// versionMemory is what a version takes that differs from one before by some changes: rows of the
// hint, and copies of the cells that have a change.
func versionMemory(m *wire.SealedManifest, changes *wire.SealedChanges) float64 {
	const slot = 2 + 4 // its norm and row number
	cells := min(len(changes.Names), m.Cells)
	return 4*float64(len(changes.Words)) + slot*float64(cells)*float64(m.Length) + versionPlaces(m)
}

// findManifest gets the manifest.
func (s *Session) findManifest(ctx context.Context) (err error) {
	if s.sealed.manifest, err = s.server.SealedManifest(ctx); err != nil {
		return err
	}
	s.hash, err = s.sealed.manifest.Hash()
	s.result.Manifest, s.result.Hash = s.sealed.manifest, s.hash
	return err
}

// openSealed makes the client of the epoch, with a hint of the given version or a later one.
// Where hint and row numbers of the cache do not come together, it takes both again.
func (s *Session) openSealed(ctx context.Context, version uint64) error {
	err := s.openKept(ctx, version)
	if errors.Is(err, remote.ErrChanges) || errors.Is(err, remote.ErrResponse) {
		s.server.ForgetSealed(s.hash)
		err = s.openKept(ctx, version)
	}
	return err
}

func (s *Session) openKept(ctx context.Context, version uint64) error {
	hint, err := s.server.SealedHint(ctx, s.hash, version)
	if err != nil {
		return err
	}
	c, err := sealedclient.New(s.sealed.manifest, hint, sealedclient.Settings{Epoch: s.settings.Remote.Epoch, UnconfirmedEpoch: s.settings.Unconfirmed})
	if err != nil {
		return err
	}
	ids, err := s.server.SealedIDs(ctx, s.hash, hint.Version)
	if err != nil {
		return err
	}
	if ids.Version > hint.Version { // the gallery has grown between the two
		if err := s.update(ctx, c, hint.Version, ids.Version); err != nil {
			return err
		}
	}
	if err := c.SetIDs(ids); err != nil {
		return err
	}
	s.sealed.client = c
	return nil
}

// update takes a client from one version of the gallery to another.
func (s *Session) update(ctx context.Context, c *sealedclient.Client, since, to uint64) error {
	changes, err := s.server.SealedChanges(ctx, s.hash, since, to)
	if err != nil {
		return err
	}
	s.sealed.updates++
	what := fmt.Sprintf("version %d of those that are kept", s.sealed.updates%sealedclient.KeptVersions)
	if err := s.server.Hold(what, bytesOf(versionMemory(s.sealed.manifest, changes))); err != nil {
		return err
	}
	return c.Update(changes)
}

// askBatch asks for rows, and ranks when the answers to all of them are here. Nothing that
// the server sees depends on what was decrypted: neither what is sent, nor how often, nor
// whether the run goes on. Ranking takes the same steps whatever the scores are.
func (s *Session) askBatch(ctx context.Context, z blas64.General) error {
	queries, err := s.sealed.client.Ask(ctx, z)
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
		if answers[i], err = s.server.SealedAsk(ctx, q.Request()); err != nil {
			return err
		}
	}
	for i := range queries {
		row := blas64.General{Rows: 1, Cols: z.Cols, Stride: z.Cols, Data: z.Data[i*z.Stride:][:z.Cols]}
		matches, err := s.rankSealed(ctx, row, queries[i], answers[i])
		if err != nil {
			return err
		}
		s.result.keep(matches, Query{Ranked: s.sealed.manifest.Probes * s.sealed.manifest.Length})
		if err := s.fetchRecords(ctx, s.result.IDs[len(s.result.IDs)-s.settings.K:]); err != nil {
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
// not kept, the row is encrypted and asked for again; so it is also where the answer is of a version
// before those of the client. Where that comes twice, the server was set back, and the client
// takes the hint again. Versions alone decide about all that.
func (s *Session) rankSealed(ctx context.Context, row blas64.General, q *sealedclient.Query, answer *wire.SealedAnswer) ([]client.Match, error) {
	for renewals := 0; ; renewals++ {
		c := s.sealed.client
		matches, err := c.Rank(q, answer, s.settings.K)
		version, ok := errors.AsType[*sealedclient.VersionError](err)
		if !ok || renewals == mostRenewals {
			return matchesOf(matches), err
		}
		if version.Have < version.Want {
			err := s.update(ctx, c, version.Have, version.Want)
			if err == nil {
				continue
			}
			if !errors.Is(err, remote.ErrChanges) {
				return nil, err
			}
			if err := s.openSealed(ctx, version.Want); err != nil {
				return nil, err
			}
		} else if renewals > 0 {
			s.server.ForgetSealed(s.hash)
			if err := s.openSealed(ctx, 0); err != nil {
				return nil, err
			}
		}
		again, err := s.sealed.client.Ask(ctx, row)
		if err != nil {
			return nil, err
		}
		q = again[0]
		defer q.Forget()
		if answer, err = s.server.SealedAsk(ctx, q.Request()); err != nil {
			return nil, err
		}
	}
}

// matchesOf returns matches as the other modes have them, also those after the end, which stand for
// none: how many there are is private, and does not decide how much is done before the next request.
func matchesOf(matches []sealedclient.Match) []client.Match {
	matches = matches[:cap(matches)]
	out := make([]client.Match, len(matches))
	for i, m := range matches {
		out[i] = client.Match{ID: int64(m.ID), Distance: m.Distance}
	}
	return out
}
