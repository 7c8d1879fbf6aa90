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

// An asking is one run of query.
type Asking struct {
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
	sealed     *sealedAsking  // nil in other modes
	hash       wire.Hash      // of the codebook, or the epoch
	Ids        []int32        // k for each row, -1 where there is none
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
	classes    *querying // nil where no classes are wanted
}

// back is how many rows came for a query.
type back struct {
	lists, base int // in the lists, and in the base sample
	all         int // that differ: what was ranked
	resent      bool
}

// Open reads the rows and their names. Nothing is sent.
func Open(ctx context.Context, e *cli.Env, f *Flags, address string, in files.Input) (_ *Asking, err error) {
	a := &Asking{flags: f, address: address, in: in, Meter: progress.Silent{}, newUnits: make(map[mechanism.Unit]bool)}
	if a.encoding, err = f.wireEncoding(); err != nil {
		return nil, err
	}
	settings, err := f.connection.Settings()
	if err != nil {
		return nil, err
	}
	settings.Codebook, settings.Epoch, settings.Cache = f.codebook, f.Sealed.epoch, files.CacheFolder(e, f.Cache)
	settings.Warn = func(err error) { a.warnings = append(a.warnings, err) }
	settings.Progress = a.downloaded
	settings.Memory = cmp.Or(f.budget, mem.Budget())
	if a.server, err = remote.New(address, settings); err != nil {
		return nil, err
	}
	var labels []int32
	if a.X, labels, a.release, err = files.ReadRows(ctx, in, " (-1 for none)"); err != nil {
		return nil, err
	}
	a.classes = f.predict.open(in, labels)
	if a.X.Cols == 0 {
		err = fmt.Errorf("%s: rows without a column", in.Features)
	} else {
		err = files.Explain(points.CheckFinite(a.X), in)
	}
	a.X = normalRows(a.X)
	if err == nil && f.Mode == ModeCells {
		err = a.nameRecords()
	}
	if err != nil {
		a.release()
		return nil, err
	}
	return a, nil
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

func (a *Asking) Close() {
	a.server.Close()
	a.release()
}

// downloaded shows how far a long download is. Answers are short beside the number of
// queries, which is shown instead.
func (a *Asking) downloaded(what string, done, total int64) {
	if what != "answer" && total >= 1<<20 {
		a.Meter.Report(privatemail.Progress{Stage: what, Done: int(done >> 10), Total: int(total >> 10)})
	}
}

// mostCodebooks is how often a run may meet a new codebook.
const mostCodebooks = 3

// answer asks for all rows. Where a new codebook is accepted, and one comes while queries
// are answered, all rows are asked for again: numbers of rows are those of one gallery.
func (a *Asking) Answer(ctx context.Context, e *cli.Env) error {
	a.Meter = progress.NewMeter(e)
	err := func() error {
		defer a.Meter.Close()
		switch a.flags.Mode {
		case ModeAll:
			return a.TakeAll(ctx)
		case ModeSealed:
			return a.sealedRows(ctx)
		}
		for {
			err := a.cells(ctx)
			if !errors.Is(err, remote.ErrStale) || !a.flags.acceptNew || len(a.replaced) == mostCodebooks {
				return err
			}
			a.replaced = append(a.replaced, a.hash)
			a.wasted += a.paid
		}
	}()
	a.server.Close() // before results are written: how long that takes depends on them
	if a.sealed != nil && a.sealed.renewed {
		e.Note("the server has replaced its epoch in the middle of the run; all rows were encrypted anew under the next one")
	}
	for _, hash := range a.replaced {
		e.Note("the codebook %x was replaced in the middle of the run; the rows are asked for again under the next one, where each record spends again", hash)
	}
	for _, warning := range a.warnings {
		e.Note("%v", text.Bare(warning))
	}
	return a.explain(err)
}

// untouched says that a run is refused before it sends or spends anything for a row, since it
// began or since it began again.
func (a *Asking) untouched() string {
	if len(a.replaced) > 0 {
		return "nothing more about a row was sent, and nothing more was spent"
	}
	return "nothing about a row was sent, and nothing was spent"
}

// explain adds what a user can do about an error of a server.
func (a *Asking) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, remote.ErrStale) && a.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -codebook once a second path confirms it", a.address, text.Bare(err))
	case errors.Is(err, remote.ErrStale):
		return fmt.Errorf("%s: %w; -accept-new-codebook goes on all the same", a.address, text.Bare(err))
	case errors.Is(err, remote.ErrEpoch) && a.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -epoch once a second path confirms it", a.address, text.Bare(err))
	case errors.Is(err, remote.ErrEpoch):
		return fmt.Errorf("%s: %w; it was replaced again and again: try once more", a.address, text.Bare(err))
	case errors.Is(err, remote.ErrCertificate):
		return fmt.Errorf("%s: %w; -ca FILE names the authority that has signed it, if you trust that one; nothing was sent over this connection", a.address, text.Bare(err))
	case errors.Is(err, remote.ErrTooLong):
		return fmt.Errorf("%s: %w; -max-memory allows more", a.address, text.Bare(err))
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, remote.ErrResponse), errors.Is(err, remote.ErrRefused):
		if done := a.paid + a.remembered + a.resent; done > 0 {
			next := "sends for all of them what is remembered"
			if a.flags.Memory == NoMemory {
				next = "draws and pays anew for all of them, without a memory"
			}
			return fmt.Errorf("%s: %w; %d of %d queries were answered, and the next run %s", a.address, text.Bare(err), len(a.came), a.X.Rows, next)
		}
		return fmt.Errorf("%s: %w", a.address, text.Bare(err))
	}
	return err
}

// findCodebook gets the codebook.
func (a *Asking) findCodebook(ctx context.Context) (err error) {
	if a.book, err = a.server.Codebook(ctx); err != nil {
		return err
	}
	a.hash, err = a.book.Hash()
	return err
}

// findMap gets the map of the server, nil where there is none. Whether rows have the size that
// it takes is public, and an error.
func (a *Asking) findMap(ctx context.Context) (*supervised.Guarded, error) {
	if a.book.Ranking != a.book.Dimension { // found later, a record would have spent for nothing
		return nil, fmt.Errorf("%s: its cells have %d columns and its rows %d, and query places a row in one space; %s", a.address, a.book.Dimension, a.book.Ranking, a.untouched())
	}
	m, err := a.server.Map(ctx, a.hash)
	if err != nil {
		return nil, err
	}
	return m, a.fits(m, a.book.Dimension)
}

// fits refuses rows of another size than those that a map takes, or without one the gallery, and
// rows whose columns have other names than those of the map.
func (a *Asking) fits(m *supervised.Guarded, dimension int) error {
	if _, err := files.OrderOf(columnsOfMap(m), a.in.ColumnsOf()); err != nil {
		return err
	}
	switch {
	case m == nil && a.X.Cols != dimension:
		return fmt.Errorf("%s: rows of %d values, but those of the gallery have %d", a.in.Features, a.X.Cols, dimension)
	case m != nil && a.X.Cols != m.Dim():
		return fmt.Errorf("%s: rows of %d values, but the map of the server takes %d", a.in.Features, a.X.Cols, m.Dim())
	}
	return nil
}

// place returns the rows in the spaces of the server. It is the first to touch a number of a
// row after the server was asked for anything, and comes when all that is taken once is here: no
// download is later or sooner for what is in a row.
func (a *Asking) place(m *supervised.Guarded) (blas32.General, error) {
	if m == nil {
		return a.X, nil
	}
	x, err := a.in.Arrange(a.X, columnsOfMap(m))
	if err != nil {
		return x, err
	}
	z, err := m.Apply(x)
	return z, files.Explain(err, a.in)
}

// reorder puts the columns of the rows in the order of a map, where both have names, and finds out
// again which record each row is: equal rows are one record, whatever the order of their columns in
// a file is. It reads rows, so it comes no sooner than place.
func (a *Asking) reorder(m *supervised.Guarded) error {
	want := columnsOfMap(m)
	order, err := files.OrderOf(want, a.in.ColumnsOf())
	if err != nil || order == nil {
		return err
	}
	if a.X, err = a.in.Arrange(a.X, want); err != nil {
		return err
	}
	a.in.Read.Columns = want.Names // those of a.x from now on
	a.asFiled = a.records
	return a.nameRecords()
}

// columnsOfMap returns the names of the columns that a map of a server takes.
func columnsOfMap(m *supervised.Guarded) files.Named {
	const what = "the map of the server"
	if m == nil {
		return files.Named{What: what}
	}
	return files.Named{What: what, Names: m.ColumnNames()}
}

// reserve refuses a run whose memory is not there: what it takes itself, beside what is here of the
// server, and twice what comes of the server next, as bytes and as numbers. From then on, what
// the run takes leaves so much less room for the server.
func (a *Asking) reserve(own float64, next int64, what string) error {
	if err := a.server.Hold(what, bytesOf(own+2*float64(next))); err != nil {
		return err
	}
	return a.server.Hold(what, bytesOf(own))
}

// bytesOf returns a number of bytes, or one that nobody has.
func bytesOf(size float64) int64 { return int64(min(size, math.MaxInt64/2)) }

// results is what a run takes for what it finds, and for its rows in a space of the server.
func (a *Asking) results(dimension int) float64 {
	return 8*float64(a.X.Rows)*float64(a.flags.K) + 4*float64(a.X.Rows)*float64(dimension)
}

// takeAll takes the gallery and ranks it.
func (a *Asking) TakeAll(ctx context.Context) error {
	if err := a.findCodebook(ctx); err != nil {
		return err
	}
	if err := a.reserve(a.results(a.book.Dimension), a.book.AllRowsBytes(), "a gallery that is taken as a whole"); err != nil {
		return err
	}
	m, err := a.findMap(ctx)
	if err != nil {
		return err
	}
	if err := a.classes.fetch(func() (*wire.Labels, error) { return a.server.Labels(ctx, a.hash) }); err != nil {
		return err
	}
	gallery, err := a.server.Gallery(ctx, a.hash)
	if err != nil {
		return err
	}
	t, err := client.NewTakeAll(a.book, client.TakeAllSettings{Codebook: a.flags.codebook, UnconfirmedCodebook: a.flags.Unconfirmed}, gallery)
	if err != nil {
		return err
	}
	a.server.Close() // how long ranking takes depends on the rows, and the server sees a connection end
	z, err := a.place(m)
	if err != nil {
		return err
	}
	for i := range z.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		matches, err := t.Rank(files.Wide(z, i), a.flags.K)
		if err != nil {
			return err
		}
		a.keep(matches, back{all: a.book.Rows})
		a.Meter.Report(privatemail.Progress{Stage: "queries", Done: i + 1, Total: z.Rows})
	}
	return nil
}

// keep adds the matches of the next query. Another request may follow: distances that would be
// subnormal in float32, for which processors take longer, are 0.
func (a *Asking) keep(matches []client.Match, came back) {
	const leastNormal = 0x1p-126
	for i := range a.flags.K {
		id, distance := int32(-1), float32(math.Inf(1)) // so is wire.Padding
		if i < len(matches) {                           // a public number
			id, distance = int32(matches[i].ID), float32(sametime.DropSmall(matches[i].Distance, leastNormal))
		}
		a.Ids, a.distances = append(a.Ids, id), append(a.distances, distance)
	}
	a.came = append(a.came, came)
}

// found returns how many rows query q has.
func (a *Asking) found(q int) int {
	k := a.flags.K
	if i := slices.Index(a.Ids[q*k:(q+1)*k], -1); i >= 0 {
		return i
	}
	return k
}

func (a *Asking) write(ctx context.Context) error {
	if err := a.classes.write(ctx, a.Ids, a.flags.K); err != nil {
		return err
	}
	if err := files.WriteAnswerFiles(ctx, a.flags.out, a.flags.distancesOut, a.X.Rows, a.flags.K, a.Ids, a.distances); err != nil {
		return err
	}
	return a.writeRecords(ctx)
}
