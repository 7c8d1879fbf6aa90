package query

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A RecordReport is one record that was fetched.
type RecordReport struct {
	Query  int     `json:"query"`
	Row    int32   `json:"row"`
	Record *string `json:"record,omitempty"` // nil where there is none, or where it is not UTF-8
	Bytes  []byte  `json:"bytes,omitempty"`  // a record that is not UTF-8, in base64
}

// recordsOf returns the records of a query, those of its matches in their order.
func (r *run) recordsOf(q int) (out []RecordReport) {
	s := r.result
	for i := range s.Found(q) {
		at := q*s.K + i
		one := RecordReport{Query: q, Row: s.IDs[at]}
		switch record := s.Records[at]; {
		case record == nil:
		case utf8.Valid(record):
			text := string(record)
			one.Record = &text
		default:
			one.Bytes = record
		}
		out = append(out, one)
	}
	return out
}

// writeRecords writes the file of -records-out, a JSON object a line.
func (r *run) writeRecords(ctx context.Context) error {
	path := r.flags.sealed.recordsOut
	if path == "" {
		return nil
	}
	return formats.WriteFile(ctx, path, func(w io.Writer) error {
		to := json.NewEncoder(w)
		for q := range r.rows.X.Rows {
			for _, one := range r.recordsOf(q) {
				if err := to.Encode(one); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// showRecords prints what was fetched, where no file gets it.
func (r *run) showRecords(e *cli.Env) error {
	if !r.flags.sealed.fetch || r.flags.sealed.recordsOut != "" {
		return nil
	}
	for q := range r.rows.X.Rows {
		for _, one := range r.recordsOf(q) {
			if e.JSON {
				if err := e.Object(one); err != nil {
					return err
				}
				continue
			}
			shown := "(none)"
			switch {
			case one.Record != nil:
				shown = text.Harmless(*one.Record)
			case one.Bytes != nil:
				shown = fmt.Sprintf("%q", one.Bytes)
			}
			fmt.Fprintf(e.Stdout, "query %d, row %d: %s\n", q, one.Row, shown)
		}
	}
	return nil
}

// noteMissing says that fetched records are not there. It is not an error: a server can cause it for
// some rows only, and a user who runs the command again after an error would show the server which.
func (r *run) noteMissing(e *cli.Env) {
	if n := r.result.Missing(); n > 0 {
		e.Note("%d of the fetched records are not there: the server has none for these rows, or sends malformed ones", n)
	}
}
