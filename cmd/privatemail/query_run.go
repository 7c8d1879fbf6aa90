package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// An asking is one run of query.
type asking struct {
	flags    *askFlags
	address  string
	in       input
	x        blas32.General // the rows, as they are in the file
	release  func()
	names    []string          // of the records; nil where each is its content
	records  []client.RecordID // what each row is
	asFiled  []client.RecordID // what it was before columns were put in another order; nil if they were not
	equal    int               // rows that are equal to one before
	encoding wire.Encoding
	server   *remote.Server
	meter    meter
	warnings []error // of the cache

	// What was found.
	book       *wire.Codebook // nil in mode sealed
	sealed     *sealedAsking  // nil in other modes
	hash       wire.Hash      // of the codebook, or the epoch
	ids        []int32        // k for each row, -1 where there is none
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

// openAsking reads the rows and their names. Nothing is sent.
func openAsking(ctx context.Context, e *cli.Env, f *askFlags, address string, in input) (_ *asking, err error) {
	a := &asking{flags: f, address: address, in: in, meter: silent{}, newUnits: make(map[mechanism.Unit]bool)}
	if a.encoding, err = f.wireEncoding(); err != nil {
		return nil, err
	}
	settings, err := f.connection.settings()
	if err != nil {
		return nil, err
	}
	settings.Codebook, settings.Epoch, settings.Cache = f.codebook, f.sealed.epoch, cacheFolder(e, f.cache)
	settings.Warn = func(err error) { a.warnings = append(a.warnings, err) }
	settings.Progress = a.downloaded
	settings.Memory = cmp.Or(f.budget, mem.Budget())
	if a.server, err = remote.New(address, settings); err != nil {
		return nil, err
	}
	var labels []int32
	if a.x, labels, a.release, err = readRows(ctx, in, " (-1 for none)"); err != nil {
		return nil, err
	}
	a.classes = f.predict.open(in, labels)
	if a.x.Cols == 0 {
		err = fmt.Errorf("%s: rows without a column", in.features)
	} else {
		err = explain(points.CheckFinite(a.x), in)
	}
	a.x = normalRows(a.x)
	if err == nil && f.mode == modeCells {
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

func (a *asking) close() {
	a.server.Close()
	a.release()
}

// downloaded shows how far a long download is. Answers are short beside the number of
// queries, which is shown instead.
func (a *asking) downloaded(what string, done, total int64) {
	if what != "answer" && total >= 1<<20 {
		a.meter.report(privatemail.Progress{Stage: what, Done: int(done >> 10), Total: int(total >> 10)})
	}
}

// mostCodebooks is how often a run may meet a new codebook.
const mostCodebooks = 3

// answer asks for all rows. Where a new codebook is accepted, and one comes while queries
// are answered, all rows are asked for again: numbers of rows are those of one gallery.
func (a *asking) answer(ctx context.Context, e *cli.Env) error {
	a.meter = newMeter(e)
	err := func() error {
		defer a.meter.close()
		switch a.flags.mode {
		case modeTakeAll:
			return a.takeAll(ctx)
		case modeSealed:
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
		e.Note("%v", bare(warning))
	}
	return a.explain(err)
}

// untouched says that a run is refused before it sends or spends anything for a row, since it
// began or since it began again.
func (a *asking) untouched() string {
	if len(a.replaced) > 0 {
		return "nothing more about a row was sent, and nothing more was spent"
	}
	return "nothing about a row was sent, and nothing was spent"
}

// explain adds what a user can do about an error of a server.
func (a *asking) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, remote.ErrStale) && a.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -codebook once a second path confirms it", a.address, bare(err))
	case errors.Is(err, remote.ErrStale):
		return fmt.Errorf("%s: %w; -accept-new-codebook goes on all the same", a.address, bare(err))
	case errors.Is(err, remote.ErrEpoch) && a.flags.confirmed():
		return fmt.Errorf("%s: %w; give the new hash to -epoch once a second path confirms it", a.address, bare(err))
	case errors.Is(err, remote.ErrEpoch):
		return fmt.Errorf("%s: %w; it was replaced again and again: try once more", a.address, bare(err))
	case errors.Is(err, remote.ErrCertificate):
		return fmt.Errorf("%s: %w; -ca FILE names the authority that has signed it, if you trust that one; nothing was sent over this connection", a.address, bare(err))
	case errors.Is(err, remote.ErrTooLong):
		return fmt.Errorf("%s: %w; -budget allows more", a.address, bare(err))
	case errors.Is(err, remote.ErrUnreachable), errors.Is(err, remote.ErrResponse), errors.Is(err, remote.ErrRefused):
		if done := a.paid + a.remembered + a.resent; done > 0 {
			next := "sends for all of them what is remembered"
			if a.flags.memory == noMemory {
				next = "draws and pays anew for all of them, without a memory"
			}
			return fmt.Errorf("%s: %w; %d of %d queries were answered, and the next run %s", a.address, bare(err), len(a.came), a.x.Rows, next)
		}
		return fmt.Errorf("%s: %w", a.address, bare(err))
	}
	return err
}

// findCodebook gets the codebook.
func (a *asking) findCodebook(ctx context.Context) (err error) {
	if a.book, err = a.server.Codebook(ctx); err != nil {
		return err
	}
	a.hash, err = a.book.Hash()
	return err
}

// findMap gets the map of the server, nil where there is none. Whether rows have the size that
// it takes is public, and an error.
func (a *asking) findMap(ctx context.Context) (*supervised.Guarded, error) {
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
func (a *asking) fits(m *supervised.Guarded, dimension int) error {
	if _, err := orderOf(columnsOfMap(m), a.in.columnsOf()); err != nil {
		return err
	}
	switch {
	case m == nil && a.x.Cols != dimension:
		return fmt.Errorf("%s: rows of %d values, but those of the gallery have %d", a.in.features, a.x.Cols, dimension)
	case m != nil && a.x.Cols != m.Dim():
		return fmt.Errorf("%s: rows of %d values, but the map of the server takes %d", a.in.features, a.x.Cols, m.Dim())
	}
	return nil
}

// place returns the rows in the spaces of the server. It is the first to touch a number of a
// row after the server was asked for anything, and comes when all that is taken once is here: no
// download is later or sooner for what is in a row.
func (a *asking) place(m *supervised.Guarded) (blas32.General, error) {
	if m == nil {
		return a.x, nil
	}
	x, err := a.in.arrange(a.x, columnsOfMap(m))
	if err != nil {
		return x, err
	}
	z, err := m.Apply(x)
	return z, explain(err, a.in)
}

// reorder puts the columns of the rows in the order of a map, where both have names, and finds out
// again which record each row is: equal rows are one record, whatever the order of their columns in
// a file is. It reads rows, so it comes no sooner than place.
func (a *asking) reorder(m *supervised.Guarded) error {
	want := columnsOfMap(m)
	order, err := orderOf(want, a.in.columnsOf())
	if err != nil || order == nil {
		return err
	}
	if a.x, err = a.in.arrange(a.x, want); err != nil {
		return err
	}
	a.in.read.columns = want.names // those of a.x from now on
	a.asFiled = a.records
	return a.nameRecords()
}

// columnsOfMap returns the names of the columns that a map of a server takes.
func columnsOfMap(m *supervised.Guarded) named {
	const what = "the map of the server"
	if m == nil {
		return named{what: what}
	}
	return named{what, m.ColumnNames()}
}

// reserve refuses a run whose memory is not there: what it takes itself, beside what is here of the
// server, and twice what comes of the server next, as bytes and as numbers. From then on, what
// the run takes leaves so much less room for the server.
func (a *asking) reserve(own float64, next int64, what string) error {
	if err := a.server.Hold(what, bytesOf(own+2*float64(next))); err != nil {
		return err
	}
	return a.server.Hold(what, bytesOf(own))
}

// bytesOf returns a number of bytes, or one that nobody has.
func bytesOf(size float64) int64 { return int64(min(size, math.MaxInt64/2)) }

// results is what a run takes for what it finds, and for its rows in a space of the server.
func (a *asking) results(dimension int) float64 {
	return 8*float64(a.x.Rows)*float64(a.flags.k) + 4*float64(a.x.Rows)*float64(dimension)
}

// takeAll takes the gallery and ranks it.
func (a *asking) takeAll(ctx context.Context) error {
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
	t, err := client.NewTakeAll(a.book, client.TakeAllSettings{Codebook: a.flags.codebook, UnconfirmedCodebook: a.flags.unconfirmed}, gallery)
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
		matches, err := t.Rank(wide(z, i), a.flags.k)
		if err != nil {
			return err
		}
		a.keep(matches, back{all: a.book.Rows})
		a.meter.report(privatemail.Progress{Stage: "queries", Done: i + 1, Total: z.Rows})
	}
	return nil
}

// wide returns a row in float64.
func wide(x blas32.General, i int) []float64 {
	row := make([]float64, x.Cols)
	for j, v := range x.Data[i*x.Stride:][:x.Cols] {
		row[j] = float64(v)
	}
	return row
}

// keep adds the matches of the next query. Another request may follow: distances that would be
// subnormal in float32, for which processors take longer, are 0.
func (a *asking) keep(matches []client.Match, came back) {
	const leastNormal = 0x1p-126
	for i := range a.flags.k {
		id, distance := int32(-1), float32(math.Inf(1)) // so is wire.Padding
		if i < len(matches) {                           // a public number
			id, distance = int32(matches[i].ID), float32(sametime.DropSmall(matches[i].Distance, leastNormal))
		}
		a.ids, a.distances = append(a.ids, id), append(a.distances, distance)
	}
	a.came = append(a.came, came)
}

// found returns how many rows query q has.
func (a *asking) found(q int) int {
	k := a.flags.k
	if i := slices.Index(a.ids[q*k:(q+1)*k], -1); i >= 0 {
		return i
	}
	return k
}

func (a *asking) write(ctx context.Context) error {
	if err := a.classes.write(ctx, a.ids, a.flags.k); err != nil {
		return err
	}
	if err := writeAnswerFiles(ctx, a.flags.out, a.flags.distancesOut, a.x.Rows, a.flags.k, a.ids, a.distances); err != nil {
		return err
	}
	return a.writeRecords(ctx)
}
