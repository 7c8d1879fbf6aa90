package query

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// planSealed says what a run in mode sealed would send and take.
func (s *Session) planSealed(ctx context.Context) (*PlanReport, error) {
	f := &s.flags.Sealed
	r := &PlanReport{Server: s.address, Mode: ModeSealed, Queries: s.X.Rows, Confirmed: f.confirmed(), Privacy: NoEpsilon, Sent: []string{}}
	s.sealed = new(sealedSession)
	var about *remote.Description
	if !f.confirmed() || !s.server.CachedManifest(f.epoch) {
		var err error
		if about, err = s.server.Describe(ctx); err != nil {
			return nil, err
		}
		r.Gallery = about.Name
		r.Sent = append(r.Sent, "GET /v1/gallery", "GET /v1/sealed/manifest")
	}
	if err := s.findManifest(ctx); err != nil {
		return nil, err
	}
	m := s.sealed.manifest
	r.Rows, r.Epoch, r.Cells, r.Probes = m.Rows, fmt.Sprintf("%x", s.hash), m.Cells, m.Probes
	r.RequestBytes, r.AnswerBytes = m.RequestBytes(), m.AnswerBytes()
	r.Up, r.Down = int64(r.Queries)*r.RequestBytes, int64(r.Queries)*r.AnswerBytes
	chart, hint, ids := s.server.CachedSealed(s.hash)
	if m.Map != (wire.Hash{}) {
		r.once("map", chart, mapBytes(about))
	}
	s.planLabels(r, about)
	hintBytes, idsBytes := m.HintBytes(), m.IDsBytes()
	r.once("hint", hint, &hintBytes)
	r.once("row numbers", ids, &idsBytes)
	if !f.Fetch {
		return r, nil
	}
	return r, s.planRecords(ctx, r)
}

// planRecords adds what fetching records takes. Their manifest is asked for.
func (s *Session) planRecords(ctx context.Context, r *PlanReport) error {
	records, err := s.server.SealedRecords(ctx, s.hash)
	if err != nil {
		return err
	}
	r.Sent = append(r.Sent, "GET /v1/sealed/records/manifest")
	epoch, err := records.Hash()
	if err != nil {
		return err
	}
	r.Fetches = s.flags.K
	for left := r.Fetches; left > 0; left -= sealed.MaxFetches {
		r.FetchUp += records.RequestBytes(min(left, sealed.MaxFetches))
		r.FetchDown += records.AnswerBytes(min(left, sealed.MaxFetches))
	}
	r.Up, r.Down = r.Up+int64(r.Queries)*r.FetchUp, r.Down+int64(r.Queries)*r.FetchDown
	hintBytes := records.HintBytes()
	r.once("hint of the records", s.server.CachedRecords(epoch), &hintBytes)
	return nil
}
