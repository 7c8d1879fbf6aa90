package settings

import (
	"flag"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Price has the flags for the guarantee of a release.
type Price struct {
	Epsilon, Delta float64
	relation, rule string
}

func (f *Price) Define(fs *flag.FlagSet) {
	NumberVar(fs, &f.Epsilon, "epsilon", 0, Positive(), "epsilon `E` of the noise; no default\nfor one row, or for -records rows that change together")
	NumberVar(fs, &f.Delta, "delta", 0, Fraction(), "delta `D` of the guarantee; no default\nwhich is P[S] <= e^E P'[S] + D; far below 1/(number of people)")
	ChoiceVar(fs, &f.relation, "relation", sensitivity.ReplaceOne.String(), RelationNames(), "what one record may change: `R`\nis replace-one, null, features-replace or features-null")
	ChoiceVar(fs, &f.rule, "rule", mechanism.Analytic.String(), []string{mechanism.Analytic.String(), mechanism.Classical.String()}, "choose the noise by `RULE`\nanalytic, or classical for epsilon below 1")
}

func RelationNames() []string {
	return []string{sensitivity.ReplaceOne.String(), sensitivity.Null.String(), sensitivity.FeaturesReplace.String(), sensitivity.FeaturesNull.String()}
}

func (f *Price) Apply(s *privatemail.PrivateSettings) (err error) {
	s.Epsilon, s.Delta = f.Epsilon, f.Delta
	if s.Rule, err = mechanism.RuleByName(f.rule); err != nil {
		return err
	}
	s.Relation, err = sensitivity.RelationByName(f.relation)
	return err
}

// FirstStep describes the private first step: public numbers, all of them.
type FirstStep struct {
	sigma, alpha, SigmaQ, radius float64
	convention, Table, operator  string
	Columns, Classes             int
	Seed                         uint64
}

func (f *FirstStep) Define(fs *flag.FlagSet, table string) {
	NumberVar(fs, &f.sigma, "sigma", 0, Positive(), "bandwidth `S` of the Gaussian weights; required")
	conventionVar(fs, &f.convention)
	NumberVar(fs, &f.alpha, "alpha", 0, AnyNumber(), "coefficient `A` of the label term\nnegative numbers attract (default: no label term)")
	ChoiceVar(fs, &f.Table, "table", table, tableNames(), "weights between labels: `T`\nis equal, different or gaussian; balanced and centred depend on the data and are refused")
	cli.CountVar(fs, &f.Columns, "dim", 2, "`K` columns of the random start and of the release")
	NumberVar(fs, &f.SigmaQ, "sigma-q", 1e-8, Positive(), "standard deviation `SQ` of the random start")
	SeedVar(fs, &f.Seed, "seed `Q` of the random start, which is public")
	ChoiceVar(fs, &f.operator, "operator", "", []string{"dense", "poly", "background", "csr"}, "feature weights: `NAME` is dense, poly or background\ndense is exact, poly is a polynomial for wide bandwidths, background is constant beyond -radius; csr is truncated and refused, since there is no bound for it (default: by the number of rows and sigma)")
	NumberVar(fs, &f.radius, "radius", 0, Positive(), "cut the weights at distance `R`\nonly for the operator background (default: where a weight is 0.001)")
}

// NotPrivate are flags of embed that a private first step cannot have.
func NotPrivate() map[string]string {
	return map[string]string{
		"mean-neighbours": "it would find the bandwidth from the private rows, and disclose something about them; give a public one with -sigma S",
		"cutoff-weight":   "how many weights it leaves depends on the private rows; -operator background -radius R cuts at a public distance",
		"steps":           "a release is the first step alone; 'privatemail continue RELEASE -steps T' takes the others, at no further cost",
		"beta":            "no bound is proved for what one row changes in that form; -alpha A is the label term of private steps, and a negative A attracts",
		"checkpoint":      "a release is one step, and nothing of it may be in a file before it has its noise",
		"resume":          "a release is one step, and nothing of it may be in a file before it has its noise",
	}
}

// PublicClasses is the number of classes that is published when none is given:
// a constant, since the number in the data would disclose something about it.
const PublicClasses = 1 << 16

func (f *FirstStep) Apply(s *privatemail.PrivateSettings) error {
	if f.sigma == 0 {
		return cli.Usagef("the bandwidth is missing: give -sigma S; it has to be public, so it cannot be found from private rows")
	}
	s.Bandwidth, s.Alpha, s.Table = bandwidth(f.convention, f.sigma), f.alpha, f.Table
	s.Dim, s.SigmaQ, s.Seed, s.Classes = f.Columns, f.SigmaQ, f.Seed, f.Classes
	s.Operator, s.Radius = f.operator, f.radius
	return nil
}
