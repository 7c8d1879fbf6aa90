package main

import (
	"flag"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// workFlags say what the work may take.
type workFlags struct {
	workers int
	budget  int64
}

func (f *workFlags) define(fs *flag.FlagSet) {
	cli.CountVar(fs, &f.workers, "workers", 0, "use `W` worker goroutines; the result does not depend on it (default: one per processor)")
	sizeVar(fs, &f.budget, "budget", budgetUsage())
}

func budgetUsage() string {
	return "take at most `BYTES` of memory for what is built, such as 512M or 2GiB; files that must be converted come on top (default: three quarters of what is available)"
}

// graphFlags describe the graph of the features.
type graphFlags struct {
	sigma, degree, cutoffWeight, tolerance float64
	convention, operator, isolated         string
	normalizeRows                          bool
}

func (f *graphFlags) define(fs *flag.FlagSet, otherwise string) {
	numberVar(fs, &f.sigma, "sigma", 0, positive(), "bandwidth `S` of the Gaussian weights"+otherwise)
	numberVar(fs, &f.degree, "degree", 0, positive(), "find the bandwidth at which rows have `G` neighbours on average, of -cutoff-weight or more")
	choiceVar(fs, &f.convention, "convention", "appendix", conventionNames(), "meaning of sigma: `C` is appendix exp(-d^2/(2 S^2)), main-text exp(-d^2/S) or program exp(-d^2/S^2)")
	numberVar(fs, &f.cutoffWeight, "cutoff-weight", 0, fraction(), "cut the graph where a weight falls below `W` (default: 0.001 with -degree; with -sigma by -tolerance)")
	numberVar(fs, &f.tolerance, "tolerance", 1e-4, fraction(), "wanted error `T` of a row's weights relative to their sum")
	choiceVar(fs, &f.operator, "operator", "", kernel.OperatorNames(), "force the operator `NAME`: "+strings.Join(kernel.OperatorNames(), " or ")+" (default: the one 'plan' picks)")
	choiceVar(fs, &f.isolated, "isolated", kernel.Keep.String(), isolatedNames(), "rows without neighbours: `WHAT` is keep, repair or fail")
}

// defineRows is for verbs that read features.
func (f *graphFlags) defineRows(fs *flag.FlagSet) {
	fs.BoolVar(&f.normalizeRows, "normalize-rows", false, "divide every feature row by its norm first")
}

func isolatedNames() []string {
	return []string{kernel.Keep.String(), kernel.Repair.String(), kernel.Fail.String()}
}

func conventionNames() []string { return []string{"appendix", "main-text", "program"} }

// bandwidth returns what sigma means under a convention.
func bandwidth(convention string, sigma float64) kernel.Bandwidth {
	switch convention {
	case "main-text":
		return kernel.SigmaMainText(sigma)
	case "program":
		return kernel.SigmaProgram(sigma)
	}
	return kernel.Sigma(sigma)
}

// check refuses flags that contradict each other.
func (f *graphFlags) check(set map[string]bool) error {
	switch {
	case set["sigma"] && set["degree"]:
		return cli.Usagef("-sigma and -degree exclude each other: give the bandwidth, or the mean number of neighbours to find it by")
	case !set["sigma"] && !set["degree"]:
		return cli.Usagef("the bandwidth is missing: give -sigma S, or -degree G to have it found by a mean number of neighbours (-degree 20 is a good start)")
	case !kernel.Truncates(f.operator) && set["cutoff-weight"] && !set["degree"]:
		return cli.Usagef("-operator %s does not cut and -cutoff-weight cuts the graph: leave out one of them", f.operator)
	case set["convention"] && !set["sigma"] && !set["label-sigma"]:
		return cli.Usagef("-convention says what -sigma means: give -sigma, or leave it out")
	}
	return nil
}

func (f *graphFlags) apply(s *privatemail.Settings) {
	if f.degree > 0 {
		s.MeanDegree = f.degree
	} else {
		s.Bandwidth = bandwidth(f.convention, f.sigma)
	}
	s.CutoffWeight, s.Tolerance, s.Operator, s.NormalizeRows = f.cutoffWeight, f.tolerance, f.operator, f.normalizeRows
	for _, p := range []kernel.IsolatedPolicy{kernel.Keep, kernel.Repair, kernel.Fail} {
		if p.String() == f.isolated {
			s.Isolated = p
		}
	}
}

// sizeFlags are those of the step that what it costs depends on.
type sizeFlags struct {
	beta    float64
	columns int
	steps   int
}

func (f *sizeFlags) define(fs *flag.FlagSet) {
	numberVar(fs, &f.beta, "beta", 0, notNegative(), "form attract: pull rows of a class together with strength `B` (3 is a good start), starting at the feature rows")
	cli.CountVar(fs, &f.columns, "k", 2, "form paper: `K` columns of the random start, and so of the embedding")
	cli.CountVar(fs, &f.steps, "steps", 0, "number of steps `T` (default: 5; 1 with -beta)")
}

func (f *sizeFlags) apply(s *privatemail.Settings, set map[string]bool) {
	if set["beta"] {
		s.Form, s.Coefficient = kernel.Attract, f.beta
	}
	s.Columns, s.Steps = f.columns, f.steps
}

// stepFlags describe the rest of the step.
type stepFlags struct {
	alpha, labelSigma, sigmaQ, stop float64
	seed                            uint64
	table, normalize                string
	unlabelled                      bool
}

func (f *stepFlags) define(fs *flag.FlagSet) {
	numberVar(fs, &f.alpha, "alpha", 0, anyNumber(), "form paper: coefficient `A` of the label term, from a random start (default: no label term)")
	numberVar(fs, &f.sigmaQ, "sigma-q", 1e-8, positive(), "form paper: standard deviation `SQ` of the random start")
	seedVar(fs, &f.seed, "form paper: seed `Q` of the random start")
	choiceVar(fs, &f.table, "table", "", tableNames(), "weights between labels: `T` is equal, different, balanced, gaussian or centred (default: equal; balanced with -beta)")
	numberVar(fs, &f.labelSigma, "label-sigma", 0, positive(), "bandwidth `S` of the gaussian table (default: that of -sigma)")
	fs.BoolVar(&f.unlabelled, "unlabelled", false, "accept rows with the label -1, which feel no label term")
	numberVar(fs, &f.stop, "stop", 0, notNegative(), "stop when the relative change of a step is at most `T` (default: take all steps)")
	choiceVar(fs, &f.normalize, "normalize", iterate.None.String(), normalizeNames(), "after each step: `HOW` is none, frobenius or centred")
}

func tableNames() []string { return []string{"equal", "different", "balanced", "gaussian", "centred"} }

func normalizeNames() []string {
	return []string{iterate.None.String(), iterate.Frobenius.String(), iterate.Centred.String()}
}

// attractConflicts lists what -beta excludes.
func attractConflicts() []conflict {
	start := "-beta starts at the feature rows, which leaves nothing to draw; leave one out"
	return []conflict{
		{"beta", "alpha", "-beta pulls equal labels together (form attract), -alpha is the coefficient of form paper; choose one"},
		{"beta", "k", start}, {"beta", "sigma-q", start}, {"beta", "seed", start},
	}
}

// check refuses flags that contradict each other or say nothing.
func (f *stepFlags) check(set map[string]bool) error {
	if err := checkConflicts(set, attractConflicts()); err != nil {
		return err
	}
	switch {
	case set["label-sigma"] && f.table != "gaussian":
		return cli.Usagef("-label-sigma belongs to -table gaussian: add that, or leave it out")
	case f.table == "gaussian" && !set["label-sigma"] && !set["sigma"]:
		return cli.Usagef("-table gaussian needs -label-sigma S when the bandwidth of the features is found by -degree")
	case f.table == "centred" && set["beta"]:
		return cli.Usagef("-table centred has negative weights, which -beta cannot use: choose another table, or -alpha")
	case set["table"] && !set["alpha"] && !set["beta"]:
		return cli.Usagef("-table is about labels: add -beta B or -alpha A to use them")
	}
	return nil
}

func (f *stepFlags) apply(s *privatemail.Settings, g *graphFlags, set map[string]bool) error {
	if set["alpha"] {
		s.Coefficient = f.alpha
	}
	s.SigmaQ, s.Seed, s.StopTolerance, s.AllowUnlabelled = f.sigmaQ, f.seed, f.stop, f.unlabelled
	var err error
	if s.Normalize, err = iterate.NormalizationByName(f.normalize); err != nil {
		return err
	}
	if f.table == "" {
		return nil // the engine's default, which depends on the form
	}
	sigma := f.labelSigma
	if sigma == 0 {
		sigma = g.sigma
	}
	s.Table, err = kernel.TableByName(f.table, bandwidth(g.convention, sigma))
	return err
}
