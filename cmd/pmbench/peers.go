package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func peersVerb() cli.Verb {
	about := `
Builds the peers that are installed and lets them and us take turns on the same data,
first checking that the results are the same. A ratio is their time over ours, the
median of at least 5 rounds: above 1 we are faster. No ratio is given for a result
that differs. A peer that is not installed is named, and is no error.

`
	for _, s := range peerSuites() {
		about += fmt.Sprintf("  %-8s %s\n", s.name, strings.ReplaceAll(strings.TrimSpace(s.about+"\n"+s.note), "\n", "\n"+strings.Repeat(" ", 11)))
	}
	about += `
CXX and PYTHON name another compiler and interpreter.
`
	return cli.Verb{
		Name: "peers", Summary: "measure others on the same data, in the same minute",
		Synopsis: []string{"[-suite spmm,cells,wide,iterate,search] [-case PATTERN] [-count N] [-json]"},
		About:    about,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench peers", "pmbench peers -suite spmm -case 'k=8/' -count 9 -json > peers.jsonl"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(peersFlags)
			fs.StringVar(&f.suite, "suite", "spmm,cells", "the suites `NAMES`: "+strings.Join(peerSuiteNames(), ", ")+", with commas")
			fs.StringVar(&f.pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			fs.StringVar(&f.peer, "peer", "", "only peers whose name matches the regular expression `PATTERN`, whatever its case")
			cli.CountVar(fs, &f.count, "count", minRounds, "measure `N` rounds, at least 5")
			cli.CountVar(fs, &f.n, "n", defaultRows, "number of rows `N`, or the most there may be where a suite has fewer")
			fs.DurationVar(&f.slice, "slice", 150*time.Millisecond, "in a round either side repeats its operation for the `TIME`, at least once")
			fs.BoolVar(&f.noLimits, "no-limits", false, "do not measure the limits of the machine")
			return f.run
		},
	}
}

// minRounds is the least number of rounds a ratio is made of.
const minRounds = 5

// defaultRows is the number of rows unless -n says otherwise.
const defaultRows = 1_000_000

type peersFlags struct {
	suite, pattern, peer string
	count, n             int
	slice                time.Duration
	noLimits             bool
}

// A Ratio is a peer beside us, the object of peers -json.
type Ratio struct {
	Suite   string `json:"suite"`
	Case    string `json:"case"`
	N       int    `json:"n"`
	D       int    `json:"d"`
	K       int    `json:"k"`
	NNZ     int64  `json:"nnz"`
	Workers int    `json:"workers"`
	Level   string `json:"level"`
	Peer    string `json:"peer"`
	Version string `json:"version,omitempty"`
	Rounds  int    `json:"rounds,omitempty"`
	// PeerN is how many rows the peer was measured with, where these are fewer: its
	// seconds are then multiplied by (N/PeerN)^2.
	PeerN int `json:"peer_n,omitempty"`
	// Seconds are ours, PeerSeconds theirs; medians of the rounds.
	Seconds     float64 `json:"seconds,omitempty"`
	PeerSeconds float64 `json:"peer_seconds,omitempty"`
	// Ratio is theirs over ours, the median of the rounds' own ratios, in which
	// a slow minute of the machine cancels; null where the results differ or the
	// peer is missing. RatioLow and RatioHigh are their quartiles.
	Ratio     *float64 `json:"ratio"`
	RatioLow  *float64 `json:"ratio_low,omitempty"`
	RatioHigh *float64 `json:"ratio_high,omitempty"`
	// Difference between the results: of products the largest, relative to
	// sum_j |a_ij x_j|; of neighbours the number of rows that differ; of
	// eigenvectors how far a Rayleigh quotient is from the eigenvalue.
	Difference *float64 `json:"difference"`
	// Recall is the share of neighbours an approximate peer finds.
	Recall *float64 `json:"recall,omitempty"`
	// Residual and PeerResidual are the largest |M u - lambda u| of eigenvectors, each
	// of its own graph.
	Residual     *float64 `json:"residual,omitempty"`
	PeerResidual *float64 `json:"peer_residual,omitempty"`
	Missing      string   `json:"missing,omitempty"`
	Commit       string   `json:"commit"`
	Time         string   `json:"time"`
	Machine      *Machine `json:"machine,omitempty"`
}

// maxDifference is what float32 sums in another order may differ by.
const maxDifference = 1e-5

func (f *peersFlags) run(ctx context.Context, e *cli.Env, names []string) (err error) {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q", names[0])
	}
	if f.count < minRounds {
		return cli.Usagef("-count %d is too few for a ratio: want at least %d", f.count, minRounds)
	}
	wanted, err := choosePeerSuites(f.suite)
	if err != nil {
		return err
	}
	pattern, err := choosePattern(f.pattern)
	if err != nil {
		return err
	}
	peers, err := choosePeers(f.peer)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pmbench-peers-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.CopyFS(folder, peerSources); err != nil {
		return err
	}
	e.NoteLevel()
	m := describeMachine()
	l := newLab(m, newMeter(e))
	defer l.close()
	defer l.meter.clear()
	if m.busy() {
		e.Note("the machine is busy (load %s on %d cores): ratios will vary", m.Load, m.Cores)
	}
	if !f.noLimits {
		l.show("limits of the machine", 0)
		if err := measureLimits(ctx, m, allWorkers()); err != nil {
			return err
		}
	}
	c := &contest{lab: l, e: e, folder: folder, rounds: f.count, slice: f.slice.Seconds(), pattern: pattern, peers: peers, built: map[string]built{}}
	for i, s := range wanted {
		if err := s.play(c, ctx, f.n, allWork.piece(i, len(wanted))); err != nil {
			// Ctrl-C reaches the peers too: one that has ended is no failure of its own.
			return errors.Join(ctx.Err(), err)
		}
	}
	if len(c.ratios) == 0 && f.peer != "" {
		return cli.Usagef("no case matches %q with a peer that matches %q", f.pattern, f.peer)
	}
	if len(c.ratios) == 0 {
		return cli.Usagef("no case matches %q", f.pattern)
	}
	if e.JSON {
		return nil
	}
	l.meter.clear()
	fmt.Fprintln(e.Stdout, m)
	return writeRatios(e.Stdout, c.ratios)
}

// A peerSuite is a suite that others can play.
type peerSuite struct {
	name string
	// about says in lines for the help what is played, and against whom; note is for
	// those who play.
	about, note string
	rows        int // of the largest case, unless -n asks for others
	play        func(c *contest, ctx context.Context, n int, work portion) error
}

func peerSuites() []peerSuite {
	return []peerSuite{
		{
			name: "spmm", rows: defaultRows, play: (*contest).spmm,
			about: `Y += A X, a million rows of 32 entries in curve order, k = 1, 2, 8, 32:
SuiteSparse:GraphBLAS, Eigen (row-major), james-bowman/sparse, scipy.`,
		},
		{
			name: "cells", rows: defaultRows, play: (*contest).cells,
			about: `All neighbours within a radius, a million points with 32 neighbours on
average: scipy's cKDTree.query_pairs, nanoflann. Theirs is the time of the
tree and the search; ours has the weights and the certificate in it too.`,
		},
		{
			name: "wide", rows: defaultRows, play: (*contest).wide,
			about: `A step of the full kernel of unit features, a million in 64 and 200,000 in
512 dimensions, sigma 6: numpy in blocks of rows. Theirs is measured with
20,000 rows and multiplied by (n/20,000)^2.`,
			note: "Not among the default suites.",
		},
		{
			name: "iterate", rows: mostEmbeddedRows, play: (*contest).iterate,
			about: `The 32 leading eigenvectors of a graph of 10,000 points to a residual of
1e-5 (op=converge): scikit-learn's spectral_embedding by LOBPCG, on the same
weights. And from points to eigenvectors (op=embedding), the search included:
20,000 points, 32 nearest neighbours, against its SpectralEmbedding by LOBPCG,
or by AMG where pyamg is installed and that is faster. There one-sided pairs
weigh half with theirs, so that values differ a little; the residual of either
side is given.`,
			note: "Not among the default suites: it takes minutes a round.",
		},
		{
			name: "search", rows: 100_000, play: (*contest).search,
			about: `All neighbours within a radius, 20,000 features, and 100,000 unless -n
says less, of 200 classes in 64 and 512 dimensions with 48 neighbours on
average (or PM_FEATURES): FAISS IndexFlatL2.range_search, numpy by
symmetric blocks, scikit-learn's brute force, and FAISS IVFFlat with
nprobe 4, whose recall is given. They decide in float32; up to 1 in 100
rows may differ. Ours has the weights and the certificate in it too.`,
			note: `Not among the default suites: the largest takes minutes a round; -n 20000
leaves it out.`,
		},
	}
}

func peerSuiteNames() (names []string) {
	for _, s := range peerSuites() {
		names = append(names, s.name)
	}
	return names
}

// choosePeerSuites returns the suites that a flag names, separated by commas.
func choosePeerSuites(names string) (out []peerSuite, err error) {
	all, known := peerSuites(), peerSuiteNames()
	for _, name := range strings.Split(names, ",") {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, cli.Usagef("there are no peers for %q%s; want one of %s", name, cli.DidYouMean(name, known, ""), strings.Join(known, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// choosePeers returns what the names of peers have to match.
func choosePeers(pattern string) (*regexp.Regexp, error) {
	peers, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return nil, cli.Usagef("-peer: %v", err)
	}
	names := []string{ownPeer}
	for _, p := range peerTable() {
		names = append(names, p.name)
	}
	if slices.ContainsFunc(names, peers.MatchString) {
		return peers, nil
	}
	slices.Sort(names)
	return nil, cli.Usagef("no peer matches %q; there are %s", pattern, strings.Join(slices.Compact(names), ", "))
}

// ownPeer comes with this program, which the others do not.
const ownPeer = "james-bowman/sparse"

// contest is a run of peers.
type contest struct {
	lab     *lab
	e       *cli.Env
	folder  string
	rounds  int
	slice   float64 // seconds of either side in a round
	pattern *regexp.Regexp
	peers   *regexp.Regexp // those that play
	ratios  []*Ratio
	built   map[string]built // by suite and the peer's name
}

// built is how to start a peer, or why it cannot be.
type built struct {
	args []string
	err  error
}

// rival is an opponent with the peer it is.
type rival struct {
	peer
	opponent
	missing string
}

// rivals prepares the peers of a suite on a data file, before the work they are for.
func (c *contest) rivals(ctx context.Context, suite, data string, work portion) (out []*rival, err error) {
	for _, p := range peerTable() {
		if p.suite != suite || !c.peers.MatchString(p.name) {
			continue
		}
		r := &rival{peer: p}
		out = append(out, r)
		key := suite + " " + p.name // a library may be there with a program for each suite
		b, known := c.built[key]
		if !known {
			c.lab.show("building "+p.name, work.from)
			b.args, b.err = p.build(ctx, c.folder)
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			c.built[key] = b
		}
		if b.err != nil {
			r.missing = fmt.Sprintf("%v; install %s", b.err, p.packages)
			if !known {
				c.lab.meter.clear()
				c.e.Note("%s is missing: %s", p.name, r.missing)
			}
			continue
		}
		if r.opponent, err = startChild(ctx, b.args, data); err != nil {
			r.opponent = nil
			return out, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return out, nil
}

func closeRivals(rivals []*rival) {
	for _, r := range rivals {
		if r.opponent != nil {
			r.close() // it was only waiting; how it ended does not matter
		}
	}
}

// match is one case against all rivals.
type match struct {
	ratio Ratio // the fields they share
	ours  func(ctx context.Context) error
	// differ returns how far a rival's result is from ours.
	differ func(file string) (float64, error)
	most   float64 // difference allowed
	// recall returns the share that an approximate rival has of ours; it may be nil.
	recall func(file string) (float64, error)
	// residuals returns the largest of our eigenvectors and of the rival's whose result
	// was looked at last; it may be nil.
	residuals func() (ours, theirs float64)
}

// matches returns one for each number of workers whose case is to be played. They share
// the fields given.
func (c *contest) matches(shared Ratio, name func(workers int) string) (out []*match) {
	for _, w := range workerCounts() {
		r := shared
		r.Case, r.Workers, r.Level = name(w), w, level()
		if c.pattern.MatchString(r.Case) {
			out = append(out, &match{ratio: r})
		}
	}
	return out
}

// playAll plays matches on the data that write gives to the peers of a suite, and to more
// that have it.
func (c *contest) playAll(ctx context.Context, suite string, write func(file string) error, matches []*match, work portion, more ...*rival) error {
	data := filepath.Join(c.folder, "data")
	if err := write(data); err != nil {
		return err
	}
	rivals, err := c.rivals(ctx, suite, data, work)
	defer closeRivals(rivals)
	if err != nil {
		return err
	}
	rivals = append(rivals, more...)
	for i, m := range matches {
		if err := c.play(ctx, m, rivals, work.piece(i, len(matches))); err != nil {
			return err
		}
	}
	return nil
}

// play checks the rivals' results, then measures in turns: ours, theirs, ours...
func (c *contest) play(ctx context.Context, m *match, rivals []*rival, work portion) error {
	type score struct {
		*rival
		Ratio
		ours, theirs, ratios []float64
	}
	var scores []*score
	if err := m.ours(ctx); err != nil { // warms up and makes the result
		return err
	}
	for _, r := range rivals {
		if !r.pairing(m.ratio.Workers) {
			continue
		}
		s := &score{rival: r, Ratio: m.ratio}
		s.Peer, s.Missing = r.name, r.missing
		scores = append(scores, s)
		if r.opponent == nil {
			continue
		}
		s.Version = r.version()
		file := filepath.Join(c.folder, "result")
		if _, err := r.round(m.ratio.K, m.ratio.Workers, 0, file); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		difference, err := m.differ(file)
		if m.recall != nil && r.approximate && err == nil {
			var recall float64
			recall, err = m.recall(file)
			s.Recall = finite(recall)
		}
		if err := errors.Join(err, os.Remove(file)); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		s.Difference = finite(difference)
		if m.residuals != nil {
			ours, theirs := m.residuals()
			s.Residual, s.PeerResidual = finite(ours), finite(theirs)
		}
	}
	for round := range c.rounds {
		c.lab.show(m.ratio.Suite+": "+m.ratio.Case, work.piece(round, c.rounds).from)
		for _, s := range scores {
			if s.opponent == nil || s.Difference == nil || *s.Difference > m.most && !s.approximate {
				continue
			}
			ours, err := repeat(c.slice, func() error { return m.ours(ctx) })
			if err != nil {
				return err
			}
			theirs, err := s.round(m.ratio.K, m.ratio.Workers, c.slice, "")
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			if m.ratio.PeerN > 0 {
				times := float64(m.ratio.N) / float64(m.ratio.PeerN)
				for i := range theirs {
					theirs[i] *= times * times
				}
			}
			s.ours, s.theirs = append(s.ours, median(ours)), append(s.theirs, median(theirs))
			s.ratios = append(s.ratios, median(theirs)/median(ours))
		}
	}
	for _, s := range scores {
		if len(s.ours) > 0 {
			s.Rounds, s.Seconds, s.PeerSeconds = len(s.ours), median(s.ours), median(s.theirs)
			s.Ratio.Ratio = finite(median(s.ratios))
			s.RatioLow, s.RatioHigh = finite(quantile(s.ratios, 0.25)), finite(quantile(s.ratios, 0.75))
		}
		s.Commit, s.Time, s.Machine = c.lab.machine.Commit, now(), c.lab.machine
		c.ratios = append(c.ratios, &s.Ratio)
		c.lab.meter.clear()
		if c.e.JSON {
			if err := c.e.Object(&s.Ratio); err != nil {
				return err
			}
		}
	}
	return nil
}

// repeat does an operation until the budget is spent, at least once.
func repeat(budget float64, operation func() error) (seconds []float64, err error) {
	for total := 0.0; total < budget || len(seconds) == 0; {
		from := time.Now()
		if err := operation(); err != nil {
			return nil, err
		}
		took := time.Since(from).Seconds()
		seconds, total = append(seconds, took), total+took
	}
	return seconds, nil
}

func writeRatios(w io.Writer, all []*Ratio) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "suite\t"+strings.Join(ratioHead(), "\t")+"\t")
	for _, r := range all {
		fmt.Fprintln(t, r.Suite+"\t"+strings.Join(r.row(), "\t")+"\t")
	}
	return t.Flush()
}

// ratioHead names the columns of a table of ratios.
func ratioHead() []string {
	return []string{"case", "peer", "ours", "theirs", "ratio", "quartiles", "rounds", "result"}
}

// row returns a ratio as a line of a table.
func (r *Ratio) row() []string {
	out := []string{r.Case, strings.TrimSpace(r.Peer + " " + r.Version), "", "", "", "", "", r.result()}
	if r.Ratio != nil {
		copy(out[2:], []string{
			duration(r.Seconds), duration(r.PeerSeconds), fmt.Sprintf("%.2f", *r.Ratio),
			optional(r.RatioLow, "%.2f") + " to " + optional(r.RatioHigh, "%.2f"), fmt.Sprint(r.Rounds),
		})
		if r.extrapolated() {
			out[3] += " *"
		}
	}
	return out
}

// extrapolated tells whether the seconds of the peer follow from those with fewer rows.
func (r *Ratio) extrapolated() bool { return r.PeerN > 0 && r.PeerN < r.N }

// result says how theirs compares with ours.
func (r *Ratio) result() string {
	switch {
	case r.Missing != "":
		return "missing"
	case r.Ratio == nil:
		return "differs: " + optional(r.Difference, "%.2g")
	}
	out := "same (" + optional(r.Difference, "%.1g") + ")"
	if r.Recall != nil {
		out = fmt.Sprintf("recall %.4f", *r.Recall)
	}
	if r.PeerResidual != nil {
		out += fmt.Sprintf(", residuals %s and %s", optional(r.Residual, "%.1e"), optional(r.PeerResidual, "%.1e"))
	}
	if r.extrapolated() {
		out += fmt.Sprintf(", * from n = %d times (n/%d)^2", r.PeerN, r.PeerN)
	}
	return out
}

// moduleVersion returns the version of a module this program was linked with.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				version := m.Version
				if at := strings.LastIndexByte(version, '-'); at >= 0 {
					version = version[at+1:] // of a pseudo-version the commit
				}
				return version
			}
		}
	}
	return ""
}
