package accounts

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

// Guarantee is what one release promises, with its randomised labels.
type Guarantee struct {
	Epsilon, Delta float64 // of the noise
	Mu             float64 // of the noise: sensitivity over standard deviation
	Labels         float64 // pure epsilon of the labels of all rows that change, 0 for none
	Relation       sensitivity.Relation
	Records        int     // rows that may change together, 0 for one
	RealMu         float64 // mu between two real records
}

// Promised reads a release.
func Promised(ctx context.Context, r *release.Release) Guarantee {
	relation, _ := sensitivity.RelationByName(r.Sensitivity.Relation) // the release was checked
	realMu, err := privatemail.BetweenRecords(ctx, r)
	if err != nil {
		realMu = 2 * r.Privacy.Mu // the null record lies between the two
	}
	g := Guarantee{
		Epsilon: r.Privacy.Epsilon, Delta: r.Privacy.Delta, Mu: r.Privacy.Mu,
		Relation: relation, Records: r.Sensitivity.Records, RealMu: realMu,
	}
	if r.Labels.Mode == release.ModeRandomised {
		g.Labels = mechanism.LabelEpsilon(r.Labels.Epsilon, g.Records)
	}
	return g
}

// Total is the epsilon of noise and labels together.
func (g Guarantee) Total() float64 { return g.Epsilon + g.Labels }

// Exceeded is the probability that the odds rise by more than e^total, in favour of the
// data that were there. Labels raise them by e^labels at most, so it is at most that of
// the noise alone and its epsilon.
func (g Guarantee) Exceeded() float64 { return lossTail(g.Mu, g.Epsilon) }

// odds is the factor by which the odds rise at most, except with probability delta.
func (g Guarantee) odds() float64 { return math.Exp(lossAt(g.Mu, g.Delta) + g.Labels) }

// real is the epsilon between two real records at the same delta, and whether it is
// another than total.
func (g Guarantee) real() (epsilon float64, another bool) {
	if g.Relation.Real() == g.Relation {
		return g.Total(), false
	}
	epsilon, err := mechanism.EpsilonAt(g.RealMu, g.Delta)
	if err != nil {
		epsilon = math.Inf(1)
	}
	return epsilon + g.Labels, true
}

// neighbours says what P and P' are the probabilities of.
func (g Guarantee) neighbours() string {
	several := g.Records > 1
	switch {
	case g.Relation == sensitivity.Null:
		return "P with a row and its label, P' with the zero row and label 0 in its place"
	case g.Relation == sensitivity.FeaturesNull:
		return "P with the features of a row, P' with zeros in their place, the label as it is"
	case g.Relation == sensitivity.FeaturesReplace && several:
		return fmt.Sprintf("P with the features of %d rows, P' with any others in their place, the labels as they are", g.Records)
	case g.Relation == sensitivity.FeaturesReplace:
		return "P with the features of a row, P' with any others in their place, the label as it is"
	case several:
		return fmt.Sprintf("P with %d rows and their labels, P' with any others in their place", g.Records)
	}
	return "P with a row and its label, P' with any others in their place"
}

// OddsReport is what -json says of the odds.
type OddsReport struct {
	// OddsExceed is the probability that the odds, in favour of the data that were
	// there, rise by more than e^epsilon_total.
	OddsExceed float64 `json:"odds_exceed"`
	// OddsAtDelta is the factor they rise by at most, except with probability delta.
	OddsAtDelta jsonform.Number `json:"odds_at_delta"`
	// EpsilonRecords is that between two real records, at delta.
	EpsilonRecords jsonform.Number `json:"epsilon_records"`
}

func (g Guarantee) Report() OddsReport {
	epsilon, _ := g.real()
	return OddsReport{g.Exceeded(), jsonform.Number(g.odds()), jsonform.Number(epsilon)}
}

// inequality is (epsilon, delta)-privacy as a formula.
func (g Guarantee) inequality() string {
	return fmt.Sprintf("P[S] <= %s P'[S] + %g", AtMost(math.Exp(g.Total()), 4), g.Delta)
}

// Write prints the numbers for a person; docs/privacy.md has the formulas.
func (g Guarantee) Write(w io.Writer) {
	fmt.Fprintf(w, "means\t%s and P'[S] <= %s P[S] + %g for every set S of outcomes\n", g.inequality(), AtMost(math.Exp(g.Total()), 4), g.Delta)
	fmt.Fprintf(w, "\t%s\n", g.neighbours())
	fmt.Fprintf(w, "odds\tfor the data that were there rise by more than x %s with probability %s at most\n", AtMost(math.Exp(g.Total()), 4), AtMost(g.Exceeded(), 2))
	fmt.Fprintf(w, "\tand by at most x %s except with probability %g\n", AtMost(g.odds(), 4), g.Delta)
	g.WriteReal(w)
}

// WriteReal prints the guarantee between two real records where it is another.
func (g Guarantee) WriteReal(w io.Writer) {
	if epsilon, another := g.real(); another {
		fmt.Fprintf(w, "records\tbetween two real records the guarantee is epsilon %s, delta %g\n", AtMost(epsilon, 4), g.Delta)
	}
}

// AtMost formats a bound from above, x >= 0, rounded up to a number of digits.
func AtMost(x float64, digits int) string {
	text := strconv.FormatFloat(x, 'g', digits, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown >= x || math.IsInf(x, 0) {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-float64(digits-1))
	return strconv.FormatFloat(x+unit, 'g', digits, 64)
}
