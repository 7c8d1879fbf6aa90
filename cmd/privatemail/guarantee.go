package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// guarantee is what one release promises, with its randomised labels.
type guarantee struct {
	epsilon, delta float64 // of the noise
	mu             float64 // the noise is mu-Gaussian-private
	labels         float64 // pure epsilon of the labels of all records, 0 for none
	relation       sensitivity.Relation
	realMu         float64 // mu between two real records
}

// promised reads a release.
func promised(ctx context.Context, r *release.Release) guarantee {
	relation, _ := sensitivity.RelationByName(r.Sensitivity.Relation) // the release was checked
	realMu, err := privatemail.BetweenRecords(ctx, r)
	if err != nil {
		realMu = 2 * r.Privacy.Mu // the null record lies between the two
	}
	g := guarantee{epsilon: r.Privacy.Epsilon, delta: r.Privacy.Delta, mu: r.Privacy.Mu, relation: relation, realMu: realMu}
	if r.Labels.Mode == release.ModeRandomised {
		g.labels = float64(max(1, r.Sensitivity.Records)) * r.Labels.Epsilon
	}
	return g
}

// total is the epsilon of noise and labels together.
func (g guarantee) total() float64 { return g.epsilon + g.labels }

// exceeded is the probability that the odds move by more than e^total. Labels move them
// by e^labels at most, so it is that of the noise alone and its epsilon.
func (g guarantee) exceeded() float64 {
	p, err := mechanism.LossTail(g.mu, g.epsilon)
	if err != nil {
		return 1 // mu is out of range, and nothing is promised
	}
	return p
}

// odds is the factor by which the odds move at most, except with probability delta.
func (g guarantee) odds() float64 {
	loss, err := mechanism.LossAt(g.mu, g.delta)
	if err != nil {
		return math.Inf(1)
	}
	return math.Exp(loss + g.labels)
}

// real is the epsilon between two real records at the same delta, and whether it is
// another than total.
func (g guarantee) real() (epsilon float64, another bool) {
	if g.relation.Real() == g.relation {
		return g.total(), false
	}
	epsilon, err := mechanism.EpsilonAt(g.realMu, g.delta)
	if err != nil {
		epsilon = math.Inf(1)
	}
	return epsilon + g.labels, true
}

// other says what stands in the place of the record in the other data set.
func (g guarantee) other() string {
	if g.relation.Real() == g.relation {
		return "with any other in its place"
	}
	return "with the null record in its place"
}

// oddsReport is what -json says of the odds.
type oddsReport struct {
	// OddsExceed is the probability that the odds move by more than e^epsilon_total.
	OddsExceed float64 `json:"odds_exceed"`
	// OddsAtDelta is the factor they move by at most, except with probability delta.
	OddsAtDelta jsonNumber `json:"odds_at_delta"`
	// EpsilonRecords is that between two real records, at delta.
	EpsilonRecords jsonNumber `json:"epsilon_records"`
}

func (g guarantee) report() oddsReport {
	epsilon, _ := g.real()
	return oddsReport{g.exceeded(), jsonNumber(g.odds()), jsonNumber(epsilon)}
}

// write prints the numbers for a person; docs/privacy.md has the formulas.
func (g guarantee) write(w io.Writer) {
	fmt.Fprintf(w, "means\tP[S] <= %.4g P'[S] + %g for every set S of outcomes; P with the record, P' %s\n", math.Exp(g.total()), g.delta, g.other())
	fmt.Fprintf(w, "odds\tbetween the two move by more than x %.4g with probability %.2g at most; except with probability %g by at most x %.4g\n", math.Exp(g.total()), g.exceeded(), g.delta, g.odds())
	if epsilon, another := g.real(); another {
		fmt.Fprintf(w, "records\tbetween two real records it is epsilon %.4g, delta %g\n", epsilon, g.delta)
	}
}
