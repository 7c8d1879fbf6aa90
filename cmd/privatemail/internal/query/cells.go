package query

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// cells asks for all rows in mode cells, under the codebook that the server has.
func (a *Asking) cells(ctx context.Context) error {
	a.Ids, a.distances, a.came, a.paid, a.remembered, a.resent, a.changed = nil, nil, nil, 0, 0, 0, 0
	if err := a.findCodebook(ctx); err != nil {
		return err
	}
	if err := a.checkPin(); err != nil {
		return err
	}
	if err := a.reserve(a.results(a.book.Dimension), a.book.AnswerBytes(a.encoding), "an answer"); err != nil {
		return err
	}
	m, err := a.findMap(ctx)
	if err != nil {
		return err
	}
	if err := a.classes.fetch(func() (*wire.Labels, error) { return a.server.Labels(ctx, a.hash) }); err != nil {
		return err
	}
	sample, err := a.server.Base(ctx, a.hash, a.encoding)
	if err != nil {
		return err
	}
	if err := a.reorder(m); err != nil {
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
	for i, record := range a.records {
		if err := a.ask(ctx, c, record, files.Wide(z, i), base, sample.IDs); err != nil {
			return err
		}
		a.Meter.Report(privatemail.Progress{Stage: "queries", Done: i + 1, Total: z.Rows})
	}
	return nil
}

// ask asks for one record and ranks what comes back.
func (a *Asking) ask(ctx context.Context, c *client.Cells, record client.RecordID, row []float64, base *client.Base, sample []uint32) error {
	standing, err := c.Foresee(record)
	if err != nil {
		return err
	}
	request, err := c.AskContext(ctx, record, row)
	if errors.Is(err, client.ErrNewCodebook) { // another run has just begun to use the memory
		return a.newCodebook()
	}
	if err != nil {
		return err
	}
	switch standing {
	case client.Remembered:
		a.remembered++
	case client.Resent:
		a.resent++
	case client.Again:
		a.changed++
		fallthrough
	default:
		a.paid++
	}
	answer, err := a.server.Cells(ctx, request, a.encoding)
	if err != nil {
		return err
	}
	matches, err := c.Rank(row, a.flags.K, request, answer, base)
	if err != nil {
		return err
	}
	came := count(answer, sample)
	came.resent = standing == client.Resent
	a.keep(matches, came)
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

// NoMemory is what -sent says to remember nothing beyond a run.
const NoMemory = "none"

// open opens the ledger and the memory; done closes them.
func (a *Asking) open() (payer mechanism.Budget, memory client.Memory, done func(), err error) {
	payer, memory, done = mechanism.NoLedger, client.NewMemory(), func() {}
	if a.flags.Memory != NoMemory {
		if memory, err = client.OpenFolder(a.flags.Memory); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", a.flags.Memory, text.Bare(err))
		}
	}
	if a.flags.Ledger == accounts.NoLedger {
		return payer, memory, done, nil
	}
	ledger, err := accounts.OpenLedger(a.flags.Ledger, a.flags.at)
	if err != nil {
		return nil, nil, nil, err
	}
	return ledger, memory, func() { ledger.Close() }, nil // what was spent is on the disk
}

// client returns the client of the codebook.
func (a *Asking) client(payer mechanism.Budget, memory client.Memory) (*client.Cells, error) {
	return client.NewCells(a.book, client.CellsSettings{
		Codebook: a.flags.codebook, UnconfirmedCodebook: a.flags.Unconfirmed, NewCodebook: a.flags.acceptNew, Epsilon: a.flags.Epsilon,
		Ledger: payer, Client: a.flags.client, NewUnits: a.flags.newUnits, OtherRelation: a.flags.otherRelation, Memory: memory,
		Changed: a.flags.changing(),
	})
}
