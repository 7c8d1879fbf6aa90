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
func (a *Asking) openRecords(ctx context.Context) error {
	if !a.flags.Sealed.Fetch {
		return nil
	}
	manifest, err := a.server.SealedRecords(ctx, a.hash)
	if err != nil {
		return err
	}
	if err := a.reserve(a.fetchMemory(manifest), manifest.HintBytes(), "fetching records"); err != nil {
		return err
	}
	hint, err := a.server.SealedRecordsHint(ctx, manifest)
	if err != nil {
		return err
	}
	own := a.flags.Sealed.recordsEpoch
	a.sealed.records = manifest
	a.sealed.fetcher, err = sealedclient.NewRecords(manifest, hint, sealedclient.RecordsSettings{Gallery: a.hash, Epoch: own, UnconfirmedEpoch: own == wire.Hash{}})
	return err
}

// fetchMemory is what fetching takes: all records, which are written when the last one is here,
// and a request with what is encrypted in it.
func (a *Asking) fetchMemory(m *wire.SealedRecords) float64 {
	request := m.RequestBytes(min(a.flags.K, sealed.MaxFetches))
	return float64(a.X.Rows)*float64(a.flags.K)*float64(m.Length) + 4*float64(request)
}

// fetchRecords fetches the records of the matches of a query: as many as -k says, whatever
// was found. What is wrong with a record is told at the end.
func (a *Asking) fetchRecords(ctx context.Context, rows []int32) error {
	s := a.sealed
	if s.fetcher == nil {
		return nil
	}
	wanted := make([]uint32, len(rows))
	for i, row := range rows {
		wanted[i] = uint32(row) // wire.Padding where there is no match
	}
	for part := range slices.Chunk(wanted, sealed.MaxFetches) {
		f, err := s.fetcher.Fetch(ctx, part)
		if err != nil {
			return err
		}
		defer f.Forget()
		answer, err := a.server.SealedFetch(ctx, s.records, f.Request())
		if err != nil {
			return err
		}
		records, err := s.fetcher.Open(f, answer)
		if records == nil && err != nil {
			return err
		}
		s.fetched = append(s.fetched, records...)
	}
	return nil
}

// A RecordReport is one record that was fetched.
type RecordReport struct {
	Query  int     `json:"query"`
	Row    int32   `json:"row"`
	Record *string `json:"record,omitempty"` // nil where there is none, or where it is no UTF-8
	Bytes  []byte  `json:"bytes,omitempty"`  // a record that is no UTF-8, in base64
}

// recordsOf returns the records of a query, those of its matches in their order.
func (a *Asking) recordsOf(q int) (out []RecordReport) {
	for i := range a.found(q) {
		at := q*a.flags.K + i
		r := RecordReport{Query: q, Row: a.Ids[at]}
		switch record := a.sealed.fetched[at]; {
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
func (a *Asking) writeRecords(ctx context.Context) error {
	path := a.flags.Sealed.recordsOut
	if path == "" {
		return nil
	}
	return formats.WriteFile(ctx, path, func(w io.Writer) error {
		to := json.NewEncoder(w)
		for q := range a.X.Rows {
			for _, r := range a.recordsOf(q) {
				if err := to.Encode(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// showRecords prints what was fetched, where no file gets it.
func (a *Asking) showRecords(e *cli.Env) error {
	if !a.flags.Sealed.Fetch || a.flags.Sealed.recordsOut != "" {
		return nil
	}
	for q := range a.X.Rows {
		for _, r := range a.recordsOf(q) {
			if e.JSON {
				if err := e.Object(r); err != nil {
					return err
				}
				continue
			}
			s := "(none)"
			switch {
			case r.Record != nil:
				s = text.Harmless(*r.Record)
			case r.Bytes != nil:
				s = fmt.Sprintf("%q", r.Bytes)
			}
			fmt.Fprintf(e.Stdout, "query %d, row %d: %s\n", q, r.Row, s)
		}
	}
	return nil
}

// shortcomings returns what was kept back until everything was sent. It is told and is no error:
// a server can bring it about for some rows only, and whoever runs the command again after an
// error would tell the server which.
func (a *Asking) shortcomings() (all []string) {
	if n := a.missing(); n > 0 {
		all = append(all, fmt.Sprintf("%d of the fetched records are not there: the server has none for these rows, or sends what is no record", n))
	}
	return all
}

// missing returns how many records of matches the server does not have, or are none.
func (a *Asking) missing() (n int) {
	for at, record := range a.sealed.fetched {
		if record == nil && a.Ids[at] != -1 {
			n++
		}
	}
	return n
}
