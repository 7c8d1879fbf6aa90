package client

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// CellsSettings say what a query is worth. None of these has a default.
type CellsSettings struct {
	// Codebook is the hash of the codebook that everybody has, from a second path: not
	// from the server that sent the codebook, but from a published page, another
	// client, or a constant of the program. The hash of the codebook at hand confirms
	// nothing.
	Codebook wire.Hash
	// UnconfirmedCodebook goes without that hash. The server may then have made the
	// codebook for this client alone, and know the client by the hash that every
	// request holds. It may also have placed the centres so that cells tell what it
	// wants to know of a record, within the bound of Epsilon, which holds for any
	// centres.
	UnconfirmedCodebook bool
	// NewCodebook lets records spend under a codebook that is not confirmed and that the
	// memory has not been used with, while it has been with others: each record spends its
	// epsilon again. Without it that is ErrNewCodebook. See CodebookMemory.
	NewCodebook bool
	// Epsilon is what a record spends when it is first asked for: pure
	// privacy, delta = 0, for the record as a whole. 1e-6 to 100.
	Epsilon float64
	// Ledger is a *mechanism.Ledger, mechanism.NoLedger, or another budget.
	Ledger mechanism.Budget
	// Client, if not empty, names whose budget pays for all records; otherwise
	// each record has its own.
	Client string
	// Changed says what becomes of a name whose row has changed; see ByName.
	Changed Changed
	// NewUnits lets records, or the client, begin to spend that the ledger does not
	// know yet; see mechanism.Unit.
	NewUnits bool
	// OtherRelation lets units spend whose earlier spends protect other data sets than
	// requests do, such as releases of first steps; see mechanism.Unit.
	OtherRelation bool
	// Memory of what was released, such as NewMemory or OpenFolder return.
	Memory Memory
}

// Cells asks in mode cells. It is safe for concurrent use.
type Cells struct {
	book     wire.Codebook // a copy
	settings CellsSettings // Codebook is the hash of book
	subset   mechanism.Subset
	admitted atomic.Bool // by the memory
}

// NewCells returns a client of a codebook, which is copied.
// Errors are wire.ErrMessage for an invalid codebook, wire.ErrCodebook
// for one that does not have the hash expected, or when no hash is expected and
// UnconfirmedCodebook does not say so, and mechanism.ErrParam, mechanism.ErrLedger
// and ErrMemory for settings that are missing or out of range.
func NewCells(book *wire.Codebook, settings CellsSettings) (*Cells, error) {
	own, hash, err := confirm(book, settings.Codebook, settings.UnconfirmedCodebook)
	if err != nil {
		return nil, err
	}
	settings.Codebook = hash
	c := &Cells{book: own, settings: settings, subset: mechanism.Subset{Items: own.Cells(), Size: own.Size, Epsilon: settings.Epsilon}}
	if err := c.subset.Check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if _, err := mechanism.Paid(settings.Ledger, [releaseID]byte{}); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if settings.Memory == nil {
		return nil, fmt.Errorf("client: %w: there is none", ErrMemory)
	}
	if settings.Changed < RefuseChanged || settings.Changed > SpendChanged {
		return nil, fmt.Errorf("client: %w: Changed is %d", mechanism.ErrParam, settings.Changed)
	}
	return c, nil
}

// confirm returns a copy of a codebook and its hash, which is the expected one unless the
// caller says that there is none.
func confirm(book *wire.Codebook, expected wire.Hash, unconfirmed bool) (own wire.Codebook, hash wire.Hash, err error) {
	if book == nil {
		return own, hash, fmt.Errorf("client: %w: there is none", wire.ErrCodebook)
	}
	own = *book
	own.Centres = slices.Clone(book.Centres)
	own.Anchors = slices.Clone(book.Anchors)
	if hash, err = own.Hash(); err != nil {
		return own, hash, fmt.Errorf("client: %w", err)
	}
	switch {
	case unconfirmed && expected != wire.Hash{}:
		err = fmt.Errorf("client: %w: UnconfirmedCodebook, and a hash that confirms one", mechanism.ErrParam)
	case unconfirmed:
	case expected == wire.Hash{}:
		err = fmt.Errorf("client: %w may have been sent to others: give its hash from a second path, or say UnconfirmedCodebook", wire.ErrCodebook)
	case expected != hash:
		err = fmt.Errorf("client: %w than the one expected", wire.ErrCodebook)
	}
	return own, hash, err
}

// Ask returns the request for a record. row is where the record is in the space of the centres.
//
// The first time, the cell of the row is released by w-subset selection, which
// spends Epsilon, and what came out is remembered. Every later call for that record
// returns the same request and spends nothing. A record under a new codebook or another
// epsilon is a new spend. That the same request is sent again shows that the same record was
// asked for: with ByContent, that an equal row was.
//
// A name whose row is another than those it was released with is ErrChanged, unless
// CellsSettings.Changed says what to do.
//
// What is remembered also goes by who paid (mechanism.Unit.Payer): the record or the
// client, in one ledger or in none. Another payer gets a set of its own and pays for
// it: a set that somebody else has paid for would be a release that the ledger at hand does not
// count. In a ledger a record has one budget, whatever the memory.
//
// Memories of the formats before there was a secret hold sets of names, and nothing of their
// rows. A name in them has a row that may have changed; for ByContent they are
// ErrEarlierNames. Memories of the first format do not say who paid either, and nothing of them
// is served: a record that they hold is drawn again and paid for again, which a ledger counts.
//
// What is remembered is sent again only if the ledger has a spend for it. Otherwise the
// ledger is a copy of the one that paid, and the error is mechanism.ErrLedger.
//
// Of many who ask for a record at the same time, through one client or many, one pays and
// the others wait for it: those of one process, and those of several with a Memory that is
// a Locker. Other records do not wait, but for what the ledger and the memory do for one
// after the other.
//
// A set is drawn once for a record, kept in the memory as pending, paid for, and then sent.
// A process that is killed on the way loses nothing: the next call sends the pending set if
// the ledger has paid for it, and pays for it otherwise. A set that the ledger refuses to pay
// for stays pending and is not sent.
//
// Errors are ErrRecord, ErrChanged, kernel.ErrNonFinite, ErrMemory, ErrEarlierNames,
// ErrNewCodebook, and those of mechanism.Subset.Select. After an error nothing may be sent; if it
// matches mechanism.ErrSpent the budget is spent all the same, and the next call sends what
// it has paid for. No error holds anything of the row.
func (c *Cells) Ask(id RecordID, row []float64) (*wire.CellsRequest, error) {
	return c.AskContext(context.Background(), id, row)
}

// AskContext is Ask with a context that can end the wait for others who ask for the same
// record. Its error is returned before anything is spent; once the budget is asked to pay,
// the context is not looked at any more.
func (c *Cells) AskContext(ctx context.Context, id RecordID, row []float64) (*wire.CellsRequest, error) {
	if len(row) != c.book.Dimension {
		return nil, fmt.Errorf("client: %w: %d features, want %d", ErrRecord, len(row), c.book.Dimension)
	}
	if err := checkFinite(row); err != nil {
		return nil, err
	}
	s, err := c.look(id)
	if err != nil {
		return nil, err
	}
	set, err := s.choose(c.settings.Changed)
	if err != nil {
		return nil, err
	}
	if set == nil || !set.kept {
		if set, err = c.releaseOnce(ctx, id, s.first, row); err != nil {
			return nil, err
		}
	}
	number, request, err := c.open(set.body)
	if err != nil {
		return nil, err
	}
	if err := c.paid(number); err != nil {
		return nil, err
	}
	return request, nil
}

// releaseID is the length of the number of a release, which stands before the request in
// what is kept.
const releaseID = 16

// paid refuses what is kept where the ledger at hand has no spend for it. That ledger is
// an old copy of the one that paid, or a copy that has gone its own way: what the other
// has spent would not be counted.
func (c *Cells) paid(id [releaseID]byte) error {
	switch paid, err := mechanism.Paid(c.settings.Ledger, id); {
	case err != nil:
		return fmt.Errorf("client: %w", err)
	case !paid:
		return fmt.Errorf("client: %w: it has not paid for what the memory holds of this record; it is a copy of the ledger that has", mechanism.ErrLedger)
	}
	return nil
}

// releaseOnce releases a record whose set the memory does not hold under its key. It holds the
// key of the record's first release from a second look at the memory, which somebody else may
// have filled in the meantime, until the set that is paid for is kept.
func (c *Cells) releaseOnce(ctx context.Context, id RecordID, first Key, row []float64) (*storedSet, error) {
	unlock, err := lockKey(ctx, c.settings.Memory, first)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for {
		s, err := c.look(id)
		if err != nil {
			return nil, err
		}
		set, err := s.choose(c.settings.Changed)
		if err != nil || set != nil && set.kept {
			return set, err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("client: %w", err)
		}
		if err := c.settings.Memory.Ready(); err != nil {
			return nil, err
		}
		if err := c.admit(); err != nil {
			return nil, err
		}
		if set == nil {
			if set, err = c.drawn(&s, row); err != nil {
				return nil, err
			}
		}
		// Another process may have drawn for another row of the name, where the memory is no
		// Locker. That set is then in the place of this one.
		if s.last != nil && set == s.last || set.tag == s.tag {
			return c.release(set, c.Unit(id))
		}
	}
}

// release pays for a set, unless it is paid for, and keeps it. The set was kept as pending
// before. A crash in between loses nothing: the next call finds the pending set, and whether the
// ledger has paid for it. A set is sent only when it is kept under its key.
func (c *Cells) release(set *storedSet, unit mechanism.Unit) (*storedSet, error) {
	number, request, err := c.open(set.body)
	if err != nil {
		return nil, err
	}
	paid, err := mechanism.Paid(c.settings.Ledger, number)
	if err == nil && !paid {
		err = c.subset.Pay(c.settings.Ledger, unit, selectionOf(number, request))
	}
	if err != nil { // also where the set is paid for and its hash is not noted: the next call finds it
		return nil, fmt.Errorf("client: %w", err)
	}
	kept, err := c.settings.Memory.Keep(set.key, set.entry)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, mechanism.ErrSpent)
	}
	tagged := len(set.entry) - len(set.body)
	if len(kept) < tagged {
		return nil, errShort
	}
	return &storedSet{key: set.key, entry: kept, tag: set.tag, body: kept[tagged:], kept: true}, nil
}

// drawn returns a set that was drawn for a record and is kept as pending: the one that is there,
// or a new one.
func (c *Cells) drawn(s *standing, row []float64) (*storedSet, error) {
	if s.drawn != nil {
		return s.drawn, nil
	}
	row = slices.Clone(row)
	dropSmall(row)
	drawn, err := c.subset.Draw(kmeans.Nearest(row, c.book.Centres))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	request := wire.CellsRequest{Codebook: c.settings.Codebook}
	for _, cell := range drawn.Items {
		request.Cells = append(request.Cells, uint32(cell))
	}
	message, err := request.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	entry, err := c.settings.Memory.Keep(pendingKey(s.free), slices.Concat(s.tag[:], drawn.ID[:], message))
	if err != nil {
		return nil, err
	}
	if len(entry) < tagSize {
		return nil, errShort
	}
	return &storedSet{key: s.free, entry: entry, tag: [tagSize]byte(entry), body: entry[tagSize:]}, nil
}

// open returns the number of a release and its request, which are kept together.
func (c *Cells) open(kept []byte) (id [releaseID]byte, request *wire.CellsRequest, err error) {
	if copy(id[:], kept) < len(id) {
		return id, nil, errShort
	}
	request = new(wire.CellsRequest)
	if err := request.UnmarshalBinary(kept[releaseID:]); err != nil {
		return id, nil, memoryError(err)
	}
	if w := len(request.Cells); request.Codebook != c.settings.Codebook || w != c.subset.Size || int(request.Cells[w-1]) >= c.subset.Items {
		return id, nil, fmt.Errorf("client: %w: it holds a request of another codebook", ErrMemory)
	}
	return id, request, nil
}

// selectionOf is the set of a request.
func selectionOf(id [releaseID]byte, request *wire.CellsRequest) *mechanism.Selection {
	s := &mechanism.Selection{ID: id}
	for _, cell := range request.Cells {
		s.Items = append(s.Items, int(cell))
	}
	return s
}

// Terms are what a client can know before it asks.
type Terms struct {
	Epsilon   float64 // pure; delta is 0
	Cells     int     // m
	Size      int     // w
	Inclusion float64 // probability p that the record's own cell is reported
	Share     float64 // of the gallery that an answer has room for
	Confirmed bool    // the caller gave the codebook's hash, from a second path

	// Lengths of binary forms: an answer with rows of float32 or int8, for each query, and
	// in addition to them the whole gallery, which All needs once and for no epsilon.
	Bytes, CompactBytes, AllRowsBytes int64
}

// Terms returns the terms of a query.
func (c *Cells) Terms() (Terms, error) {
	p, err := c.subset.Inclusion()
	if err != nil {
		return Terms{}, fmt.Errorf("client: %w", err)
	}
	return Terms{
		Epsilon: c.subset.Epsilon, Cells: c.subset.Items, Size: c.subset.Size, Inclusion: p,
		Share: float64(c.book.Size) * float64(c.book.Length) / float64(c.book.Rows),
		Bytes: c.book.AnswerBytes(wire.Float32), CompactBytes: c.book.AnswerBytes(wire.Int8), AllRowsBytes: c.book.AllRowsBytes(),
		Confirmed: !c.settings.UnconfirmedCodebook,
	}, nil
}

// checkFinite does not say where, or what.
func checkFinite(row []float64) error {
	const exponent = 0x7ff << 52
	for _, v := range row {
		if math.Float64bits(v)&exponent == exponent {
			return fmt.Errorf("client: the record: %w", points.ErrNonFinite)
		}
	}
	return nil
}
