package files

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Speed is how fast this machine is, for the choice of an operator. Tests replace it, so
// that the choice is the same on every machine under every load.
var Speed = func() kernel.Calibration { return calibration.OfThisMachine(simd.Best()) }

// Engine starts an Engine that shows its progress. The returned function stops
// both; call it before anything else is printed. An engine that plans gets the speed of
// the machine that an earlier command has kept; a private step never plans.
func Engine(e *cli.Env, w settings.Work, plans bool) (*privatemail.Engine, func(), error) {
	return EngineWith(e, w, plans, progress.NewMeter(e))
}

// EngineWith is Engine with a meter, which it closes.
func EngineWith(e *cli.Env, w settings.Work, plans bool, m progress.Meter) (*privatemail.Engine, func(), error) {
	e.NoteLevel()
	options := []privatemail.Option{privatemail.WithProgress(m.Report)}
	if plans && e.Ranks().Rank() == 0 { // whose calibration is that of all ranks
		options = append(options, privatemail.WithCalibration(Speed()))
	}
	if ranks := e.Ranks(); !ranks.Alone() {
		options = append(options, privatemail.WithRanks(ranks), privatemail.WithRanksHere(e.RanksHere()))
	}
	if w.Workers > 0 {
		options = append(options, privatemail.WithWorkers(w.Workers))
	}
	if w.MaxMemory > 0 {
		options = append(options, privatemail.WithMaxMemory(w.MaxMemory))
	}
	engine, err := privatemail.New(options...)
	if err != nil {
		m.Close()
		return nil, nil, err
	}
	return engine, func() {
		engine.Close() // always nil
		m.Close()
	}, nil
}

// WithRows reads the files, starts an engine and lets use work with them. more is
// what to say to wrong labels beyond their number.
func WithRows(ctx context.Context, e *cli.Env, w settings.Work, plans bool, in Input, more string, use func(run *privatemail.Engine, x blas32.General, y []int32) error) error {
	x, y, release, err := ReadRows(ctx, in, more)
	if err != nil {
		return err
	}
	defer release()
	if err := RefuseOneRow(in.Features, x.Rows); err != nil {
		return err
	}
	run, stop, err := Engine(e, w, plans)
	if err != nil {
		return err
	}
	defer stop()
	return Explain(use(run, x, y), in)
}
