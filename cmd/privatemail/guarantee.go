package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// guarantee is what one release promises, with its randomised labels.
type guarantee struct {
	epsilon, delta float64 // of the noise
	mu             float64 // of the noise: sensitivity over standard deviation
	labels         float64 // pure epsilon of the labels of all rows that change, 0 for none
	relation       sensitivity.Relation
	records        int     // rows that may change together, 0 for one
	realMu         float64 // mu between two real records
}

// promised reads a release.
func promised(ctx context.Context, r *release.Release) guarantee {
	relation, _ := sensitivity.RelationByName(r.Sensitivity.Relation) // the release was checked
	realMu, err := privatemail.BetweenRecords(ctx, r)
	if err != nil {
		realMu = 2 * r.Privacy.Mu // the null record lies between the two
	}
	g := guarantee{
		epsilon: r.Privacy.Epsilon, delta: r.Privacy.Delta, mu: r.Privacy.Mu,
		relation: relation, records: r.Sensitivity.Records, realMu: realMu,
	}
	if r.Labels.Mode == release.ModeRandomised {
		g.labels = mechanism.LabelEpsilon(r.Labels.Epsilon, g.records)
	}
	return g
}

// total is the epsilon of noise and labels together.
func (g guarantee) total() float64 { return g.epsilon + g.labels }

// exceeded is the probability that the odds rise by more than e^total, in favour of the
// data that were there. Labels raise them by e^labels at most, so it is at most that of
// the noise alone and its epsilon.
func (g guarantee) exceeded() float64 {
	p, err := mechanism.LossTail(g.mu, g.epsilon)
	if err != nil {
		return 1 // mu is out of range, and nothing is promised
	}
	return p
}

// odds is the factor by which the odds rise at most, except with probability delta.
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

// neighbours says what P and P' are the probabilities of.
func (g guarantee) neighbours() string {
	several := g.records > 1
	switch {
	case g.relation == sensitivity.Null:
		return "P with a row and its label, P' with the zero row and label 0 in its place"
	case g.relation == sensitivity.FeaturesNull:
		return "P with the features of a row, P' with zeros in their place, the label as it is"
	case g.relation == sensitivity.FeaturesReplace && several:
		return fmt.Sprintf("P with the features of %d rows, P' with any others in their place, the labels as they are", g.records)
	case g.relation == sensitivity.FeaturesReplace:
		return "P with the features of a row, P' with any others in their place, the label as it is"
	case several:
		return fmt.Sprintf("P with %d rows and their labels, P' with any others in their place", g.records)
	}
	return "P with a row and its label, P' with any others in their place"
}

// oddsReport is what -json says of the odds.
type oddsReport struct {
	// OddsExceed is the probability that the odds, in favour of the data that were
	// there, rise by more than e^epsilon_total.
	OddsExceed float64 `json:"odds_exceed"`
	// OddsAtDelta is the factor they rise by at most, except with probability delta.
	OddsAtDelta jsonform.Number `json:"odds_at_delta"`
	// EpsilonRecords is that between two real records, at delta.
	EpsilonRecords jsonform.Number `json:"epsilon_records"`
}

func (g guarantee) report() oddsReport {
	epsilon, _ := g.real()
	return oddsReport{g.exceeded(), jsonform.Number(g.odds()), jsonform.Number(epsilon)}
}

// inequality is (epsilon, delta)-privacy as a formula.
func (g guarantee) inequality() string {
	return fmt.Sprintf("P[S] <= %s P'[S] + %g", atMost(math.Exp(g.total()), 4), g.delta)
}

// write prints the numbers for a person; docs/privacy.md has the formulas.
func (g guarantee) write(w io.Writer) {
	fmt.Fprintf(w, "means\t%s and P'[S] <= %s P[S] + %g for every set S of outcomes\n", g.inequality(), atMost(math.Exp(g.total()), 4), g.delta)
	fmt.Fprintf(w, "\t%s\n", g.neighbours())
	fmt.Fprintf(w, "odds\tfor the data that were there rise by more than x %s with probability %s at most\n", atMost(math.Exp(g.total()), 4), atMost(g.exceeded(), 2))
	fmt.Fprintf(w, "\tand by at most x %s except with probability %g\n", atMost(g.odds(), 4), g.delta)
	g.writeReal(w)
}

// writeReal prints the guarantee between two real records where it is another.
func (g guarantee) writeReal(w io.Writer) {
	if epsilon, another := g.real(); another {
		fmt.Fprintf(w, "records\tbetween two real records the guarantee is epsilon %s, delta %g\n", atMost(epsilon, 4), g.delta)
	}
}

// atMost formats a bound from above, x >= 0, rounded up to a number of digits.
func atMost(x float64, digits int) string {
	text := strconv.FormatFloat(x, 'g', digits, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown >= x || math.IsInf(x, 0) {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-float64(digits-1))
	return strconv.FormatFloat(x+unit, 'g', digits, 64)
}
