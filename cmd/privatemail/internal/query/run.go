package query

import (
	"cmp"
	"context"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/session"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A run is one run of query.
type run struct {
	flags    *flags
	address  string
	in       files.Input
	session  *session.Session
	rows     session.Rows
	release  func()
	meter    progress.Meter
	warnings []error     // of the cache
	classes  *prediction // nil where no classes are wanted

	result  *session.Result
	seconds float64
}

// open reads the rows and their names. Nothing is sent.
func open(ctx context.Context, e *cli.Env, f *flags, address string, in files.Input) (_ *run, err error) {
	r := &run{flags: f, address: address, in: in, meter: progress.Silent{}}
	settings, err := r.settings(e)
	if err != nil {
		return nil, err
	}
	if r.session, err = session.New(address, settings); err != nil {
		return nil, err
	}
	var x blas32.General
	var labels []int32
	if x, labels, r.release, err = files.ReadRows(ctx, in, " (-1 for none)"); err != nil {
		return nil, err
	}
	r.classes.open(in, labels)
	r.rows = session.Rows{X: x, File: in.Features, Columns: in.ColumnsOf().Names, Order: func(want, have []string) ([]int, error) {
		return files.OrderOf(files.Named{What: "the map of the server", Names: want}, files.Named{What: in.Features, Names: have})
	}}
	if f.names != "" {
		if r.rows.Names, err = recordNames(f.names, x.Rows); err != nil {
			r.release()
			return nil, err
		}
	}
	return r, nil
}

// settings returns what the flags say.
func (r *run) settings(e *cli.Env) (s session.Settings, err error) {
	f := r.flags
	s = session.Settings{
		Mode: session.Mode(f.mode), K: f.k, Unconfirmed: f.unconfirmed || f.sealed.unconfirmed,
		Epsilon: f.epsilon, Client: f.client, NewUnits: f.newUnits, OtherRelation: f.otherRelation, NewCodebook: f.acceptNew, Changed: f.changing(),
		Fetch: f.sealed.fetch, RecordsEpoch: f.sealed.recordsEpoch,
		Progress: func(stage string, done, total int) {
			r.meter.Report(privatemail.Progress{Stage: stage, Done: done, Total: total})
		},
	}
	if s.Encoding, err = f.wireEncoding(); err != nil {
		return s, err
	}
	if s.Remote, err = f.connection.Settings(); err != nil {
		return s, err
	}
	s.Remote.Codebook, s.Remote.Epoch, s.Remote.Cache, s.Remote.Memory = f.codebook, f.sealed.epoch, files.CacheFolder(e, f.cache), f.maxMemory
	s.Remote.Warn = func(err error) { r.warnings = append(r.warnings, err) }
	if r.classes = f.predict.prediction(); r.classes != nil {
		s.Labels = r.classes.take
	}
	if s.Forgotten = f.sent == noMemory; !s.Forgotten {
		s.Sent = f.sent
	}
	if s.Uncounted = f.ledger == accounts.NoLedger; f.mode == ModeCells && !s.Uncounted {
		s.OpenLedger = func() (*mechanism.Ledger, error) { return accounts.OpenLedger(f.ledger, f.at) }
		s.ReadLedger = func() (*mechanism.Snapshot, error) { return accounts.ReadLedger(f.ledger, f.at) }
	}
	return s, nil
}

// noMemory is what -sent says to remember nothing beyond a run.
const noMemory = "none"

// wireEncoding is the encoding of the rows that are sent back.
func (f *flags) wireEncoding() (wire.Encoding, error) {
	if f.encoding == "" {
		return wire.Float32, nil
	}
	return wire.ParseEncoding(f.encoding)
}

// encodingName is the encoding in which rows come.
func (f *flags) encodingName() string {
	if f.mode == ModeAll {
		return wire.Int8.String()
	}
	return cmp.Or(f.encoding, wire.Float32.String())
}

func (r *run) close() {
	r.session.Close()
	r.release()
}

// answer asks for all rows, and then says what was not needed and did not work.
func (r *run) answer(ctx context.Context, e *cli.Env) (err error) {
	r.meter = progress.NewMeter(e)
	began := time.Now()
	r.result, err = r.session.Answer(ctx, r.rows)
	r.seconds = time.Since(began).Seconds()
	r.meter.Close()
	if r.result.NewEpoch {
		e.Note("the server has replaced its epoch in the middle of the run; all rows were encrypted again under the next one")
	}
	for _, hash := range r.result.Replaced {
		e.Note("the codebook %x was replaced in the middle of the run; the rows are asked for again under the next one, where each record spends again", hash)
	}
	r.noteWarnings(e)
	return r.explain(err)
}

// noteWarnings says what did not work and was not needed.
func (r *run) noteWarnings(e *cli.Env) {
	for _, warning := range r.warnings {
		e.Note("%v", text.Bare(warning))
	}
}

func (r *run) write(ctx context.Context) error {
	s := r.result
	if err := r.classes.write(ctx, s.IDs, s.K); err != nil {
		return err
	}
	if err := files.WriteAnswerFiles(ctx, r.flags.out, r.flags.distancesOut, r.rows.X.Rows, s.K, s.IDs, s.Distances); err != nil {
		return err
	}
	return r.writeRecords(ctx)
}
