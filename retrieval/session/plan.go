package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Plan is what a run would send, take and spend.
type Plan struct {
	About    *remote.Description // what the server says of itself; nil where it was not asked
	Sent     []string            // requests of the plan itself
	Hash     wire.Hash           // of the codebook, or the epoch in mode Sealed
	Codebook *wire.Codebook      // nil in mode Sealed
	Manifest *wire.SealedManifest

	Once                      []Once
	RequestBytes, AnswerBytes int64 // for each row
	Up, Down                  int64 // in all, as far as lengths are known

	// Of mode Cells.
	Terms      client.Terms
	New        int   // records that would spend
	Remembered int   // rows that would not
	Resent     int   // rows of names whose rows have changed
	Changed    int   // of the new records, those of such names
	Equal      int   // rows that are equal to one before
	Cost       *Cost // nil without a ledger

	// Of mode Sealed with Fetch, for each row.
	Fetches            int
	FetchUp, FetchDown int64

	hasMap bool // or may have one: the server was not asked
}

// Once is something that is taken once.
type Once struct {
	What   string
	Bytes  int64 // -1 where it is not known
	Cached bool
}

// Plan returns what Answer would do. It sends nothing about a row: where the cache lacks it, it takes
// the description of the gallery and the codebook or the manifest.
func (s *Session) Plan(ctx context.Context, rows Rows) (*Plan, error) {
	if s.used {
		return nil, errUsed
	}
	if err := s.take(rows); err != nil {
		return nil, err
	}
	if s.settings.Mode == Sealed {
		return s.planSealed(ctx)
	}
	p := new(Plan)
	if s.settings.Remote.Codebook == (wire.Hash{}) || !s.server.CachedCodebook(s.settings.Remote.Codebook) {
		if err := s.describe(ctx, p, "GET /v1/codebook"); err != nil {
			return nil, err
		}
	}
	if err := s.findCodebook(ctx); err != nil {
		return nil, err
	}
	p.Hash, p.Codebook = s.hash, s.book
	chart, base, gallery := s.server.Cached(s.hash, s.settings.Encoding)
	p.once("map", chart, mapBytes(p.About))
	p.hasMap = p.About == nil || p.About.MapBytes > 0
	s.planLabels(p)
	if s.settings.Mode == All {
		p.once("whole gallery", gallery, s.book.AllRowsBytes())
		return p, nil
	}
	p.once("base sample", base, baseBytes(p.About, s.settings.Encoding))
	return p, s.planCells(ctx, p, chart)
}

// describe asks the server for what it says of itself. The plan takes something else of it next.
func (s *Session) describe(ctx context.Context, p *Plan, next string) (err error) {
	p.About, err = s.server.Describe(ctx)
	p.Sent = append(p.Sent, "GET /v1/gallery", next)
	return err
}

// planLabels adds the labels of the gallery, which each run takes.
func (s *Session) planLabels(p *Plan) {
	switch {
	case s.settings.Labels == nil:
	case p.About == nil:
		p.once("labels", -1, -1)
	default:
		p.once("labels", -1, p.About.LabelBytes)
	}
}

// mapBytes and baseBytes are what a server says, -1 where it was not asked.
func mapBytes(about *remote.Description) int64 {
	if about == nil {
		return -1
	}
	return about.MapBytes
}

func baseBytes(about *remote.Description, encoding wire.Encoding) int64 {
	if about == nil {
		return -1
	}
	bytes, ok := about.BaseBytes[encoding]
	if !ok {
		return -1
	}
	return bytes
}

// once adds something that is taken once: from the cache, if that has it.
func (p *Plan) once(what string, cached, bytes int64) {
	if cached >= 0 {
		p.Once = append(p.Once, Once{what, cached, true})
		return
	}
	p.Once = append(p.Once, Once{what, bytes, false})
	p.Down += max(bytes, 0)
}

// planCells adds what mode cells would send and spend.
func (s *Session) planCells(ctx context.Context, p *Plan, chart int64) error {
	if err := s.checkPin(); err != nil {
		return err
	}
	switch {
	case chart >= 0: // the map is in the cache, and nothing is sent
		m, err := s.findMap(ctx)
		if err != nil {
			return err
		}
		if err := s.reorder(m); err != nil {
			return err
		}
	case s.columns != nil && p.hasMap:
		s.warn(fmt.Errorf("%s: the map of the server is not in the cache; if it has the columns in another order, more of the rows may be remembered", s.rows.File))
	}
	c, err := s.lookingClient()
	if err != nil {
		return err
	}
	if p.Terms, err = c.Terms(); err != nil {
		return err
	}
	// Any cells will do: requests of one codebook have one length.
	request := wire.CellsRequest{Codebook: s.hash}
	for cell := range s.book.Size {
		request.Cells = append(request.Cells, uint32(cell))
	}
	data, err := request.MarshalBinary()
	if err != nil {
		return err
	}
	p.RequestBytes, p.AnswerBytes = int64(len(data)), s.book.AnswerBytes(s.settings.Encoding)
	p.Up = int64(s.x.Rows) * p.RequestBytes
	p.Down += int64(s.x.Rows) * p.AnswerBytes
	standings, err := s.foresee(c)
	if err != nil {
		return err
	}
	for _, standing := range standings {
		switch standing {
		case client.Remembered:
			p.Remembered++
		case client.Resent:
			p.Resent++
		case client.Again:
			p.Changed++
			fallthrough
		default:
			p.New++
		}
	}
	p.Equal = s.result.Equal
	if s.settings.ReadLedger == nil {
		return nil
	}
	cost, err := s.costs(c, standings)
	p.Cost = &cost
	return err
}

// warn reports what does not work and is not needed.
func (s *Session) warn(err error) {
	if s.settings.Remote.Warn != nil {
		s.settings.Remote.Warn(err)
	}
}

// lookingClient returns a client that can foresee what a run would do, and does nothing. A
// memory that is not there is not made.
func (s *Session) lookingClient() (*client.Cells, error) {
	var memory client.Memory = client.NewMemory()
	if s.settings.Sent != "" {
		switch _, err := os.Stat(s.settings.Sent); {
		case err == nil:
			if memory, err = s.openSent(); err != nil {
				return nil, err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if s.settings.ReadLedger == nil {
		return s.client(mechanism.NoLedger, memory)
	}
	ledger, err := s.settings.ReadLedger()
	if err != nil {
		return nil, err
	}
	return s.client(onlyRead{ledger}, memory)
}

// onlyRead is a budget that pays for nothing. It is that of the ledger which was read.
type onlyRead struct{ *mechanism.Snapshot }

var errOnlyRead = fmt.Errorf("%w: it was only read", mechanism.ErrLedger)

// Reserve implements mechanism.Budget: it refuses.
func (onlyRead) Reserve(mechanism.Unit, [16]byte, mechanism.Spend) (mechanism.Receipt, error) {
	return mechanism.Receipt{}, errOnlyRead
}

// Commit implements mechanism.Budget: it refuses.
func (onlyRead) Commit(mechanism.Receipt, [sha256.Size]byte) error { return errOnlyRead }

// Paid implements mechanism.Budget.
func (s onlyRead) Paid(id [16]byte) (bool, error) {
	for _, entry := range s.Entries {
		if entry.ReleaseID == id {
			return true, nil
		}
	}
	return false, nil
}

// LedgerID implements mechanism.Budget.
func (s onlyRead) LedgerID(mechanism.Unit) ([16]byte, error) { return s.Snapshot.LedgerID, nil }
