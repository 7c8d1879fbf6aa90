package main

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/simd"
)

// speed is how fast this machine is, for the choice of an operator. Tests replace it: they
// want the same choice on every machine under every load.
var speed = func() kernel.Calibration { return calibration.OfThisMachine(simd.Best()) }

// engine starts an Engine that shows its progress. The returned function stops
// both; call it before anything else is printed. An engine that plans gets the speed of
// the machine that an earlier command has kept; a private step never plans.
func engine(e *cli.Env, w workFlags, plans bool) (*privatemail.Engine, func(), error) {
	return engineWith(e, w, plans, newMeter(e))
}

// engineWith is engine with a meter, which it closes.
func engineWith(e *cli.Env, w workFlags, plans bool, m meter) (*privatemail.Engine, func(), error) {
	e.NoteLevel()
	options := []privatemail.Option{privatemail.WithProgress(m.report)}
	if plans && e.Ranks().Rank() == 0 { // whose calibration is that of all ranks
		options = append(options, privatemail.WithCalibration(speed()))
	}
	if ranks := e.Ranks(); !ranks.Alone() {
		options = append(options, privatemail.WithRanks(ranks), privatemail.WithRanksHere(e.RanksHere()))
	}
	if w.workers > 0 {
		options = append(options, privatemail.WithWorkers(w.workers))
	}
	if w.budget > 0 {
		options = append(options, privatemail.WithBudget(w.budget))
	}
	engine, err := privatemail.New(options...)
	if err != nil {
		m.close()
		return nil, nil, err
	}
	return engine, func() {
		engine.Close() // always nil
		m.close()
	}, nil
}

// withRows reads the files, starts an engine and lets use work with them. more is
// what to say to wrong labels beyond their number.
func withRows(ctx context.Context, e *cli.Env, w workFlags, plans bool, in input, more string, use func(run *privatemail.Engine, x blas32.General, y []int32) error) error {
	x, y, release, err := readRows(ctx, in, more)
	if err != nil {
		return err
	}
	defer release()
	if err := refuseOneRow(in.features, x.Rows); err != nil {
		return err
	}
	run, stop, err := engine(e, w, plans)
	if err != nil {
		return err
	}
	defer stop()
	return explain(use(run, x, y), in)
}
