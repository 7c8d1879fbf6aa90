package suites

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// privateCases measure the private first step without a ledger: the bound, the
// kernel in float64 and the noise. Entries are pairs of rows, so ns/nnz is the time of a
// pair. The widest case has as many rows and columns as the features of CUB-200.
func privateCases(*measure.Lab) (out []measure.Case) {
	const k = 2
	for _, c := range []struct {
		operator string
		n, d     int
		full     bool
	}{
		{"dense", 1000, 64, false}, {"dense", 4000, 64, false}, {"dense", 10_000, 64, true},
		{"dense", 2000, 1280, false}, {"dense", 11_788, 1280, true},
		{"background", 1000, 64, false}, {"background", 4000, 64, false}, {"background", 10_000, 64, true},
		{"poly", 100_000, 64, false}, {"poly", 1_000_000, 64, true},
	} {
		for _, w := range measure.WorkerCounts() {
			out = append(out, measure.Case{
				Name: fmt.Sprintf("operator=%s/n=%d/d=%d/k=%d/workers=%d", c.operator, c.n, c.d, k, w), N: c.n, D: c.d, K: k, Workers: w, Full: c.full,
				Setup: func(context.Context, *measure.Lab) (*measure.Subject, error) {
					return privateSubject(c.operator, c.n, c.d, k, w)
				},
			})
		}
	}
	return out
}

func privateSubject(operator string, n, d, k, workers int) (*measure.Subject, error) {
	x, y, err := synth.Classes(n, d, 10, 1)
	if err != nil {
		return nil, err
	}
	sigma := 0.35
	if operator == "poly" { // wants a wide bandwidth
		sigma = 6
	}
	settings := &privatemail.PrivateSettings{
		Epsilon: 1, Delta: 1e-6, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
		Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "benchmark"}, Bandwidth: kernel.Sigma(sigma), Alpha: 0.5, Classes: 10,
		Dim: k, Seed: 1, NormalizeRows: true, Operator: operator,
	}
	pairs := int64(n) * int64(n-1) / 2
	sub := &measure.Subject{
		NNZ: pairs, Pairs: true, Roof: measure.RoofMadd, Madds: float64(pairs) * float64(d+2*k), Memory: true, Eta: math.NaN(), EtaP99: math.NaN(),
		Bytes: 8 * int64(n) * int64(d+2*k),
	}
	if operator == "poly" { // degrees and the product take two passes over the rows each
		sub.Roof, sub.Madds, sub.Bytes = measure.RoofRead, 0, 4*8*int64(n)*int64(d)
	}
	sub.Run = func(ctx context.Context) error {
		e, err := privatemail.New(privatemail.WithWorkers(workers))
		if err != nil {
			return err
		}
		defer e.Close()
		_, err = e.Privatize(ctx, x, y, settings)
		return err
	}
	return sub, nil
}
