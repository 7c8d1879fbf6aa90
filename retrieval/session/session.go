package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Session is one run, of Answer or of Plan. It is for one goroutine.
type Session struct {
	settings Settings
	server   *remote.Server
	rows     Rows
	x        blas32.General    // the rows without subnormal numbers, with columns as records have them
	columns  []string          // their names
	records  []client.RecordID // what each row is
	asFiled  []client.RecordID // what it was before columns were put in another order; nil if they were not
	result   Result

	// What was found.
	book     *wire.Codebook // nil in mode Sealed
	sealed   *sealedSession // nil in other modes
	hash     wire.Hash      // of the codebook, or the epoch
	newUnits map[mechanism.Unit]bool

	used bool // by Answer or Plan
}

var errUsed = errors.New("session: a session is one run, of Answer or of Plan: make another")

// New returns a session with the server at an address. Nothing is sent.
func New(address string, settings Settings) (*Session, error) {
	if err := settings.check(); err != nil {
		return nil, err
	}
	s := &Session{settings: settings, result: Result{K: settings.K}, newUnits: make(map[mechanism.Unit]bool)}
	settings.Remote.Progress = s.downloaded
	var err error
	if s.server, err = remote.New(address, settings.Remote); err != nil {
		return nil, err
	}
	return s, nil
}

// take takes the rows, and finds out which record each is. Nothing is sent.
func (s *Session) take(rows Rows) error {
	s.used, s.rows, s.columns = true, rows, rows.Columns
	switch {
	case rows.Columns != nil && rows.Order == nil:
		return fmt.Errorf("session: %s: names of columns without Order", rows.File)
	case rows.X.Cols == 0:
		return fmt.Errorf("session: %s: rows without a column", rows.File)
	case rows.Names != nil && len(rows.Names) != rows.X.Rows:
		return fmt.Errorf("session: %s: %d names of %d rows", rows.File, len(rows.Names), rows.X.Rows)
	}
	if err := points.CheckFinite(rows.X); err != nil {
		return fmt.Errorf("session: %s: %w", rows.File, err)
	}
	s.x = normalRows(rows.X)
	if s.settings.Mode == Cells {
		return s.nameRecords()
	}
	return nil
}

// normalRows returns rows with 0 in place of subnormal numbers, for which processors take longer.
// It is done before the server is asked for anything.
func normalRows(x blas32.General) blas32.General {
	subnormal := func(v float32) bool { return v != sametime.DropSubnormal(v) }
	if !slices.ContainsFunc(x.Data, subnormal) {
		return x
	}
	x.Data = slices.Clone(x.Data) // those of a file that is mapped must not be changed
	for i, v := range x.Data {
		x.Data[i] = sametime.DropSubnormal(v)
	}
	return x
}

// Close ends the connections to the server.
func (s *Session) Close() { s.server.Close() }

// downloaded shows how far a long download is. Answers are short compared with the number of
// queries, which is shown instead.
func (s *Session) downloaded(what string, done, total int64) {
	if what != "answer" && total >= 1<<20 {
		s.progress(what, int(done>>10), int(total>>10))
	}
}

// progress reports how far a stage is.
func (s *Session) progress(stage string, done, total int) {
	if s.settings.Progress != nil {
		s.settings.Progress(stage, done, total)
	}
}

// mostCodebooks is how often a run may meet a new codebook.
const mostCodebooks = 3

// Answer asks for all rows, once in a session. Where a new codebook is accepted, and one comes while queries
// are answered, all rows are asked for again: numbers of rows are those of one gallery.
// The result has what was spent and found also after an error, unless the session was used before.
func (s *Session) Answer(ctx context.Context, rows Rows) (*Result, error) {
	if s.used {
		return nil, errUsed
	}
	if err := s.take(rows); err != nil {
		return &s.result, err
	}
	err := s.ask(ctx)
	s.server.Close() // before results are written: how long that takes depends on them
	return &s.result, err
}

// ask asks for all rows in the mode of the settings.
func (s *Session) ask(ctx context.Context) error {
	switch s.settings.Mode {
	case All:
		return s.rankAll(ctx)
	case Sealed:
		return s.sealedRows(ctx)
	}
	for {
		err := s.cells(ctx)
		if !errors.Is(err, remote.ErrStale) || !s.settings.NewCodebook || len(s.result.Replaced) == mostCodebooks {
			return err
		}
		s.result.Replaced = append(s.result.Replaced, s.hash)
		s.result.Wasted += s.result.Spent
	}
}

// findCodebook gets the codebook.
func (s *Session) findCodebook(ctx context.Context) (err error) {
	if s.book, err = s.server.Codebook(ctx); err != nil {
		return err
	}
	s.hash, err = s.book.Hash()
	s.result.Codebook, s.result.Hash = s.book, s.hash
	return err
}

// findMap gets the map of the server, nil where there is none. Whether rows have the size that
// it takes is public, and an error.
func (s *Session) findMap(ctx context.Context) (*supervised.Guarded, error) {
	if s.book.Ranking != s.book.Dimension { // found later, a record would have spent for nothing
		return nil, s.refuse(Refusal{Err: fmt.Errorf("its cells have %d columns and its rows %d, and query places a row in one space", s.book.Dimension, s.book.Ranking)})
	}
	m, err := s.server.Map(ctx, s.hash)
	if err != nil {
		return nil, err
	}
	return m, s.fits(m, s.book.Dimension)
}

// fits refuses rows of another size than those that a map takes, or without one the gallery, and
// rows whose columns have other names than those of the map.
func (s *Session) fits(m *supervised.Guarded, dimension int) error {
	if _, err := s.orderOf(m); err != nil {
		return err
	}
	switch {
	case m == nil && s.x.Cols != dimension:
		return fmt.Errorf("session: %s: rows of %d values, but those of the gallery have %d", s.rows.File, s.x.Cols, dimension)
	case m != nil && s.x.Cols != m.Dim():
		return fmt.Errorf("session: %s: rows of %d values, but the map of the server takes %d", s.rows.File, s.x.Cols, m.Dim())
	}
	return nil
}

// place returns the rows in the spaces of the server. It is the first to touch a number of a
// row after the server was asked for anything, and comes when all that is taken once is here: no
// download is later or sooner for what is in a row.
func (s *Session) place(m *supervised.Guarded) (blas32.General, error) {
	if m == nil {
		return s.x, nil
	}
	x, err := s.arrange(m)
	if err != nil {
		return x, err
	}
	z, err := m.Apply(x)
	if err != nil {
		return z, fmt.Errorf("session: %s: %w", s.rows.File, err)
	}
	return z, nil
}

// reorder puts the columns of the rows in the order of a map, where both have names, and finds out
// again which record each row is: equal rows are one record, whatever the order of their columns in
// a file is. It reads rows, so it comes no sooner than place.
func (s *Session) reorder(m *supervised.Guarded) error {
	order, err := s.orderOf(m)
	if err != nil || order == nil {
		return err
	}
	if s.x, err = s.arrange(m); err != nil {
		return err
	}
	s.columns = m.ColumnNames() // those of s.x from now on
	s.asFiled = s.records
	return s.nameRecords()
}

// orderOf returns where each column that a map takes is among those of the rows, nil where they stay
// as they are.
func (s *Session) orderOf(m *supervised.Guarded) ([]int, error) {
	if m == nil || s.rows.Order == nil {
		return nil, nil
	}
	order, err := s.rows.Order(m.ColumnNames(), s.columns)
	if err != nil || order == nil {
		return nil, err
	}
	outside := func(j int) bool { return j < 0 || j >= s.x.Cols }
	if len(order) != s.x.Cols || slices.ContainsFunc(order, outside) {
		return nil, fmt.Errorf("session: %s: Order returned %d places, want one in each of %d columns", s.rows.File, len(order), s.x.Cols)
	}
	return order, nil
}

// arrange returns the rows with their columns in the order of a map.
func (s *Session) arrange(m *supervised.Guarded) (blas32.General, error) {
	order, err := s.orderOf(m)
	if err != nil || order == nil {
		return s.x, err
	}
	x := s.x
	if bytes := 4 * int64(len(x.Data)); bytes > mem.DefaultLimit() {
		return x, fmt.Errorf("session: %s: %w: a copy of the rows with their columns in the order of the map of the server takes %d bytes; put them in that order, or convert fewer rows at a time", s.rows.File, formats.ErrLimit, bytes)
	}
	x.Data = slices.Clone(x.Data) // a file may be mapped
	before := make([]float32, x.Cols)
	for i := range x.Rows {
		row := x.Data[i*x.Stride:][:x.Cols]
		copy(before, row)
		for j, from := range order {
			row[j] = before[from]
		}
	}
	return x, nil
}

// reserve refuses a run whose memory is not there: what it takes itself, and what is here of the
// server, and twice what comes of the server next, as bytes and as numbers. From then on, what
// the run takes leaves so much less room for the server.
func (s *Session) reserve(own float64, next int64, what string) error {
	if err := s.server.Hold(what, bytesOf(own+2*float64(next))); err != nil {
		return err
	}
	return s.server.Hold(what, bytesOf(own))
}

// bytesOf returns a number of bytes, or one that nobody has.
func bytesOf(size float64) int64 { return int64(min(size, math.MaxInt64/2)) }

// results is what a run takes for what it finds, and for its rows in a space of the server.
func (s *Session) results(dimension int) float64 {
	return 8*float64(s.x.Rows)*float64(s.settings.K) + 4*float64(s.x.Rows)*float64(dimension)
}

// labels gives the labels of the gallery to whoever wants them. It comes before a number of a row is
// looked at: a server that publishes none is an error before anything is sent for a row.
func (s *Session) labels(get func() (*wire.Labels, error)) error {
	if s.settings.Labels == nil {
		return nil
	}
	labels, err := get()
	if err != nil {
		return err
	}
	return s.settings.Labels(labels)
}

// wide returns a row in float64.
func wide(x blas32.General, i int) []float64 {
	row := make([]float64, x.Cols)
	points.ReadRow(row, x, i)
	return row
}

// rankAll takes the gallery and ranks it.
func (s *Session) rankAll(ctx context.Context) error {
	if err := s.findCodebook(ctx); err != nil {
		return err
	}
	if err := s.reserve(s.results(s.book.Dimension), s.book.AllRowsBytes(), "a gallery that is taken as a whole"); err != nil {
		return err
	}
	m, err := s.findMap(ctx)
	if err != nil {
		return err
	}
	if err := s.labels(func() (*wire.Labels, error) { return s.server.Labels(ctx, s.hash) }); err != nil {
		return err
	}
	gallery, err := s.server.Gallery(ctx, s.hash)
	if err != nil {
		return err
	}
	t, err := client.NewAll(s.book, client.AllSettings{Codebook: s.settings.Remote.Codebook, UnconfirmedCodebook: s.settings.Unconfirmed}, gallery)
	if err != nil {
		return err
	}
	s.server.Close() // how long ranking takes depends on the rows, and the server sees a connection end
	z, err := s.place(m)
	if err != nil {
		return err
	}
	for i := range z.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		matches, err := t.Rank(wide(z, i), s.settings.K)
		if err != nil {
			return err
		}
		s.result.keep(matches, Query{Ranked: s.book.Rows})
		s.progress("queries", i+1, z.Rows)
	}
	return nil
}
