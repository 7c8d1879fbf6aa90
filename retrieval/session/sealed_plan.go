package session

import (
	"context"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// planSealed says what a run in mode sealed would send and take.
func (s *Session) planSealed(ctx context.Context) (*Plan, error) {
	p := new(Plan)
	s.sealed = new(sealedSession)
	if !s.settings.confirmed() || !s.server.CachedManifest(s.settings.Remote.Epoch) {
		if err := s.describe(ctx, p, "GET /v1/sealed/manifest"); err != nil {
			return nil, err
		}
	}
	if err := s.findManifest(ctx); err != nil {
		return nil, err
	}
	m := s.sealed.manifest
	p.Hash, p.Manifest = s.hash, m
	p.RequestBytes, p.AnswerBytes = m.RequestBytes(), m.AnswerBytes()
	p.Up, p.Down = int64(s.x.Rows)*p.RequestBytes, int64(s.x.Rows)*p.AnswerBytes
	chart, hint, ids := s.server.CachedSealed(s.hash)
	if m.Map != (wire.Hash{}) {
		p.once("map", chart, mapBytes(p.About))
	}
	s.planLabels(p)
	hintBytes, idsBytes := m.HintBytes(), m.IDsBytes()
	p.once("hint", hint, hintBytes)
	p.once("row numbers", ids, idsBytes)
	if !s.settings.Fetch {
		return p, nil
	}
	return p, s.planRecords(ctx, p)
}

// planRecords adds what fetching records takes. Their manifest is asked for.
func (s *Session) planRecords(ctx context.Context, p *Plan) error {
	records, err := s.server.SealedRecords(ctx, s.hash)
	if err != nil {
		return err
	}
	p.Sent = append(p.Sent, "GET /v1/sealed/records/manifest")
	epoch, err := records.Hash()
	if err != nil {
		return err
	}
	p.Fetches = s.settings.K
	for left := p.Fetches; left > 0; left -= sealed.MaxFetches {
		p.FetchUp += records.RequestBytes(min(left, sealed.MaxFetches))
		p.FetchDown += records.AnswerBytes(min(left, sealed.MaxFetches))
	}
	p.Up, p.Down = p.Up+int64(s.x.Rows)*p.FetchUp, p.Down+int64(s.x.Rows)*p.FetchDown
	hintBytes := records.HintBytes()
	p.once("hint of the records", s.server.CachedRecords(epoch), hintBytes)
	return nil
}
