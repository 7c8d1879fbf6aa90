package main

import (
	"flag"
	"fmt"
	"io"
	"math"
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
	cli.CountVar(fs, &f.workers, "workers", 0, "use `W` worker goroutines, of each rank where mpirun starts several; the result does not depend on it (default: one per processor)")
	sizeVar(fs, &f.budget, "budget", budgetUsage())
}

func budgetUsage() string {
	return "take at most `BYTES` of memory for what is built, such as 512M or 2GiB; files that must be converted come on top (default: three quarters of what is available)"
}

// graphFlags describe the graph of the features.
type graphFlags struct {
	sigma, degree, cutoffWeight, tolerance float64
	neighbours                             int
	convention, operator, isolated         string
	standardize, normalizeRows             bool
}

// define is for verbs that read features. Their graph may be that of nearest neighbours.
func (f *graphFlags) define(fs *flag.FlagSet, otherwise string) {
	f.defineWeights(fs, otherwise)
	cli.CountVar(fs, &f.neighbours, "neighbours", 0, "connect every row with its `N` nearest rows, with a bandwidth of its own for each row (default of form spectral: 10)")
	fs.BoolVar(&f.standardize, "standardize", false, "subtract its mean from every feature column and divide it by its standard deviation first, so that columns count alike whatever their units are")
	fs.BoolVar(&f.normalizeRows, "normalize-rows", false, "divide every feature row by its norm first, after -standardize")
}

// defineWeights is for all verbs with a graph.
func (f *graphFlags) defineWeights(fs *flag.FlagSet, otherwise string) {
	numberVar(fs, &f.sigma, "sigma", 0, positive(), "bandwidth `S` of the Gaussian weights"+otherwise)
	numberVar(fs, &f.degree, "degree", 0, positive(), "find the bandwidth at which rows have `G` neighbours on average, of -cutoff-weight or more")
	conventionVar(fs, &f.convention)
	numberVar(fs, &f.cutoffWeight, "cutoff-weight", 0, fraction(), "cut the graph where a weight falls below `W` (default: 0.001 with -degree; with -sigma by -tolerance)")
	numberVar(fs, &f.tolerance, "tolerance", 1e-4, fraction(), "wanted error `T` of a row's weights relative to their sum")
	choiceVar(fs, &f.operator, "operator", "", kernel.OperatorNames(), "force the operator `NAME`: "+strings.Join(kernel.OperatorNames(), " or ")+" (default: the one 'plan' picks)")
	choiceVar(fs, &f.isolated, "isolated", kernel.Keep.String(), isolatedNames(), "rows without neighbours: `WHAT` is keep, repair or fail")
}

func isolatedNames() []string {
	return []string{kernel.Keep.String(), kernel.Repair.String(), kernel.Fail.String()}
}

func conventionVar(fs *flag.FlagSet, p *string) {
	choiceVar(fs, p, "convention", "appendix", []string{"appendix", "main-text", "program"}, "meaning of sigma: `C` is appendix exp(-d^2/(2 S^2)), main-text exp(-d^2/S) or program exp(-d^2/S^2)")
}

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

// need is for verbs that have no bandwidth of their own.
func (f *graphFlags) need(set map[string]bool, form string) error {
	if form != spectral && !set["sigma"] && !set["degree"] && !set["neighbours"] {
		return cli.Usagef("the bandwidth is missing: give -sigma S, or -degree G to have it found by a mean number of neighbours (-degree 20 is a good start), or -neighbours N")
	}
	return nil
}

// check refuses flags that contradict each other.
func (f *graphFlags) check(set map[string]bool) error {
	switch {
	case set["sigma"] && set["degree"]:
		return cli.Usagef("-sigma and -degree exclude each other: give the bandwidth, or the mean number of neighbours to find it by")
	case set["neighbours"] && (set["sigma"] || set["degree"]):
		return cli.Usagef("-neighbours excludes -sigma and -degree: it finds a bandwidth for each row")
	case set["neighbours"] && (set["cutoff-weight"] || set["tolerance"]):
		return cli.Usagef("-neighbours excludes -cutoff-weight and -tolerance: the graph has the nearest rows and no others")
	case set["neighbours"] && f.operator != "" && f.operator != "csr":
		return cli.Usagef("-operator %s cannot have the graph of -neighbours: leave it out, or choose csr", f.operator)
	case !kernel.Truncates(f.operator) && set["cutoff-weight"] && !set["degree"]:
		return cli.Usagef("-operator %s does not cut and -cutoff-weight cuts the graph: leave out one of them", f.operator)
	case set["convention"] && !set["sigma"] && !set["label-sigma"]:
		return cli.Usagef("-convention says what -sigma means: give -sigma, or leave it out")
	}
	return nil
}

func (f *graphFlags) apply(s *privatemail.Settings) (err error) {
	switch {
	case f.neighbours > 0:
		s.Neighbours = f.neighbours
	case f.degree > 0:
		s.MeanNeighbours = f.degree
	case f.sigma > 0:
		s.Bandwidth = bandwidth(f.convention, f.sigma)
	}
	s.CutoffWeight, s.Tolerance, s.Operator = f.cutoffWeight, f.tolerance, f.operator
	s.Standardize, s.NormalizeRows = f.standardize, f.normalizeRows
	s.Isolated, err = kernel.IsolatedByName(f.isolated)
	return err
}

// asked returns the flag that asked for a cut graph, empty where none did.
func (f *graphFlags) asked() string {
	switch {
	case f.neighbours > 0:
		return fmt.Sprintf("-neighbours %d", f.neighbours)
	case f.degree > 0:
		return fmt.Sprintf("-degree %g", f.degree)
	case f.cutoffWeight > 0:
		return fmt.Sprintf("-cutoff-weight %g", f.cutoffWeight)
	}
	return ""
}

// showStandardized adds that columns were standardized, if they were.
func (f *graphFlags) showStandardized(w io.Writer) {
	if f.standardize {
		fmt.Fprintf(w, "features\tcolumns less their means, divided by their standard deviations\n")
	}
}

// warn tells about a graph that is not quite what was asked for: another number
// of neighbours, or rows that miss the tolerance. A graph that was to be cut
// has no tolerance to miss.
func (f *graphFlags) warn(e *cli.Env, g *iterate.Graph) {
	if f.degree > 0 {
		more := ", or -sigma"
		if f.isolated == kernel.Repair.String() {
			more += "; -isolated repair adds neighbours, too"
		}
		noteDegree(e, g, f.degree, more)
	}
	f.noteIsolated(e, g)
	if f.degree > 0 || f.cutoffWeight > 0 || g.Neighbours > 0 || g.Operator == "dense" {
		return
	}
	c := &g.Certificate
	missed := 0
	for _, eta := range c.Row {
		if float64(eta) > f.tolerance {
			missed++
		}
	}
	if missed > 0 {
		e.Note("%d of %d rows miss -tolerance %g, the worst by an error of %.2g; -isolated repair mends them, -operator dense has every pair", missed, len(c.Row), f.tolerance, c.RowMax)
	}
}

// noteIsolated tells of rows without neighbours, and which flag helps.
func (f *graphFlags) noteIsolated(e *cli.Env, g *iterate.Graph) {
	isolated, n := g.Certificate.Isolated, len(g.Certificate.Row)
	switch {
	case isolated == 0:
	case f.isolated == kernel.Repair.String():
		e.Note("%d of %d rows have no neighbours after the repair: the nearest are so far away that their weights are below 1e-38; a larger -degree or -sigma connects them, and so does -neighbours", isolated, n)
	default:
		e.Note("%d of %d rows have no neighbours, and nothing moves them: -isolated repair connects them, and so do a larger -degree or -sigma", isolated, n)
	}
}

// noteDegree tells about a graph with another number of neighbours than was asked for;
// more is what to try beside another -degree.
func noteDegree(e *cli.Env, g *iterate.Graph, asked float64, more string) {
	if math.Abs(g.MeanNeighbours-asked) > 0.1*asked {
		e.Note("rows have %.4g neighbours on average, not %g: the bandwidth comes from a sample, and few distances may separate few neighbours from many; try another -degree%s", g.MeanNeighbours, asked, more)
	}
}

// sizeFlags are the flags of the step that its cost depends on.
type sizeFlags struct {
	beta    float64
	columns int
	steps   int
}

func (f *sizeFlags) define(fs *flag.FlagSet) {
	numberVar(fs, &f.beta, "beta", 0, notNegative(), "form attract: pull rows of a class together with strength `B` (3 is a good start), starting at the feature rows; do not cross-validate on the result, whose rows have seen their labels")
	cli.CountVar(fs, &f.columns, "k", 2, "forms spectral and paper: `K` columns")
	cli.CountVar(fs, &f.steps, "steps", 0, "number of steps `T` (default: 5; 1 with -beta)")
}

func (f *sizeFlags) apply(s *privatemail.Settings, set map[string]bool) {
	if set["beta"] {
		s.Form, s.Coefficient = kernel.Attract, f.beta
	}
	s.Columns, s.Steps = f.columns, f.steps
}

// runFlags say what happens from step to step.
type runFlags struct {
	stop      float64
	normalize string
}

func (f *runFlags) define(fs *flag.FlagSet) {
	numberVar(fs, &f.stop, "stop", 0, notNegative(), "stop when the relative change of a step is at most `T` (default: take all steps)")
	choiceVar(fs, &f.normalize, "normalize", iterate.None.String(), normalizeNames(), "after each step: `HOW` is none, frobenius or centred")
}

// stepFlags describe the rest of the step.
type stepFlags struct {
	runFlags
	alpha, labelSigma, sigmaQ float64
	seed                      uint64
	table                     string
}

func (f *stepFlags) define(fs *flag.FlagSet) {
	numberVar(fs, &f.alpha, "alpha", 0, anyNumber(), "form paper: coefficient `A` of the label term, from a random start (default: no label term)")
	numberVar(fs, &f.sigmaQ, "sigma-q", 1e-8, positive(), "form paper: standard deviation `SQ` of the random start")
	seedVar(fs, &f.seed, "form paper: seed `Q` of the random start")
	choiceVar(fs, &f.table, "table", "", tableNames(), "weights between labels: `T` is equal, different, balanced, gaussian or centred (default: equal; balanced with -beta)")
	numberVar(fs, &f.labelSigma, "label-sigma", 0, positive(), "bandwidth `S` of the gaussian table (default: that of -sigma)")
	fs.Bool("unlabelled", true, "no longer needed: rows with the label -1 are accepted, and feel no label term")
	f.runFlags.define(fs)
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
	s.SigmaQ, s.Seed, s.StopTolerance, s.AllowUnlabelled = f.sigmaQ, f.seed, f.stop, true
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
