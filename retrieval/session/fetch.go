package session

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// openRecords makes the client of the records, if they are to be fetched.
func (s *Session) openRecords(ctx context.Context) error {
	if !s.settings.Fetch {
		return nil
	}
	manifest, err := s.server.SealedRecords(ctx, s.hash)
	if err != nil {
		return err
	}
	if err := s.reserve(s.fetchMemory(manifest), manifest.HintBytes(), "fetching records"); err != nil {
		return err
	}
	hint, err := s.server.SealedRecordsHint(ctx, manifest)
	if err != nil {
		return err
	}
	own := s.settings.RecordsEpoch
	s.sealed.records = manifest
	s.sealed.fetcher, err = sealedclient.NewRecords(manifest, hint, sealedclient.RecordsSettings{Gallery: s.hash, Epoch: own, UnconfirmedEpoch: own == wire.Hash{}})
	return err
}

// fetchMemory is what fetching takes: all records, which are written when the last one is here,
// and a request with what is encrypted in it.
func (s *Session) fetchMemory(m *wire.SealedRecords) float64 {
	request := m.RequestBytes(min(s.settings.K, sealed.MaxFetches))
	return float64(s.x.Rows)*float64(s.settings.K)*float64(m.Length) + 4*float64(request)
}

// fetchRecords fetches the records of the matches of a query: always K, even
// where fewer matched. A record that is wrong is reported at the end.
func (s *Session) fetchRecords(ctx context.Context, rows []int32) error {
	mode := s.sealed
	if mode.fetcher == nil {
		return nil
	}
	wanted := make([]uint32, len(rows))
	for i, row := range rows {
		wanted[i] = uint32(row) // wire.Padding where there is no match
	}
	for part := range slices.Chunk(wanted, sealed.MaxFetches) {
		f, err := mode.fetcher.Fetch(ctx, part)
		if err != nil {
			return err
		}
		defer f.Forget()
		answer, err := s.server.SealedFetch(ctx, mode.records, f.Request())
		if err != nil {
			return err
		}
		records, err := mode.fetcher.Open(f, answer)
		if records == nil && err != nil {
			return err
		}
		s.result.Records = append(s.result.Records, records...)
	}
	return nil
}
