package session

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
)

// affordable refuses a run that would come to an end in the middle: answers that there is no
// memory for, names whose rows have changed, a unit that the ledger
// does not know, or one that cannot pay for all its records.
func (s *Session) affordable(c *client.Cells) error {
	if need := s.book.AnswerBytes(s.settings.Encoding); need > s.server.Room() {
		return s.refuse(Refusal{Err: fmt.Errorf("%w: no room for an answer of %d bytes with what was taken from the server", remote.ErrTooLong, need)})
	}
	standings, err := s.foresee(c)
	if err != nil || s.settings.ReadLedger == nil {
		return err
	}
	costs, err := s.costs(c, standings)
	if err != nil {
		return err
	}
	if short := costs.fresh - costs.Fits; short > 0 {
		return s.refuse(Refusal{Err: fmt.Errorf("%w: %d of %d records would spend epsilon %g each, and that fits for %d of them", mechanism.ErrBudgetExceeded, costs.fresh, len(s.records), s.settings.Epsilon, costs.Fits)})
	}
	maps.Copy(s.newUnits, costs.newUnits)
	s.result.NewUnits = len(s.newUnits)
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
			return nil, s.refuse(Refusal{Err: err, Name: s.earlierName(0)})
		case err != nil:
			return nil, err
		}
		if released[record] {
			standing = client.Remembered
		} else if s.rows.Names != nil && standing == client.Fresh && begun[s.rows.Names[i]] {
			standing = client.Again
			if s.settings.Changed == client.ResendChanged {
				standing = client.Resent
			}
		}
		standings[i] = standing
		released[record] = released[record] || standing != client.Resent
		if s.rows.Names != nil {
			begun[s.rows.Names[i]] = true
		}
	}
	if refused > 0 {
		return nil, s.refuse(Refusal{Err: changed, Row: first, Rows: refused})
	}
	return standings, nil
}

// earlierName is what a record was called before it was its content.
func (s *Session) earlierName(row int) string {
	return fmt.Sprintf("%s:%d", filepath.Base(s.rows.File), row)
}

// earlierSpends refuses rows by content that the ledger may know by the names that they had before
// a record was its content: what was spent under these is not counted for the content.
func (s *Session) earlierSpends(ledger *mechanism.Snapshot) error {
	if s.rows.Names != nil || s.settings.Client != "" {
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
	return s.refuse(Refusal{Err: ErrEarlierSpends, Row: first, Rows: known, Name: s.earlierName(first)})
}

// otherOrder refuses rows that are new to the ledger in the order of columns that the map of the
// server has, where it knows them in the order of their file: a server that changes its map must not
// make another record of a row, with its own budget.
func (s *Session) otherOrder(c *client.Cells, ledger *mechanism.Snapshot, fresh map[mechanism.Unit]bool) error {
	if s.rows.Names != nil || s.settings.Client != "" {
		return nil
	}
	spent, first := 0, 0
	for i, record := range s.asFiled {
		if _, err := ledger.Balance(c.Unit(record)); err == nil && fresh[c.Unit(s.records[i])] {
			if spent++; spent == 1 {
				first = i
			}
		}
	}
	if spent == 0 {
		return nil
	}
	return s.refuse(Refusal{Err: ErrOtherOrder, Row: first, Rows: spent})
}

// A Cost is what a run would spend from a ledger.
type Cost struct {
	Fits     int // of the records that would spend, those whose spend fits the ledger
	NewUnits int // that the ledger does not know
	// So is the epsilon of the unit that has spent most, of those that would spend, and
	// after the run, as far as spends fit.
	Before, After float64
	Budget        float64 // the epsilon that each unit may spend
	// Protects is what all spends of these units protect, those before and those of the run.
	Protects string

	fresh    int // records that would spend
	newUnits map[mechanism.Unit]bool
}

// costs returns what a run would spend.
func (s *Session) costs(c *client.Cells, standings []client.Standing) (out Cost, err error) {
	ledger, err := s.settings.ReadLedger()
	if err != nil {
		return out, err
	}
	out.Budget, out.newUnits = ledger.Total.Epsilon, make(map[mechanism.Unit]bool)
	protects := []mechanism.Protection{mechanism.AnyData()}
	spend := mechanism.Spend{PureEpsilon: s.settings.Epsilon, Protects: mechanism.AnyData()}
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
				return out, s.refuse(Refusal{Err: fmt.Errorf("row %d: %w", i+1, err), Row: i, Unit: unit})
			}
			if errors.Is(err, mechanism.ErrUnknownUnit) {
				out.newUnits[unit] = true
			} else if err != nil {
				return out, err
			} else {
				protects = append(protects, balance.Kinds()...)
			}
			pots = mechanism.Spent{Pots: balance.Spent, Protects: balance.Protects}
			out.Before = max(out.Before, balance.Epsilon)
		}
		switch after, err := ledger.Total.Charge(unit, pots, spend); {
		case err == nil:
			out.Fits++
			pots = after
		case errors.Is(err, mechanism.ErrOtherRelation):
			return out, s.refuse(Refusal{Err: err, Row: i, Unit: unit})
		case !errors.Is(err, mechanism.ErrBudgetExceeded):
			return out, err
		}
		spent[unit] = pots
	}
	for _, pots := range spent {
		out.After = max(out.After, ledger.EpsilonOf(pots.Pots))
	}
	out.NewUnits, out.Protects = len(out.newUnits), mechanism.AllProtect(protects...)
	if out.fresh == 0 {
		return out, nil
	}
	if err := s.otherOrder(c, ledger, out.newUnits); err != nil {
		return out, err
	}
	return out, s.earlierSpends(ledger)
}
