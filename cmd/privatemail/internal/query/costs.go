package query

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
)

// affordable refuses a run that would come to an end in the middle: answers that there is no
// memory for, names whose rows have changed, a unit that the ledger
// does not know, or one that cannot pay for all its records.
func (s *Session) affordable(c *client.Cells) error {
	if need := s.book.AnswerBytes(s.encoding); need > s.server.Room() {
		return fmt.Errorf("%w: no room for an answer of %d bytes with what was taken from the server; %s", remote.ErrTooLong, need, s.untouched())
	}
	standings, err := s.foresee(c)
	if err != nil || s.flags.Ledger == accounts.NoLedger {
		return err
	}
	costs, err := s.costs(c, standings)
	if err != nil {
		return err
	}
	if short := costs.fresh - costs.fits; short > 0 {
		return fmt.Errorf("%s: %w: %d of %d records would spend epsilon %g each, and that fits for %d of them; %s; choose fewer rows, a smaller -epsilon, or 'query all', which spends nothing",
			s.flags.Ledger, mechanism.ErrBudgetExceeded, costs.fresh, len(s.records), s.flags.Epsilon, costs.fits, s.untouched())
	}
	maps.Copy(s.newUnits, costs.newUnits)
	return nil
}

// foresee returns what becomes of each row when all are asked for in their order.
func (s *Session) foresee(c *client.Cells) ([]client.Standing, error) {
	standings := make([]client.Standing, len(s.records))
	released := make(map[client.RecordID]bool) // by then
	begun := make(map[string]bool)             // names that were released by then
	var changed error
	refused, first := 0, 0
	for i, record := range s.records {
		standing, err := c.Foresee(record)
		switch {
		case errors.Is(err, client.ErrChanged):
			if refused++; refused == 1 {
				changed, first = err, i
			}
			continue
		case errors.Is(err, client.ErrEarlierNames):
			return nil, s.earlierMemory(err)
		case err != nil:
			return nil, err
		}
		if released[record] {
			standing = client.Remembered
		} else if s.names != nil && standing == client.Fresh && begun[s.names[i]] {
			standing = client.Again
			if s.flags.changed == changedResend {
				standing = client.Resent
			}
		}
		standings[i] = standing
		released[record] = released[record] || standing != client.Resent
		if s.names != nil {
			begun[s.names[i]] = true
		}
	}
	if refused > 0 {
		return nil, fmt.Errorf("%s: line %d%s: %w; -changed resend sends what was sent last for such a name and spends nothing, -changed spend draws another set and spends epsilon %g more; %s",
			s.flags.names, first+1, others(refused-1), text.Bare(changed), s.flags.Epsilon, s.untouched())
	}
	return standings, nil
}

// others says that there are more lines.
func others(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// earlierMemory says what can be done about a memory that goes by names.
func (s *Session) earlierMemory(err error) error {
	return fmt.Errorf("%s: %w. To send these sets again, at no cost, give the names to -names FILE, with -changed resend; without -names a row had the name of its file and its number, such as %s. In a new folder for -sent each record spends epsilon %g again; %s",
		s.flags.Memory, text.Bare(err), s.earlierName(0), s.flags.Epsilon, s.untouched())
}

// earlierName is what a record was called before it was its content.
func (s *Session) earlierName(row int) string {
	return fmt.Sprintf("%s:%d", filepath.Base(s.in.Features), row)
}

// earlierSpends refuses rows by content that the ledger may know by the names that they had before
// a record was its content: what was spent under these is not counted for the content.
func (s *Session) earlierSpends(ledger *mechanism.Snapshot) error {
	if s.names != nil || s.flags.client != "" {
		return nil
	}
	known, first := 0, 0
	for i := range s.records {
		if _, err := ledger.Balance(mechanism.Unit{Kind: release.UnitRecord, Name: s.earlierName(i)}); err == nil {
			if known++; known == 1 {
				first = i
			}
		}
	}
	if known == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d records have spent from it under names such as %s, from before a record was its content, and rows of this file may be these records: what they have spent would not be counted. Go on under these names with -names FILE, or pay from a new ledger, whose budget is what these rows may spend yet; %s",
		s.flags.Ledger, known, s.earlierName(first), s.untouched())
}

// otherOrder refuses rows that are new to the ledger in the order of columns that the map of the
// server has, where it knows them in the order of their file: a server that changes its map must not
// make another record of a row, with its own budget.
func (s *Session) otherOrder(c *client.Cells, ledger *mechanism.Snapshot, fresh map[mechanism.Unit]bool) error {
	if s.names != nil || s.flags.client != "" {
		return nil
	}
	spent := 0
	for i, record := range s.asFiled {
		if _, err := ledger.Balance(c.Unit(record)); err == nil && fresh[c.Unit(s.records[i])] {
			spent++
		}
	}
	if spent == 0 {
		return nil
	}
	return fmt.Errorf("%s: %d records have spent from it with their columns in the order of %s, and the map of the server has another: what they have spent would not be counted. Leave out the names of columns to keep that order; where these are other records, write the columns in the order of the map; %s",
		s.flags.Ledger, spent, s.in.Features, s.untouched())
}

// costs are what a run would spend.
type costs struct {
	fresh int // records that would spend
	fits  int // of them, those whose spend fits the ledger
	// newUnits are those that the ledger does not know.
	newUnits map[mechanism.Unit]bool
	// So is the epsilon of the unit that has spent most, of those that would spend, and
	// after the run, as far as spends fit.
	before, after float64
	total         mechanism.Total
	// protects has what spends of these units protect, those before and those of the run.
	protects []mechanism.Protection
}

// costs returns what a run would spend.
func (s *Session) costs(c *client.Cells, standings []client.Standing) (out costs, err error) {
	ledger, err := accounts.ReadLedger(s.flags.Ledger, s.flags.at)
	if err != nil {
		return out, err
	}
	out.total, out.protects, out.newUnits = ledger.Total, []mechanism.Protection{mechanism.AnyData()}, make(map[mechanism.Unit]bool)
	spend := mechanism.Spend{PureEpsilon: s.flags.Epsilon, Protects: mechanism.AnyData()}
	spent := map[mechanism.Unit]mechanism.Spent{}
	for i, record := range s.records {
		if standings[i] == client.Remembered || standings[i] == client.Resent {
			continue
		}
		out.fresh++
		unit := c.Unit(record)
		pots, seen := spent[unit]
		if !seen {
			balance, err := ledger.Balance(unit)
			if errors.Is(err, mechanism.ErrUnknownUnit) && !unit.New {
				return out, s.unknownRecord(ledger, unit, i)
			}
			if errors.Is(err, mechanism.ErrUnknownUnit) {
				out.newUnits[unit] = true
			} else if err != nil {
				return out, err
			} else {
				out.protects = append(out.protects, balance.Kinds()...)
			}
			pots = mechanism.Spent{Pots: balance.Spent, Protects: balance.Protects}
			out.before = max(out.before, balance.Epsilon)
		}
		switch after, err := ledger.Total.Charge(unit, pots, spend); {
		case err == nil:
			out.fits++
			pots = after
		case errors.Is(err, mechanism.ErrOtherRelation):
			return out, fmt.Errorf("%s: %w; %s", s.flags.Ledger, text.Bare(err), files.SayOtherRelation)
		case !errors.Is(err, mechanism.ErrBudgetExceeded):
			return out, err
		}
		spent[unit] = pots
	}
	for _, pots := range spent {
		out.after = max(out.after, ledger.EpsilonOf(pots.Pots))
	}
	if out.fresh == 0 {
		return out, nil
	}
	if err := s.otherOrder(c, ledger, out.newUnits); err != nil {
		return out, err
	}
	return out, s.earlierSpends(ledger)
}

// unknownRecord refuses a record that the ledger does not know.
func (s *Session) unknownRecord(ledger *mechanism.Snapshot, unit mechanism.Unit, row int) error {
	if s.names == nil && s.flags.client == "" {
		return fmt.Errorf("%s: unknown unit: row %d has not spent from it (a row that differs in one value from one that has is another record, with its own budget); add -new-units if it is a new one; %s", s.flags.Ledger, row+1, s.untouched())
	}
	return accounts.UnknownUnit(ledger, s.flags.Ledger, unit, "; add -new-units if it is a new one")
}
