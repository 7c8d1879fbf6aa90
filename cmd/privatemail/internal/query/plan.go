package query

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// PlanReport is the object of query -dry-run -json.
type PlanReport struct {
	Server    string   `json:"server"`
	Gallery   string   `json:"gallery,omitempty"`
	Mode      string   `json:"mode"`
	Encoding  string   `json:"encoding,omitempty"`
	Rows      int      `json:"gallery_rows"`
	Codebook  string   `json:"codebook,omitempty"`
	Epoch     string   `json:"epoch,omitempty"` // of mode sealed
	Confirmed bool     `json:"confirmed"`
	Queries   int      `json:"queries"`
	Sent      []string `json:"sent"` // by the dry run itself

	// Of mode cells.
	Cells        int      `json:"cells,omitempty"`
	Size         int      `json:"size,omitempty"`
	Epsilon      float64  `json:"epsilon,omitempty"`
	Inclusion    float64  `json:"inclusion,omitempty"`
	RequestBytes int64    `json:"request_bytes,omitempty"`
	AnswerBytes  int64    `json:"answer_bytes,omitempty"`
	AllRowsBytes int64    `json:"all_rows_bytes,omitempty"` // what mode all would take, once
	New          int      `json:"new_records"`
	Remembered   int      `json:"remembered_records"`
	Resent       int      `json:"resent_records,omitempty"`  // of names whose rows have changed
	Changed      int      `json:"changed_records,omitempty"` // of the new ones, those of such names
	Equal        int      `json:"equal_rows,omitempty"`      // to one before
	NewNames     *int     `json:"names_new_to_the_ledger,omitempty"`
	Fits         *int     `json:"fits,omitempty"` // of the new records
	EpsilonSoFar *float64 `json:"epsilon_so_far,omitempty"`
	EpsilonAfter *float64 `json:"epsilon_after,omitempty"`
	Budget       *float64 `json:"budget_epsilon,omitempty"`
	Protects     string   `json:"protects,omitempty"` // what these epsilons are for

	// Of mode sealed; those of records are for each query.
	Privacy   string `json:"privacy,omitempty"`
	Probes    int    `json:"probes,omitempty"`
	Fetches   int    `json:"records,omitempty"`
	FetchUp   int64  `json:"record_bytes_up,omitempty"`
	FetchDown int64  `json:"record_bytes_down,omitempty"`

	hasMap bool   // or may have one: the server was not asked
	client string // of the flags
	byName bool   // and not by content

	Once []onceReport `json:"once"`
	Up   int64        `json:"bytes_up"`
	Down int64        `json:"bytes_down"` // as far as lengths are known
}

// onceReport is something that is taken once.
type onceReport struct {
	What   string `json:"what"`
	Bytes  *int64 `json:"bytes,omitempty"` // nil where it is not known
	Cached bool   `json:"cached"`
}

// plan shows what a run would do.
func (s *Session) plan(ctx context.Context, e *cli.Env) error {
	r, err := s.makePlan(ctx)
	for _, warning := range s.warnings {
		e.Note("%v", text.Bare(warning))
	}
	if err != nil {
		return s.explain(err)
	}
	if e.JSON {
		return e.Object(r)
	}
	return r.write(e)
}

func (s *Session) makePlan(ctx context.Context) (*PlanReport, error) {
	if s.flags.Mode == ModeSealed {
		return s.planSealed(ctx)
	}
	r := &PlanReport{Server: s.address, Mode: s.flags.Mode, Encoding: s.encoding.String(), Queries: s.X.Rows, Confirmed: s.flags.confirmed(), Sent: []string{}}
	cached := s.flags.confirmed() && s.server.CachedCodebook(s.flags.codebook)
	var about *remote.Description
	if !cached {
		var err error
		if about, err = s.server.Describe(ctx); err != nil {
			return nil, err
		}
		r.Gallery = about.Name
		r.Sent = append(r.Sent, "GET /v1/gallery", "GET /v1/codebook")
	}
	if err := s.findCodebook(ctx); err != nil {
		return nil, err
	}
	r.Rows, r.Codebook = s.book.Rows, fmt.Sprintf("%x", s.hash)
	chart, base, rows := s.server.Cached(s.hash, s.encoding)
	r.once("map", chart, mapBytes(about))
	r.hasMap = about == nil || about.MapBytes > 0
	s.planLabels(r, about)
	if s.flags.Mode == ModeAll {
		r.Encoding = wire.Int8.String()
		size := s.book.AllRowsBytes()
		r.once("whole gallery", rows, &size)
		return r, nil
	}
	r.once("base sample", base, baseBytes(about, s.encoding))
	return r, s.planCells(ctx, r, chart)
}

// planLabels adds the labels of the gallery, which each run takes.
func (s *Session) planLabels(r *PlanReport, about *remote.Description) {
	switch {
	case s.classes == nil:
	case about == nil:
		r.once("labels", -1, nil)
	default:
		r.once("labels", -1, &about.LabelBytes)
	}
}

// mapBytes and baseBytes are what a server says, nil where it was not asked.
func mapBytes(about *remote.Description) *int64 {
	if about == nil {
		return nil
	}
	return &about.MapBytes
}

func baseBytes(about *remote.Description, encoding wire.Encoding) *int64 {
	if about == nil {
		return nil
	}
	bytes, ok := about.BaseBytes[encoding]
	if !ok {
		return nil
	}
	return &bytes
}

// once adds something that is taken once: from the cache, if that has it.
func (r *PlanReport) once(what string, cached int64, bytes *int64) {
	if cached >= 0 {
		r.Once = append(r.Once, onceReport{what, &cached, true})
		return
	}
	r.Once = append(r.Once, onceReport{what, bytes, false})
	if bytes != nil {
		r.Down += *bytes
	}
}

// planCells adds what mode cells would send and spend.
func (s *Session) planCells(ctx context.Context, r *PlanReport, chart int64) error {
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
	case s.in.ColumnsOf().Names != nil && r.hasMap:
		s.warnings = append(s.warnings, fmt.Errorf("%s: the map of the server is not in the cache; if it has the columns in another order, more of the rows may be remembered", s.in.Features))
	}
	c, err := s.lookingClient()
	if err != nil {
		return err
	}
	terms, err := c.Terms()
	if err != nil {
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
	r.Cells, r.Size, r.Epsilon, r.Inclusion = terms.Cells, terms.Size, terms.Epsilon, terms.Inclusion
	r.RequestBytes, r.AnswerBytes, r.AllRowsBytes = int64(len(data)), s.book.AnswerBytes(s.encoding), s.book.AllRowsBytes()
	r.Up = int64(r.Queries) * r.RequestBytes
	r.Down += int64(r.Queries) * r.AnswerBytes
	standings, err := s.foresee(c)
	if err != nil {
		return err
	}
	for _, standing := range standings {
		switch standing {
		case client.Remembered:
			r.Remembered++
		case client.Resent:
			r.Resent++
		case client.Again:
			r.Changed++
			fallthrough
		default:
			r.New++
		}
	}
	r.Equal, r.byName = s.equal, s.names != nil
	if s.flags.Ledger != accounts.NoLedger {
		costs, err := s.costs(c, standings)
		if err != nil {
			return err
		}
		names := len(costs.newUnits)
		r.NewNames, r.client = &names, s.flags.client
		r.Fits, r.EpsilonSoFar, r.EpsilonAfter, r.Budget = &costs.fits, &costs.before, &costs.after, &costs.total.Epsilon
		r.Protects = mechanism.AllProtect(costs.protects...)
	}
	return nil
}

// lookingClient returns a client that can foresee what a run would do, and does nothing. A
// memory that is not there is not made.
func (s *Session) lookingClient() (*client.Cells, error) {
	memory := client.NewMemory()
	if s.flags.Memory != NoMemory {
		switch _, err := os.Stat(s.flags.Memory); {
		case err == nil:
			if memory, err = client.OpenFolder(s.flags.Memory); err != nil {
				return nil, fmt.Errorf("%s: %w", s.flags.Memory, text.Bare(err))
			}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if s.flags.Ledger == accounts.NoLedger {
		return s.client(mechanism.NoLedger, memory)
	}
	ledger, err := accounts.ReadLedger(s.flags.Ledger, s.flags.at)
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
