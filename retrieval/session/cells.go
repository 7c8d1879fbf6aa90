package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// cells asks for all rows in mode cells, under the codebook that the server has.
func (s *Session) cells(ctx context.Context) error {
	s.result.begin()
	if err := s.findCodebook(ctx); err != nil {
		return err
	}
	if err := s.checkPin(); err != nil {
		return err
	}
	if err := s.reserve(s.results(s.book.Dimension), s.book.AnswerBytes(s.settings.Encoding), "an answer"); err != nil {
		return err
	}
	m, err := s.findMap(ctx)
	if err != nil {
		return err
	}
	if err := s.labels(func() (*wire.Labels, error) { return s.server.Labels(ctx, s.hash) }); err != nil {
		return err
	}
	sample, err := s.server.Base(ctx, s.hash, s.settings.Encoding)
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
		if err := s.askCells(ctx, c, record, wide(z, i), base, sample.IDs); err != nil {
			return err
		}
		s.progress("queries", i+1, z.Rows)
	}
	return nil
}

// askCells asks for one record and ranks what comes back.
func (s *Session) askCells(ctx context.Context, c *client.Cells, record client.RecordID, row []float64, base *client.Base, sample []uint32) error {
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
		s.result.Remembered++
	case client.Resent:
		s.result.Resent++
	case client.Again:
		s.result.Changed++
		fallthrough
	default:
		s.result.Spent++
	}
	answer, err := s.server.Cells(ctx, request, s.settings.Encoding)
	if err != nil {
		return err
	}
	matches, err := c.Rank(row, s.settings.K, request, answer, base)
	if err != nil {
		return err
	}
	came := count(answer, sample)
	came.Resent = standing == client.Resent
	s.result.keep(matches, came)
	return nil
}

// count returns how many rows an answer and a base sample have.
func count(answer *wire.CellsAnswer, sample []uint32) Query {
	var lists []uint32
	for i := range answer.Cells {
		lists = append(lists, answer.List(i)...)
	}
	all := slices.Concat(lists, sample)
	slices.Sort(all)
	return Query{Lists: len(lists), Base: len(sample), Ranked: len(slices.Compact(all))}
}

// open opens the ledger and the memory; done closes them.
func (s *Session) open() (payer mechanism.Budget, memory client.Memory, done func(), err error) {
	payer, memory, done = mechanism.NoLedger, client.NewMemory(), func() {}
	if s.settings.Sent != "" {
		if memory, err = s.openSent(); err != nil {
			return nil, nil, nil, err
		}
	}
	if s.settings.OpenLedger == nil {
		return payer, memory, done, nil
	}
	ledger, err := s.settings.OpenLedger()
	if err != nil {
		return nil, nil, nil, err
	}
	return ledger, memory, func() { ledger.Close() }, nil // what was spent is on the disk
}

// openSent opens the folder with what was sent.
func (s *Session) openSent() (*client.Folder, error) {
	memory, err := client.OpenFolder(s.settings.Sent)
	if err != nil {
		return nil, fmt.Errorf("session: %s: %w", s.settings.Sent, err)
	}
	return memory, nil
}

// client returns the client of the codebook.
func (s *Session) client(payer mechanism.Budget, memory client.Memory) (*client.Cells, error) {
	f := &s.settings
	return client.NewCells(s.book, client.CellsSettings{
		Codebook: f.Remote.Codebook, UnconfirmedCodebook: f.Unconfirmed, NewCodebook: f.NewCodebook, Epsilon: f.Epsilon,
		Ledger: payer, Client: f.Client, NewUnits: f.NewUnits, OtherRelation: f.OtherRelation, Memory: memory,
		Changed: f.Changed,
	})
}
