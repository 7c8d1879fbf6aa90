// Package sensitivity is the verb sensitivity: it says how much noise a private first step needs.
package sensitivity

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/privatize"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "sensitivity",
		Summary:  "show what noise a private first step needs; no data",
		Synopsis: []string{"-n N -sigma S [-dim K] [-alpha A] [-classes C] [-relation R] [-epsilon E -delta D] [FLAGS]"},
		About: `
Prints how much one record can change the first step (its sensitivity, Delta)
and the noise that hides the change. It reads no data: everything printed
follows from the flags, which are public numbers. Bounds:

  tight      the bound that releases are calibrated to (Theorem 1 and variants)
  corrected  the constant of the paper, repaired (for the relation null)
  paper      the published constant, for comparison; never used for noise`,
		More: `
N counts all rows, C all classes. The random start is the one drawn from -seed.

Relations: replace-one hides which record it was, label included; null hides whether a record is
there or an empty one; features-replace and features-null are the same for records whose label is
public.`,
		Examples: []string{
			"privatemail sensitivity -n 1001 -dim 2 -sigma 6 -alpha 0.6 -classes 98 -epsilon 0.1 -delta 1e-5",
			"privatemail sensitivity -n 1001 -sigma 6 -alpha 0.6 -classes 98 -relation features-replace -epsilon 1 -delta 1e-6 -json",
		},
		Common:  []string{"n", "sigma", "alpha", "dim", "d", "classes", "table", "relation", "operator", "epsilon", "delta", "rule", "seed", "json"},
		Prints:  cli.PrintsJSON,
		Without: settings.NotPrivate(),
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(sensitivityFlags)
			f.Define(fs)
			return f.Run
		},
	}
}

type sensitivityFlags struct {
	price  settings.Price
	step   settings.FirstStep
	n, dim int
}

func (f *sensitivityFlags) Define(fs *flag.FlagSet) {
	f.price.Define(fs)
	f.step.Define(fs, "gaussian")
	cli.CountVar(fs, &f.step.Classes, "classes", settings.PublicClasses, "number of classes `C`: labels are 0 to C-1")
	cli.CountVar(fs, &f.n, "n", 0, "number of rows `N`, the private one included; required")
	cli.CountVar(fs, &f.dim, "d", 64, "dimension `D` of the features\nfor the rounding error and the order of poly")
}

func (f *sensitivityFlags) Run(ctx context.Context, e *cli.Env, names []string) error {
	switch {
	case len(names) > 0:
		return cli.Usagef("names are not wanted, got %q: no data is read", names[0])
	case f.n < 2:
		return cli.Usagef("-n N is missing or below 2: the private row and at least one more")
	case (f.price.Epsilon == 0) != (f.price.Delta == 0):
		return cli.Usagef("-epsilon and -delta go together: give both for the noise, or neither for the bounds alone")
	}
	var s privatemail.PrivateSettings
	if err := f.price.Apply(&s); err != nil {
		return err
	}
	if err := f.step.Apply(&s); err != nil {
		return err
	}
	a, err := privatemail.Sensitivity(ctx, f.n, f.dim, &s)
	if err != nil {
		return err
	}
	relations, err := f.relations(ctx, a.Tight.Query())
	if err != nil {
		return err
	}
	r, g := f.Report(a, relations)
	if e.JSON {
		return e.Object(r)
	}
	return f.show(e, r, g)
}

// relations returns the bounds of all relations, also of others than -relation.
func (f *sensitivityFlags) relations(ctx context.Context, query sensitivity.Query) (all []relationReport, err error) {
	q, err := iterate.RandomStart(ctx, f.n, f.step.Columns, f.step.Seed, f.step.SigmaQ)
	if err != nil {
		return nil, err
	}
	for _, name := range settings.RelationNames() {
		relation, err := sensitivity.RelationByName(name)
		if err != nil {
			return nil, err
		}
		bound, err := query.Tight(relation, q, sensitivity.Rows{})
		if err != nil {
			return nil, err
		}
		all = append(all, relationReport{name, bound.Exact()})
	}
	return all, nil
}

// sensitivityReport is the object of sensitivity -json.
type sensitivityReport struct {
	N              int                  `json:"n"`
	K              int                  `json:"dim"`
	Sigma          float64              `json:"sigma"` // in the convention of the appendix
	Alpha          float64              `json:"alpha"`
	Table          string               `json:"table"`
	Classes        int                  `json:"classes"`
	SigmaQ         float64              `json:"sigma_q"`
	Seed           uint64               `json:"seed"`
	Operator       string               `json:"operator"`
	Computed       string               `json:"computed"` // how, which makes the operator error
	Relation       string               `json:"relation"`
	Tight          tightReport          `json:"tight"`
	Relations      []relationReport     `json:"relations"`
	Corrected      *correctedReport     `json:"corrected"` // null where its proof does not reach
	Paper          paperReport          `json:"paper"`
	Epsilon        *float64             `json:"epsilon"`
	Delta          *float64             `json:"delta"`
	EToEpsilon     *jsonform.Number     `json:"e_to_epsilon"`
	Odds           *accounts.OddsReport `json:"odds"`
	Total          *float64             `json:"sensitivity_total"` // what the noise is calibrated to
	SigmaAnalytic  *float64             `json:"sigma_analytic"`    // standard deviation of an entry
	SigmaClassical *float64             `json:"sigma_classical"`   // null from epsilon 1
	Mu             *float64             `json:"mu"`
	Rho            *float64             `json:"rho"`
	SignalRMS      float64              `json:"signal_rms"`
	NoiseToSignal  *float64             `json:"noise_to_signal"`
	Cautions       []accounts.Caution   `json:"cautions"`
}

type tightReport struct {
	Delta         float64  `json:"delta"`
	OperatorError float64  `json:"operator_error"`
	Derivation    string   `json:"derivation"`
	Assumptions   []string `json:"assumptions"`
}

type relationReport struct {
	Relation string  `json:"relation"`
	Delta    float64 `json:"delta"`
}

type correctedReport struct {
	M        float64 `json:"M"`
	Delta    float64 `json:"delta"`
	Spectral float64 `json:"delta_spectral"`
	Relation string  `json:"relation"`
}

type paperReport struct {
	MII   *float64 `json:"M_ii"`
	MIJ   *float64 `json:"M_ij"`
	M     *float64 `json:"M"`
	Delta *float64 `json:"delta"`
	// Valid is about calibration, and always false. Proved says whether the
	// paper's argument implies its number here.
	Valid  bool   `json:"valid"`
	Proved bool   `json:"proved"`
	Why    string `json:"why"`
}

func (f *sensitivityFlags) Report(a *privatemail.Assessment, relations []relationReport) (*sensitivityReport, accounts.Guarantee) {
	q := a.Tight.Query()
	operator := q.Operator.String() // with the radius of background
	if _, ok := q.Operator.(sensitivity.Full); ok {
		operator = a.Operator
	}
	r := &sensitivityReport{
		N: f.n, K: f.step.Columns, Sigma: q.Sigma, Alpha: q.Alpha, Table: f.step.Table, Classes: f.step.Classes,
		SigmaQ: f.step.SigmaQ, Seed: f.step.Seed, Operator: operator, Computed: a.Computed, Relation: a.Tight.Relation().String(),
		Tight: tightReport{Delta: a.Tight.Exact(), OperatorError: a.Tight.Eta(), Derivation: string(a.Tight.Derivation())},
		Paper: reportPaper(a), SignalRMS: a.Signal, Relations: relations,
	}
	r.Tight.Assumptions = a.Tight.Assumptions()
	if c := a.Corrected; c != nil {
		r.Corrected = &correctedReport{M: c.M, Delta: c.Frobenius, Spectral: c.Value(), Relation: c.Relation().String()}
	}
	at := accounts.Stake{Guarantee: accounts.Guarantee{Epsilon: f.price.Epsilon, Delta: f.price.Delta, Relation: a.Tight.Relation()}, Signal: a.Signal, Rows: f.n}
	if a.Calibration != nil {
		at.Mu, at.RealMu = a.Calibration.Mu(), realMu(a, relations)
		at.Noise = a.Calibration.Sigma()
		r.addNoise(a, f.price, at.Guarantee)
	}
	r.Cautions = at.Cautions()
	return r, at.Guarantee
}

// realMu returns mu between two real records.
func realMu(a *privatemail.Assessment, relations []relationReport) float64 {
	c := a.Calibration
	mu := c.Mu()
	for _, o := range relations {
		if o.Relation == a.Tight.Relation().Real().String() {
			return privatize.MuBetween(*c, o.Delta)
		}
	}
	return mu
}

// addNoise fills in what follows from a price: the noise by both rules, and what it is
// worth.
func (r *sensitivityReport) addNoise(a *privatemail.Assessment, price settings.Price, g accounts.Guarantee) {
	c := a.Calibration
	total, sigma, mu, rho := c.L2Sensitivity(), c.Sigma(), c.Mu(), c.Rho()
	odds := jsonform.Number(math.Exp(price.Epsilon))
	r.Epsilon, r.Delta, r.EToEpsilon = &price.Epsilon, &price.Delta, &odds
	r.Total, r.Mu, r.Rho = &total, &mu, &rho
	moved := g.Report()
	r.Odds = &moved
	if c.Rule() == mechanism.Analytic {
		r.SigmaAnalytic = &sigma
	} else if multiplier, err := mechanism.Analytic.Multiplier(price.Epsilon, price.Delta); err == nil {
		analytic := multiplier * total
		r.SigmaAnalytic = &analytic
	}
	if multiplier, err := mechanism.Classical.Multiplier(price.Epsilon, price.Delta); err == nil {
		classical := multiplier * total
		r.SigmaClassical = &classical
	}
	if a.Signal > 0 {
		ratio := sigma / a.Signal
		r.NoiseToSignal = &ratio
	}
}

func reportPaper(a *privatemail.Assessment) paperReport {
	p := a.Paper
	if p == nil {
		return paperReport{Why: text.Plain(a.PaperError.Error())}
	}
	why := "its argument is repaired by the corrected constant; the tight one is smaller"
	switch {
	case p.RootMissing && p.NegativeDegree:
		why = "it leaves out a square root (M < 1) and subtracts the square of a negative bound"
	case p.RootMissing:
		why = "it leaves out a square root (M < 1)"
	case p.NegativeDegree:
		why = "it subtracts the square of a negative bound"
	}
	return paperReport{MII: &p.MII, MIJ: &p.MIJ, M: &p.M, Delta: &p.Delta, Proved: p.Proved(), Why: why}
}

// show explains the numbers in words.
func (f *sensitivityFlags) show(e *cli.Env, r *sensitivityReport, g accounts.Guarantee) error {
	fmt.Fprintf(e.Stdout, "One record among %d can change the first step (k = %d, sigma %.4g, alpha %g, %s table of %d classes, operator %s)\nby at most (the root of the sum of squares over all entries):\n\n",
		r.N, r.K, r.Sigma, r.Alpha, r.Table, r.Classes, r.Operator)
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "tight\t%s\trelation %s, %s; this is what noise is calibrated to\n", accounts.AtMost(r.Tight.Delta, 5), r.Relation, r.Tight.Derivation)
	for _, o := range r.Relations {
		if o.Relation != r.Relation {
			fmt.Fprintf(t, "\t%s\trelation %s\n", accounts.AtMost(o.Delta, 5), o.Relation)
		}
	}
	if c := r.Corrected; c != nil {
		fmt.Fprintf(t, "corrected\t%s\trelation %s; the paper's constant with its errors repaired, M = %.5g\n", accounts.AtMost(c.Delta, 5), c.Relation, c.M)
	}
	if p := r.Paper; p.Delta != nil {
		fmt.Fprintf(t, "paper\t%.5g\tM = %.5g; not valid for calibration: %s\n", *p.Delta, *p.M, p.Why)
	} else {
		fmt.Fprintf(t, "paper\tundefined\t%s\n", p.Why)
	}
	fmt.Fprintf(t, "error\t%s\thow far the computed step may be from the exact one: %s; counted twice\n", accounts.AtMost(r.Tight.OperatorError, 3), r.Computed)
	t.Flush()
	if r.Epsilon != nil {
		fmt.Fprintf(e.Stdout, "\nFor epsilon %g and delta %g:\n\n", *r.Epsilon, *r.Delta)
		t = report.Facts(e.Stdout)
		if r.SigmaAnalytic != nil {
			fmt.Fprintf(t, "noise\t%.5g\tstandard deviation of an entry, analytic rule, for a total sensitivity of %s\n", *r.SigmaAnalytic, accounts.AtMost(*r.Total, 5))
		}
		if r.SigmaClassical != nil {
			fmt.Fprintf(t, "\t%.5g\tby the classical rule\n", *r.SigmaClassical)
		} else {
			fmt.Fprintf(t, "\trefused\tby the classical rule, which is proved for epsilon below 1 only\n")
		}
		fmt.Fprintf(t, "signal\t%.5g\ta typical entry of the first step\n", r.SignalRMS)
		if r.NoiseToSignal != nil {
			fmt.Fprintf(t, "ratio\t%.4g\tnoise to signal\n", *r.NoiseToSignal)
		}
		fmt.Fprintf(t, "worth\t%.5g\trho (zCDP); mu %.5g (Gaussian DP)\n", *r.Rho, *r.Mu)
		t.Flush()
		fmt.Fprintln(e.Stdout)
		t = report.Facts(e.Stdout)
		g.Write(t)
		t.Flush()
	}
	fmt.Fprintln(e.Stdout)
	for _, c := range r.Cautions {
		fmt.Fprintf(e.Stdout, "- %s\n", strings.Join(text.Wrap(c.Text, 90), "\n  "))
	}
	return nil
}
