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
func (s *Session) cells(ctx context.Context) error {
	s.IDs, s.distances, s.came, s.paid, s.remembered, s.resent, s.changed = nil, nil, nil, 0, 0, 0, 0
	if err := s.findCodebook(ctx); err != nil {
		return err
	}
	if err := s.checkPin(); err != nil {
		return err
	}
	if err := s.reserve(s.results(s.book.Dimension), s.book.AnswerBytes(s.encoding), "an answer"); err != nil {
		return err
	}
	m, err := s.findMap(ctx)
	if err != nil {
		return err
	}
	if err := s.classes.fetch(func() (*wire.Labels, error) { return s.server.Labels(ctx, s.hash) }); err != nil {
		return err
	}
	sample, err := s.server.Base(ctx, s.hash, s.encoding)
	if err != nil {
		return err
	}
	if err := s.reorder(m); err != nil {
		return err
	}
	payer, memory, done, err := s.open()
	if err != nil {
		return err
	}
	defer done()
	c, err := s.client(payer, memory)
	if err != nil {
		return err
	}
	base, err := c.NewBase(sample)
	if err != nil {
		return err
	}
	if err := s.affordable(c); err != nil {
		return err
	}
	z, err := s.place(m)
	if err != nil {
		return err
	}
	for i, record := range s.records {
		if err := s.ask(ctx, c, record, files.Wide(z, i), base, sample.IDs); err != nil {
			return err
		}
		s.Meter.Report(privatemail.Progress{Stage: "queries", Done: i + 1, Total: z.Rows})
	}
	return nil
}

// ask asks for one record and ranks what comes back.
func (s *Session) ask(ctx context.Context, c *client.Cells, record client.RecordID, row []float64, base *client.Base, sample []uint32) error {
	standing, err := c.Foresee(record)
	if err != nil {
		return err
	}
	request, err := c.AskContext(ctx, record, row)
	if errors.Is(err, client.ErrNewCodebook) { // another run has just begun to use the memory
		return s.newCodebook()
	}
	if err != nil {
		return err
	}
	switch standing {
	case client.Remembered:
		s.remembered++
	case client.Resent:
		s.resent++
	case client.Again:
		s.changed++
		fallthrough
	default:
		s.paid++
	}
	answer, err := s.server.Cells(ctx, request, s.encoding)
	if err != nil {
		return err
	}
	matches, err := c.Rank(row, s.flags.K, request, answer, base)
	if err != nil {
		return err
	}
	came := count(answer, sample)
	came.resent = standing == client.Resent
	s.keep(matches, came)
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
func (s *Session) open() (payer mechanism.Budget, memory client.Memory, done func(), err error) {
	payer, memory, done = mechanism.NoLedger, client.NewMemory(), func() {}
	if s.flags.Memory != NoMemory {
		if memory, err = client.OpenFolder(s.flags.Memory); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", s.flags.Memory, text.Bare(err))
		}
	}
	if s.flags.Ledger == accounts.NoLedger {
		return payer, memory, done, nil
	}
	ledger, err := accounts.OpenLedger(s.flags.Ledger, s.flags.at)
	if err != nil {
		return nil, nil, nil, err
	}
	return ledger, memory, func() { ledger.Close() }, nil // what was spent is on the disk
}

// client returns the client of the codebook.
func (s *Session) client(payer mechanism.Budget, memory client.Memory) (*client.Cells, error) {
	return client.NewCells(s.book, client.CellsSettings{
		Codebook: s.flags.codebook, UnconfirmedCodebook: s.flags.Unconfirmed, NewCodebook: s.flags.acceptNew, Epsilon: s.flags.Epsilon,
		Ledger: payer, Client: s.flags.client, NewUnits: s.flags.newUnits, OtherRelation: s.flags.otherRelation, Memory: memory,
		Changed: s.flags.changing(),
	})
}
