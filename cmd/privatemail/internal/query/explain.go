package query

import (
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/session"
)

// explain adds what a user can do about an error of a run.
func (r *run) explain(err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*session.Refusal](err); ok {
		return r.explainRefusal(refusal)
	}
	if _, ok := errors.AsType[*points.NonFiniteError](err); ok {
		return files.Explain(err, r.in)
	}
	switch {
	case errors.Is(err, remote.ErrStale) && r.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -codebook once a second path confirms it", r.address, text.Bare(err))
	case errors.Is(err, remote.ErrStale):
		return fmt.Errorf("%s: %w; -accept-new-codebook goes on all the same", r.address, text.Bare(err))
	case errors.Is(err, remote.ErrEpoch) && r.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -epoch once a second path confirms it", r.address, text.Bare(err))
	case errors.Is(err, remote.ErrEpoch):
		return fmt.Errorf("%s: %w; it was replaced again and again: try once more", r.address, text.Bare(err))
	case errors.Is(err, remote.ErrCertificate):
		return fmt.Errorf("%s: %w; -ca FILE names the authority that has signed it, if you trust that one; nothing was sent over this connection", r.address, text.Bare(err))
	case errors.Is(err, remote.ErrTooLong):
		return fmt.Errorf("%s: %w; -max-memory allows more", r.address, text.Bare(err))
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, remote.ErrResponse), errors.Is(err, remote.ErrRefused):
		if s := r.result; s != nil && s.Spent+s.Remembered+s.Resent > 0 {
			next := "sends for all of them what is remembered"
			if r.flags.sent == noMemory {
				next = "draws and pays again for all of them, without a memory"
			}
			return fmt.Errorf("%s: %w; %d of %d queries were answered, and the next run %s", r.address, text.Bare(err), len(s.Queries), r.rows.X.Rows, next)
		}
		return fmt.Errorf("%s: %w", r.address, text.Bare(err))
	}
	return err
}

// explainRefusal says what a user can do about a run that would come to an end in the middle.
func (r *run) explainRefusal(why *session.Refusal) error {
	f, untouched, err := r.flags, why.Untouched(), text.Bare(why.Err)
	switch {
	case errors.Is(why, session.ErrRowsOfName):
		return fmt.Errorf("%s: lines %d and %d have the same name, and their rows differ: -changed spend pays for each row of a name, -changed resend sends for all of them what is drawn for the first", f.names, why.Other+1, why.Row+1)
	case errors.Is(why, client.ErrNewCodebook):
		return fmt.Errorf("%s has a codebook that is new to the memory %s, %x: under it each record would spend its epsilon again; -accept-new-codebook goes on all the same, and so does -codebook with this hash from a second path; for another gallery, -sent can name another folder", r.address, f.sent, why.Codebook)
	case errors.Is(why, remote.ErrTooLong):
		return fmt.Errorf("%s: %w; %s; -max-memory allows more", r.address, err, untouched)
	case errors.Is(why, client.ErrChanged):
		return fmt.Errorf("%s: line %d%s: %w; -changed resend sends what was sent last for such a name and spends nothing, -changed spend draws another set and spends epsilon %g more; %s",
			f.names, why.Row+1, others(why.Rows-1), err, f.epsilon, untouched)
	case errors.Is(why, client.ErrEarlierNames):
		return fmt.Errorf("%s: %w. To send these sets again, at no cost, give the names to -names FILE, with -changed resend; without -names a row had the name of its file and its number, such as %s. In a new folder for -sent each record spends epsilon %g again; %s",
			f.sent, err, why.Name, f.epsilon, untouched)
	case errors.Is(why, mechanism.ErrBudgetExceeded):
		return fmt.Errorf("%s: %w; %s; choose fewer rows, a smaller -epsilon, or 'query all', which spends nothing", f.ledger, err, untouched)
	case errors.Is(why, mechanism.ErrOtherRelation):
		return fmt.Errorf("%s: %w; %s", f.ledger, err, files.SayOtherRelation)
	case errors.Is(why, mechanism.ErrUnknownUnit):
		return r.unknownRecord(why)
	case errors.Is(why, session.ErrEarlierSpends):
		return fmt.Errorf("%s: %d records have spent from it under names such as %s, from before a record was its content, and rows of this file may be these records: what they have spent would not be counted. Go on under these names with -names FILE, or pay from a new ledger, whose budget is what these rows may spend yet; %s",
			f.ledger, why.Rows, why.Name, untouched)
	case errors.Is(why, session.ErrOtherOrder):
		return fmt.Errorf("%s: %d records have spent from it with their columns in the order of %s, and the map of the server has another: what they have spent would not be counted. Leave out the names of columns to keep that order; where these are other records, write the columns in the order of the map; %s",
			f.ledger, why.Rows, r.in.Features, untouched)
	}
	return fmt.Errorf("%s: %w; %s", r.address, err, untouched)
}

// others says that there are more lines.
func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// unknownRecord refuses a record that the ledger does not know.
func (r *run) unknownRecord(why *session.Refusal) error {
	f := r.flags
	if r.rows.Names == nil && f.client == "" {
		return fmt.Errorf("%s: unknown unit: row %d has not spent from it (a row that differs in one value from one that has is another record, with its own budget); add -new-units if it is a new one; %s", f.ledger, why.Row+1, why.Untouched())
	}
	ledger, err := accounts.ReadLedger(f.ledger, f.at)
	if err != nil {
		return err
	}
	return accounts.UnknownUnit(ledger, f.ledger, why.Unit, "; add -new-units if it is a new one")
}
