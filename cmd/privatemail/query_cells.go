package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// cells asks for all rows in mode cells, under the codebook that the server has.
func (a *asking) cells(ctx context.Context) error {
	a.ids, a.distances, a.came, a.paid, a.remembered = nil, nil, nil, 0, 0
	if err := a.findCodebook(ctx); err != nil {
		return err
	}
	if err := a.checkPin(); err != nil {
		return err
	}
	if err := a.reserve(a.results(a.book.Dimension), a.book.AnswerBytes(a.form), "an answer"); err != nil {
		return err
	}
	m, err := a.findMap(ctx)
	if err != nil {
		return err
	}
	if err := a.classes.fetch(func() (*wire.Labels, error) { return a.server.Labels(ctx, a.hash) }); err != nil {
		return err
	}
	sample, err := a.server.Base(ctx, a.hash, a.form)
	if err != nil {
		return err
	}
	payer, memory, done, err := a.open()
	if err != nil {
		return err
	}
	defer done()
	c, err := a.client(payer, memory)
	if err != nil {
		return err
	}
	base, err := c.NewBase(sample)
	if err != nil {
		return err
	}
	if err := a.affordable(c); err != nil {
		return err
	}
	z, err := a.place(m)
	if err != nil {
		return err
	}
	for i, name := range a.names {
		if err := a.ask(ctx, c, name, wide(z, i), base, sample.IDs); err != nil {
			return err
		}
		a.meter.report(privatemail.Progress{Stage: "queries", Done: i + 1, Total: z.Rows})
	}
	return nil
}

// ask asks for one record and ranks what comes back.
func (a *asking) ask(ctx context.Context, c *client.Cells, name string, row []float64, base *client.Base, sample []uint32) error {
	known, err := c.Remembered(name)
	if err != nil {
		return err
	}
	request, err := c.AskContext(ctx, name, row)
	if errors.Is(err, client.ErrNewCodebook) { // another run has just begun to use the memory
		return a.newCodebook()
	}
	if err != nil {
		return err
	}
	if known {
		a.remembered++
	} else {
		a.paid++
	}
	answer, err := a.server.Cells(ctx, request, a.form)
	if err != nil {
		return err
	}
	matches, err := c.Rank(row, a.flags.k, request, answer, base)
	if err != nil {
		return err
	}
	a.keep(matches, count(answer, sample))
	return nil
}

// count returns how many rows an answer and a base sample have.
func count(answer *wire.CellsAnswer, sample []uint32) back {
	var lists []uint32
	for i := range answer.Cells {
		lists = append(lists, answer.List(i)...)
	}
	all := slices.Concat(lists, sample)
	slices.Sort(all)
	return back{lists: len(lists), base: len(sample), all: len(slices.Compact(all))}
}

// noMemory is what -memory says to remember nothing beyond a run.
const noMemory = "none"

// open opens the ledger and the memory; done closes them.
func (a *asking) open() (payer mechanism.Budget, memory client.Memory, done func(), err error) {
	payer, memory, done = mechanism.NoLedger, client.NewMemory(), func() {}
	if a.flags.memory != noMemory {
		if memory, err = client.OpenFolder(a.flags.memory); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", a.flags.memory, bare(err))
		}
	}
	if a.flags.ledger == noLedger {
		return payer, memory, done, nil
	}
	ledger, err := openLedger(a.flags.ledger, a.flags.at)
	if err != nil {
		return nil, nil, nil, err
	}
	return ledger, memory, func() { ledger.Close() }, nil // what was spent is on the disk
}

// client returns the client of the codebook.
func (a *asking) client(payer mechanism.Budget, memory client.Memory) (*client.Cells, error) {
	return client.NewCells(a.book, client.CellsSettings{
		Codebook: a.flags.codebook, UnconfirmedCodebook: a.flags.unconfirmed, NewCodebook: a.flags.acceptNew, Epsilon: a.flags.epsilon,
		Ledger: payer, Client: a.flags.client, NewUnits: a.flags.newUnits, OtherRelation: a.flags.otherRelation, Memory: memory,
	})
}

// unit returns who pays for a record.
func (a *asking) unit(name string) mechanism.Unit {
	if a.flags.client != "" {
		return mechanism.Unit{Kind: release.UnitClient, Name: a.flags.client, New: a.flags.newUnits, OtherRelation: a.flags.otherRelation}
	}
	return mechanism.Unit{Kind: release.UnitRecord, Name: name, New: a.flags.newUnits, OtherRelation: a.flags.otherRelation}
}

// affordable refuses a run that would come to an end in the middle: answers that there is no
// memory for, a unit that the ledger
// does not know, or one that cannot pay for all its records.
func (a *asking) affordable(c *client.Cells) error {
	if need := a.book.AnswerBytes(a.form); need > a.server.Room() {
		return fmt.Errorf("%w: no room for an answer of %d bytes beside what was taken from the server; %s", remote.ErrTooLong, need, a.untouched())
	}
	if a.flags.ledger == noLedger {
		return nil
	}
	costs, err := a.costs(c)
	if err != nil {
		return err
	}
	if short := costs.fresh - costs.fits; short > 0 {
		return fmt.Errorf("%s: %w: %d of %d records would spend epsilon %g each, and that fits for %d of them; %s; choose fewer rows, a smaller -epsilon, or -mode take-all, which spends nothing",
			a.flags.ledger, mechanism.ErrBudgetExceeded, costs.fresh, len(a.names), a.flags.epsilon, costs.fits, a.untouched())
	}
	maps.Copy(a.newUnits, costs.newUnits)
	return nil
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
func (a *asking) costs(c *client.Cells) (out costs, err error) {
	ledger, err := readLedger(a.flags.ledger, a.flags.at)
	if err != nil {
		return out, err
	}
	out.total, out.protects, out.newUnits = ledger.Total, []mechanism.Protection{mechanism.AnyData()}, make(map[mechanism.Unit]bool)
	spend := mechanism.Spend{PureEpsilon: a.flags.epsilon, Protects: mechanism.AnyData()}
	spent := map[mechanism.Unit]mechanism.Spent{}
	for _, name := range a.names {
		known, err := c.Remembered(name)
		if err != nil {
			return out, err
		}
		if known {
			continue
		}
		out.fresh++
		unit := a.unit(name)
		pots, seen := spent[unit]
		if !seen {
			balance, err := ledger.Balance(unit)
			if errors.Is(err, mechanism.ErrUnknownUnit) && !unit.New {
				return out, unknownUnit(ledger, a.flags.ledger, unit, "; add -new-units if it is a new one")
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
			return out, fmt.Errorf("%s: %w; %s", a.flags.ledger, bare(err), sayOtherRelation)
		case !errors.Is(err, mechanism.ErrBudgetExceeded):
			return out, err
		}
		spent[unit] = pots
	}
	for _, pots := range spent {
		out.after = max(out.after, ledger.EpsilonOf(pots.Pots))
	}
	return out, nil
}
