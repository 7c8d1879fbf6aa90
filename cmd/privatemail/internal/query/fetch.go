package query

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// openRecords makes the client of the records, if they are to be fetched.
func (s *Session) openRecords(ctx context.Context) error {
	if !s.flags.Sealed.Fetch {
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
	own := s.flags.Sealed.recordsEpoch
	s.sealed.records = manifest
	s.sealed.fetcher, err = sealedclient.NewRecords(manifest, hint, sealedclient.RecordsSettings{Gallery: s.hash, Epoch: own, UnconfirmedEpoch: own == wire.Hash{}})
	return err
}

// fetchMemory is what fetching takes: all records, which are written when the last one is here,
// and a request with what is encrypted in it.
func (s *Session) fetchMemory(m *wire.SealedRecords) float64 {
	request := m.RequestBytes(min(s.flags.K, sealed.MaxFetches))
	return float64(s.X.Rows)*float64(s.flags.K)*float64(m.Length) + 4*float64(request)
}

// fetchRecords fetches the records of the matches of a query: as many as -k says, even
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
		mode.fetched = append(mode.fetched, records...)
	}
	return nil
}

// A RecordReport is one record that was fetched.
type RecordReport struct {
	Query  int     `json:"query"`
	Row    int32   `json:"row"`
	Record *string `json:"record,omitempty"` // nil where there is none, or where it is not UTF-8
	Bytes  []byte  `json:"bytes,omitempty"`  // a record that is not UTF-8, in base64
}

// recordsOf returns the records of a query, those of its matches in their order.
func (s *Session) recordsOf(q int) (out []RecordReport) {
	for i := range s.found(q) {
		at := q*s.flags.K + i
		r := RecordReport{Query: q, Row: s.IDs[at]}
		switch record := s.sealed.fetched[at]; {
		case record == nil:
		case utf8.Valid(record):
			text := string(record)
			r.Record = &text
		default:
			r.Bytes = record
		}
		out = append(out, r)
	}
	return out
}

// writeRecords writes the file of -records-out, a JSON object a line.
func (s *Session) writeRecords(ctx context.Context) error {
	path := s.flags.Sealed.recordsOut
	if path == "" {
		return nil
	}
	return formats.WriteFile(ctx, path, func(w io.Writer) error {
		to := json.NewEncoder(w)
		for q := range s.X.Rows {
			for _, r := range s.recordsOf(q) {
				if err := to.Encode(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// showRecords prints what was fetched, where no file gets it.
func (s *Session) showRecords(e *cli.Env) error {
	if !s.flags.Sealed.Fetch || s.flags.Sealed.recordsOut != "" {
		return nil
	}
	for q := range s.X.Rows {
		for _, r := range s.recordsOf(q) {
			if e.JSON {
				if err := e.Object(r); err != nil {
					return err
				}
				continue
			}
			shown := "(none)"
			switch {
			case r.Record != nil:
				shown = text.Harmless(*r.Record)
			case r.Bytes != nil:
				shown = fmt.Sprintf("%q", r.Bytes)
			}
			fmt.Fprintf(e.Stdout, "query %d, row %d: %s\n", q, r.Row, shown)
		}
	}
	return nil
}

// shortcomings returns what was kept back until everything was sent. It is reported and is not an
// error: a server can cause it for some rows only, and a user who runs the command again after an
// error would show the server which.
func (s *Session) shortcomings() (all []string) {
	if n := s.missing(); n > 0 {
		all = append(all, fmt.Sprintf("%d of the fetched records are not there: the server has none for these rows, or sends malformed ones", n))
	}
	return all
}

// missing returns how many records of matches the server does not have, or that are malformed.
func (s *Session) missing() (n int) {
	for at, record := range s.sealed.fetched {
		if record == nil && s.IDs[at] != -1 {
			n++
		}
	}
	return n
}
