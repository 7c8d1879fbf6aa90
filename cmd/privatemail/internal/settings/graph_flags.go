package settings

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

// Work has the flags for processors and memory.
type Work struct {
	Workers   int
	MaxMemory int64
}

func (f *Work) Define(fs *flag.FlagSet) {
	cli.CountVar(fs, &f.Workers, "workers", 0, "use `W` worker goroutines\nof each rank where mpirun starts several; the result does not depend on it (default: one per processor)")
	SizeVar(fs, &f.MaxMemory, "max-memory", MemoryUsage())
}

func MemoryUsage() string {
	return "use at most `BYTES` of memory, such as 512M or 2GiB\nfor what is built; files that must be converted come on top (default: three quarters of what is available)"
}

// Graph has the flags that describe the graph of the features.
type Graph struct {
	Sigma, MeanNeighbours, CutoffWeight, tolerance float64
	neighbours                                     int
	convention, Operator, isolated                 string
	Standardize, NormalizeRows                     bool
}

// Define is for verbs that read features. Their graph may be that of nearest neighbours.
func (f *Graph) Define(fs *flag.FlagSet, otherwise string) {
	f.DefineWeights(fs, otherwise)
	cli.CountVar(fs, &f.neighbours, "neighbours", 0, "connect every row with its `N` nearest rows\nand find a bandwidth for each row (default of form spectral: 10)")
	fs.BoolVar(&f.Standardize, "standardize", false, "give all feature columns the same spread first\nsubtract the mean of each column and divide by its standard deviation, so that columns count alike whatever their units are")
	fs.BoolVar(&f.NormalizeRows, "normalize-rows", false, "divide every feature row by its norm first\nafter -standardize")
}

// DefineWeights is for all verbs with a graph.
func (f *Graph) DefineWeights(fs *flag.FlagSet, otherwise string) {
	NumberVar(fs, &f.Sigma, "sigma", 0, Positive(), "bandwidth `S` of the Gaussian weights\n"+otherwise)
	NumberVar(fs, &f.MeanNeighbours, "mean-neighbours", 0, Positive(), "find the bandwidth that gives rows `G` neighbours on average\nwith a weight of -cutoff-weight or more")
	conventionVar(fs, &f.convention)
	NumberVar(fs, &f.CutoffWeight, "cutoff-weight", 0, Fraction(), "cut the graph where a weight falls below `W`\n(default: 0.001 with -mean-neighbours; with -sigma by -tolerance)")
	NumberVar(fs, &f.tolerance, "tolerance", 1e-4, Fraction(), "target error `T` of a row's weights relative to their sum")
	ChoiceVar(fs, &f.Operator, "operator", "", kernel.OperatorNames(), "use the operator `NAME`\n"+strings.Join(kernel.OperatorNames(), " or ")+" (default: the one that 'privatemail embed -plan' marks)")
	ChoiceVar(fs, &f.isolated, "isolated", kernel.Keep.String(), isolatedNames(), "rows without neighbours: `WHAT`\nis keep, repair or fail")
}

func isolatedNames() []string {
	return []string{kernel.Keep.String(), kernel.Repair.String(), kernel.Fail.String()}
}

func conventionVar(fs *flag.FlagSet, p *string) {
	ChoiceVar(fs, p, "convention", "appendix", []string{"appendix", "main-text", "program"}, "what sigma means: `C` is appendix, main-text or program\nthe weight is exp(-d^2/(2 S^2)) for appendix, exp(-d^2/S) for main-text, exp(-d^2/S^2) for program")
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

// Need refuses a missing bandwidth, where the form has no default.
func (f *Graph) Need(set map[string]bool, form string) error {
	if form != Spectral && !set["sigma"] && !set["mean-neighbours"] && !set["neighbours"] {
		return cli.Usagef("the bandwidth is missing: give -sigma S, or -mean-neighbours G to have it found by a mean number of neighbours (-mean-neighbours 20 is a good start), or -neighbours N")
	}
	return nil
}

// Check refuses flags that contradict each other.
func (f *Graph) Check(set map[string]bool) error {
	switch {
	case set["sigma"] && set["mean-neighbours"]:
		return cli.Usagef("-sigma and -mean-neighbours exclude each other: give the bandwidth, or the mean number of neighbours to find it by")
	case set["neighbours"] && (set["sigma"] || set["mean-neighbours"]):
		return cli.Usagef("-neighbours excludes -sigma and -mean-neighbours: it finds a bandwidth for each row")
	case set["neighbours"] && (set["cutoff-weight"] || set["tolerance"]):
		return cli.Usagef("-neighbours excludes -cutoff-weight and -tolerance: the graph has the nearest rows and no others")
	case set["neighbours"] && f.Operator != "" && f.Operator != "csr":
		return cli.Usagef("-operator %s cannot have the graph of -neighbours: leave it out, or choose csr", f.Operator)
	case !kernel.Truncates(f.Operator) && set["cutoff-weight"] && !set["mean-neighbours"]:
		return cli.Usagef("-operator %s does not cut and -cutoff-weight cuts the graph: leave out one of them", f.Operator)
	case set["convention"] && !set["sigma"] && !set["label-sigma"]:
		return cli.Usagef("-convention says what -sigma means: give -sigma, or leave it out")
	}
	return nil
}

func (f *Graph) Apply(s *privatemail.Graph) (err error) {
	switch {
	case f.neighbours > 0:
		s.Neighbours = f.neighbours
	case f.MeanNeighbours > 0:
		s.MeanNeighbours = f.MeanNeighbours
	case f.Sigma > 0:
		s.Bandwidth = bandwidth(f.convention, f.Sigma)
	}
	s.CutoffWeight, s.Tolerance, s.Operator = f.CutoffWeight, f.tolerance, f.Operator
	s.Standardize, s.NormalizeRows = f.Standardize, f.NormalizeRows
	s.Isolated, err = kernel.IsolatedByName(f.isolated)
	return err
}

// Asked returns the flag that asked for a cut graph, empty where none did.
func (f *Graph) Asked() string {
	switch {
	case f.neighbours > 0:
		return fmt.Sprintf("-neighbours %d", f.neighbours)
	case f.MeanNeighbours > 0:
		return fmt.Sprintf("-mean-neighbours %g", f.MeanNeighbours)
	case f.CutoffWeight > 0:
		return fmt.Sprintf("-cutoff-weight %g", f.CutoffWeight)
	}
	return ""
}

// ShowStandardized adds that columns were standardized, if they were.
func (f *Graph) ShowStandardized(w io.Writer) {
	if f.Standardize {
		fmt.Fprintf(w, "features\tcolumns less their means, divided by their standard deviations\n")
	}
}

// Warn notes where a graph is not quite what was asked for: another number
// of neighbours, or rows that miss the tolerance. A graph that was to be cut
// has no tolerance to miss.
func (f *Graph) Warn(e *cli.Env, g *iterate.Graph) {
	if f.MeanNeighbours > 0 {
		more := ", or -sigma"
		if f.isolated == kernel.Repair.String() {
			more += "; -isolated repair adds neighbours, too"
		}
		NoteMeanNeighbours(e, g, f.MeanNeighbours, more)
	}
	f.noteIsolated(e, g)
	if f.MeanNeighbours > 0 || f.CutoffWeight > 0 || g.Neighbours > 0 || g.Operator == "dense" {
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
		e.Note("%d of %d rows miss -tolerance %g, the worst by an error of %.2g; -isolated repair repairs them, -operator dense has every pair", missed, len(c.Row), f.tolerance, c.RowMax)
	}
}

// noteIsolated notes rows without neighbours, and which flag helps.
func (f *Graph) noteIsolated(e *cli.Env, g *iterate.Graph) {
	isolated, n := g.Certificate.Isolated, len(g.Certificate.Row)
	switch {
	case isolated == 0:
	case f.isolated == kernel.Repair.String():
		e.Note("%d of %d rows have no neighbours after the repair: the nearest are so far away that their weights are below 1e-38; a larger -mean-neighbours or -sigma connects them, and so does -neighbours", isolated, n)
	default:
		e.Note("%d of %d rows have no neighbours, and nothing moves them: -isolated repair connects them; so does a larger -mean-neighbours or -sigma", isolated, n)
	}
}

// NoteMeanNeighbours notes a graph with another number of neighbours than was asked for;
// more is what to try besides another -mean-neighbours.
func NoteMeanNeighbours(e *cli.Env, g *iterate.Graph, asked float64, more string) {
	if math.Abs(g.MeanNeighbours-asked) > 0.1*asked {
		e.Note("rows have %.4g neighbours on average, not %g: the bandwidth comes from a sample, and few distances may separate few neighbours from many; try another -mean-neighbours%s", g.MeanNeighbours, asked, more)
	}
}

// Size has the flags of the step that its cost depends on.
type Size struct {
	beta    float64
	columns int
	steps   int
}

func (f *Size) Define(fs *flag.FlagSet) {
	NumberVar(fs, &f.beta, "beta", 0, notNegative(), "pull rows of a class together with strength `B`; try 3\nForm attract, which starts at the feature rows. Do not cross-validate on the result: its rows have seen their labels")
	cli.CountVar(fs, &f.columns, "dim", 2, "`K` columns, of forms spectral and paper")
	cli.CountVar(fs, &f.steps, "steps", 0, "number of steps `T`\n(default: 5; 1 with -beta)")
}

func (f *Size) Apply(s *privatemail.Settings, set map[string]bool) {
	if set["beta"] {
		s.Form, s.Coefficient = kernel.Attract, f.beta
	}
	s.Dim, s.Steps = f.columns, f.steps
}

// Run has the flags for what happens between steps.
type Run struct {
	Stop      float64
	Normalize string
}

func (f *Run) Define(fs *flag.FlagSet) {
	NumberVar(fs, &f.Stop, "stop", 0, notNegative(), "stop when the relative change of a step is at most `T`\n(default: take all steps)")
	ChoiceVar(fs, &f.Normalize, "normalize", iterate.None.String(), normalizeNames(), "after each step: none, frobenius or centred\n`HOW` is one of these words")
}

// Step has the other flags of the step.
type Step struct {
	Run
	alpha, labelSigma, sigmaQ float64
	seed                      uint64
	table                     string
}

func (f *Step) Define(fs *flag.FlagSet) {
	NumberVar(fs, &f.alpha, "alpha", 0, AnyNumber(), "form paper: coefficient `A` of the label term\nThe start is random (default: no label term)")
	NumberVar(fs, &f.sigmaQ, "sigma-q", 1e-8, Positive(), "form paper: standard deviation `SQ` of the random start")
	SeedVar(fs, &f.seed, "form paper: seed `Q` of the random start")
	ChoiceVar(fs, &f.table, "table", "", tableNames(), "weights between labels: `T`\nis equal, different, balanced, gaussian or centred (default: equal; balanced with -beta)")
	NumberVar(fs, &f.labelSigma, "label-sigma", 0, Positive(), "bandwidth `S` of the gaussian table\n(default: that of -sigma)")
	f.Run.Define(fs)
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
		{"beta", "dim", start}, {"beta", "sigma-q", start}, {"beta", "seed", start},
	}
}

// Check refuses flags that contradict each other or say nothing.
func (f *Step) Check(set map[string]bool) error {
	if err := checkConflicts(set, attractConflicts()); err != nil {
		return err
	}
	switch {
	case set["label-sigma"] && f.table != "gaussian":
		return cli.Usagef("-label-sigma belongs to -table gaussian: add that, or leave it out")
	case f.table == "gaussian" && !set["label-sigma"] && !set["sigma"]:
		return cli.Usagef("-table gaussian needs -label-sigma S when the bandwidth of the features is found by -mean-neighbours")
	case f.table == "centred" && set["beta"]:
		return cli.Usagef("-table centred has negative weights, which -beta cannot use: choose another table, or -alpha")
	case set["table"] && !set["alpha"] && !set["beta"]:
		return cli.Usagef("-table is about labels: add -beta B or -alpha A to use them")
	}
	return nil
}

func (f *Step) Apply(s *privatemail.Settings, g *Graph, set map[string]bool) error {
	if set["alpha"] {
		s.Coefficient = f.alpha
	}
	s.SigmaQ, s.Seed, s.StopTolerance, s.AllowUnlabelled = f.sigmaQ, f.seed, f.Stop, true
	var err error
	if s.Normalize, err = iterate.NormalizationByName(f.Normalize); err != nil {
		return err
	}
	if f.table == "" {
		return nil // the engine's default, which depends on the form
	}
	sigma := f.labelSigma
	if sigma == 0 {
		sigma = g.Sigma
	}
	s.Table, err = kernel.TableByName(f.table, bandwidth(g.convention, sigma))
	return err
}
