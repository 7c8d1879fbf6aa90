package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Session is one run of query.
type Session struct {
	flags    *Flags
	address  string
	in       files.Input
	X        blas32.General // the rows, as they are in the file
	release  func()
	names    []string          // of the records; nil where each is its content
	records  []client.RecordID // what each row is
	asFiled  []client.RecordID // what it was before columns were put in another order; nil if they were not
	equal    int               // rows that are equal to one before
	encoding wire.Encoding
	server   *remote.Server
	Meter    progress.Meter
	warnings []error // of the cache

	// What was found.
	book       *wire.Codebook // nil in mode sealed
	sealed     *sealedSession // nil in other modes
	hash       wire.Hash      // of the codebook, or the epoch
	IDs        []int32        // k for each row, -1 where there is none
	distances  []float32
	came       []back
	paid       int                     // records that have spent
	remembered int                     // rows that have not
	resent     int                     // rows that were sent the set of another row of their name
	changed    int                     // of those that have spent, rows of names that had another before
	newUnits   map[mechanism.Unit]bool // that the ledger did not know before the run
	replaced   []wire.Hash             // codebooks that were replaced in the middle of the run
	wasted     int                     // spends under those
	seconds    float64
	classes    *prediction // nil where no classes are wanted
}

// back is how many rows came for a query.
type back struct {
	lists, base int // in the lists, and in the base sample
	all         int // that differ: what was ranked
	resent      bool
}

// Open reads the rows and their names. Nothing is sent.
func Open(ctx context.Context, e *cli.Env, f *Flags, address string, in files.Input) (_ *Session, err error) {
	s := &Session{flags: f, address: address, in: in, Meter: progress.Silent{}, newUnits: make(map[mechanism.Unit]bool)}
	if s.encoding, err = f.wireEncoding(); err != nil {
		return nil, err
	}
	settings, err := f.connection.Settings()
	if err != nil {
		return nil, err
	}
	settings.Codebook, settings.Epoch, settings.Cache = f.codebook, f.Sealed.epoch, files.CacheFolder(e, f.Cache)
	settings.Warn = func(err error) { s.warnings = append(s.warnings, err) }
	settings.Progress = s.downloaded
	settings.Memory = cmp.Or(f.maxMemory, mem.DefaultLimit())
	if s.server, err = remote.New(address, settings); err != nil {
		return nil, err
	}
	var labels []int32
	if s.X, labels, s.release, err = files.ReadRows(ctx, in, " (-1 for none)"); err != nil {
		return nil, err
	}
	s.classes = f.predict.open(in, labels)
	if s.X.Cols == 0 {
		err = fmt.Errorf("%s: rows without a column", in.Features)
	} else {
		err = files.Explain(points.CheckFinite(s.X), in)
	}
	s.X = normalRows(s.X)
	if err == nil && f.Mode == ModeCells {
		err = s.nameRecords()
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
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

func (s *Session) Close() {
	s.server.Close()
	s.release()
}

// downloaded shows how far a long download is. Answers are short compared with the number of
// queries, which is shown instead.
func (s *Session) downloaded(what string, done, total int64) {
	if what != "answer" && total >= 1<<20 {
		s.Meter.Report(privatemail.Progress{Stage: what, Done: int(done >> 10), Total: int(total >> 10)})
	}
}

// mostCodebooks is how often a run may meet a new codebook.
const mostCodebooks = 3

// Answer asks for all rows. Where a new codebook is accepted, and one comes while queries
// are answered, all rows are asked for again: numbers of rows are those of one gallery.
func (s *Session) Answer(ctx context.Context, e *cli.Env) error {
	s.Meter = progress.NewMeter(e)
	err := func() error {
		defer s.Meter.Close()
		switch s.flags.Mode {
		case ModeAll:
			return s.RankAll(ctx)
		case ModeSealed:
			return s.sealedRows(ctx)
		}
		for {
			err := s.cells(ctx)
			if !errors.Is(err, remote.ErrStale) || !s.flags.acceptNew || len(s.replaced) == mostCodebooks {
				return err
			}
			s.replaced = append(s.replaced, s.hash)
			s.wasted += s.paid
		}
	}()
	s.server.Close() // before results are written: how long that takes depends on them
	if s.sealed != nil && s.sealed.renewed {
		e.Note("the server has replaced its epoch in the middle of the run; all rows were encrypted again under the next one")
	}
	for _, hash := range s.replaced {
		e.Note("the codebook %x was replaced in the middle of the run; the rows are asked for again under the next one, where each record spends again", hash)
	}
	for _, warning := range s.warnings {
		e.Note("%v", text.Bare(warning))
	}
	return s.explain(err)
}

// untouched says that a run is refused before it sends or spends anything for a row, since it
// began or since it began again.
func (s *Session) untouched() string {
	if len(s.replaced) > 0 {
		return "nothing more about a row was sent, and nothing more was spent"
	}
	return "nothing about a row was sent, and nothing was spent"
}

// explain adds what a user can do about an error of a server.
func (s *Session) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, remote.ErrStale) && s.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -codebook once a second path confirms it", s.address, text.Bare(err))
	case errors.Is(err, remote.ErrStale):
		return fmt.Errorf("%s: %w; -accept-new-codebook goes on all the same", s.address, text.Bare(err))
	case errors.Is(err, remote.ErrEpoch) && s.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -epoch once a second path confirms it", s.address, text.Bare(err))
	case errors.Is(err, remote.ErrEpoch):
		return fmt.Errorf("%s: %w; it was replaced again and again: try once more", s.address, text.Bare(err))
	case errors.Is(err, remote.ErrCertificate):
		return fmt.Errorf("%s: %w; -ca FILE names the authority that has signed it, if you trust that one; nothing was sent over this connection", s.address, text.Bare(err))
	case errors.Is(err, remote.ErrTooLong):
		return fmt.Errorf("%s: %w; -max-memory allows more", s.address, text.Bare(err))
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, remote.ErrResponse), errors.Is(err, remote.ErrRefused):
		if done := s.paid + s.remembered + s.resent; done > 0 {
			next := "sends for all of them what is remembered"
			if s.flags.Memory == NoMemory {
				next = "draws and pays again for all of them, without a memory"
			}
			return fmt.Errorf("%s: %w; %d of %d queries were answered, and the next run %s", s.address, text.Bare(err), len(s.came), s.X.Rows, next)
		}
		return fmt.Errorf("%s: %w", s.address, text.Bare(err))
	}
	return err
}

// findCodebook gets the codebook.
func (s *Session) findCodebook(ctx context.Context) (err error) {
	if s.book, err = s.server.Codebook(ctx); err != nil {
		return err
	}
	s.hash, err = s.book.Hash()
	return err
}

// findMap gets the map of the server, nil where there is none. Whether rows have the size that
// it takes is public, and an error.
func (s *Session) findMap(ctx context.Context) (*supervised.Guarded, error) {
	if s.book.Ranking != s.book.Dimension { // found later, a record would have spent for nothing
		return nil, fmt.Errorf("%s: its cells have %d columns and its rows %d, and query places a row in one space; %s", s.address, s.book.Dimension, s.book.Ranking, s.untouched())
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
	if _, err := files.OrderOf(columnsOfMap(m), s.in.ColumnsOf()); err != nil {
		return err
	}
	switch {
	case m == nil && s.X.Cols != dimension:
		return fmt.Errorf("%s: rows of %d values, but those of the gallery have %d", s.in.Features, s.X.Cols, dimension)
	case m != nil && s.X.Cols != m.Dim():
		return fmt.Errorf("%s: rows of %d values, but the map of the server takes %d", s.in.Features, s.X.Cols, m.Dim())
	}
	return nil
}

// place returns the rows in the spaces of the server. It is the first to touch a number of a
// row after the server was asked for anything, and comes when all that is taken once is here: no
// download is later or sooner for what is in a row.
func (s *Session) place(m *supervised.Guarded) (blas32.General, error) {
	if m == nil {
		return s.X, nil
	}
	x, err := s.in.Arrange(s.X, columnsOfMap(m))
	if err != nil {
		return x, err
	}
	z, err := m.Apply(x)
	return z, files.Explain(err, s.in)
}

// reorder puts the columns of the rows in the order of a map, where both have names, and finds out
// again which record each row is: equal rows are one record, whatever the order of their columns in
// a file is. It reads rows, so it comes no sooner than place.
func (s *Session) reorder(m *supervised.Guarded) error {
	want := columnsOfMap(m)
	order, err := files.OrderOf(want, s.in.ColumnsOf())
	if err != nil || order == nil {
		return err
	}
	if s.X, err = s.in.Arrange(s.X, want); err != nil {
		return err
	}
	s.in.Read.Columns = want.Names // those of a.x from now on
	s.asFiled = s.records
	return s.nameRecords()
}

// columnsOfMap returns the names of the columns that a map of a server takes.
func columnsOfMap(m *supervised.Guarded) files.Named {
	const what = "the map of the server"
	if m == nil {
		return files.Named{What: what}
	}
	return files.Named{What: what, Names: m.ColumnNames()}
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
	return 8*float64(s.X.Rows)*float64(s.flags.K) + 4*float64(s.X.Rows)*float64(dimension)
}

// RankAll takes the gallery and ranks it.
func (s *Session) RankAll(ctx context.Context) error {
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
	if err := s.classes.fetch(func() (*wire.Labels, error) { return s.server.Labels(ctx, s.hash) }); err != nil {
		return err
	}
	gallery, err := s.server.Gallery(ctx, s.hash)
	if err != nil {
		return err
	}
	t, err := client.NewAll(s.book, client.AllSettings{Codebook: s.flags.codebook, UnconfirmedCodebook: s.flags.Unconfirmed}, gallery)
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
		matches, err := t.Rank(files.Wide(z, i), s.flags.K)
		if err != nil {
			return err
		}
		s.keep(matches, back{all: s.book.Rows})
		s.Meter.Report(privatemail.Progress{Stage: "queries", Done: i + 1, Total: z.Rows})
	}
	return nil
}

// keep adds the matches of the next query. Another request may follow: distances that would be
// subnormal in float32, for which processors take longer, are 0.
func (s *Session) keep(matches []client.Match, came back) {
	const leastNormal = 0x1p-126
	for i := range s.flags.K {
		id, distance := int32(-1), float32(math.Inf(1)) // so is wire.Padding
		if i < len(matches) {                           // a public number
			id, distance = int32(matches[i].ID), float32(sametime.DropSmall(matches[i].Distance, leastNormal))
		}
		s.IDs, s.distances = append(s.IDs, id), append(s.distances, distance)
	}
	s.came = append(s.came, came)
}

// found returns how many rows query q has.
func (s *Session) found(q int) int {
	k := s.flags.K
	if i := slices.Index(s.IDs[q*k:(q+1)*k], -1); i >= 0 {
		return i
	}
	return k
}

func (s *Session) write(ctx context.Context) error {
	if err := s.classes.write(ctx, s.IDs, s.flags.K); err != nil {
		return err
	}
	if err := files.WriteAnswerFiles(ctx, s.flags.out, s.flags.distancesOut, s.X.Rows, s.flags.K, s.IDs, s.distances); err != nil {
		return err
	}
	return s.writeRecords(ctx)
}
