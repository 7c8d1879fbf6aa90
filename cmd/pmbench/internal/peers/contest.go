package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// contest is a run of peers.
type contest struct {
	lab     *measure.Lab
	e       *cli.Env
	folder  string
	rounds  int
	slice   float64 // seconds of either side in a round
	pattern *regexp.Regexp
	peers   *regexp.Regexp // those that play
	ratios  []*record.Ratio
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
func (c *contest) rivals(ctx context.Context, suite, data string, work measure.Portion) (out []*rival, err error) {
	for _, p := range peerTable() {
		if p.suite != suite || !c.peers.MatchString(p.name) {
			continue
		}
		r := &rival{peer: p}
		out = append(out, r)
		key := suite + " " + p.name // a library may be there with a program for each suite
		b, known := c.built[key]
		if !known {
			c.lab.Show("building "+p.name, work.At(0))
			b.args, b.err = p.build(ctx, c.folder)
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			c.built[key] = b
		}
		if b.err != nil {
			r.missing = fmt.Sprintf("%v; install %s", b.err, p.packages)
			if !known {
				c.lab.Meter.Clear()
				c.e.Note("%s is missing: %s", p.name, r.missing)
			}
			continue
		}
		if r.opponent, err = measure.StartChild(ctx, b.args, data); err != nil {
			r.opponent = nil
			return out, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return out, nil
}

func closeRivals(rivals []*rival) {
	for _, r := range rivals {
		if r.opponent != nil {
			r.Close() // it was only waiting; how it ended does not matter
		}
	}
}

// match is one case against all rivals.
type match struct {
	ratio record.Ratio // the fields they share
	ours  func(ctx context.Context) error
	// seconds measures ours in a round where processes of their own do; nil: ours is
	// repeated.
	seconds func(ctx context.Context) ([]float64, error)
	// differ returns how far a rival's result is from ours.
	differ func(file string) (float64, error)
	most   float64 // difference allowed
	// recall returns the share that an approximate rival has of ours; nil when none is
	// approximate.
	recall func(file string) (float64, error)
	// residuals returns the largest residual of our eigenvectors and of those of the
	// rival whose result was looked at last; nil when there are no eigenvectors.
	residuals func() (ours, theirs float64)
}

// matches returns one for each number of workers whose case is to be played. They share
// the fields given.
func (c *contest) matches(shared record.Ratio, name func(workers int) string) (out []*match) {
	for _, w := range measure.WorkerCounts() {
		r := shared
		r.Case, r.Workers, r.Level = name(w), w, measure.Level()
		if c.pattern.MatchString(r.Case) {
			out = append(out, &match{ratio: r})
		}
	}
	return out
}

// playAll plays matches on the data that write gives to the peers of a suite, and to more
// that have it.
func (c *contest) playAll(ctx context.Context, suite string, write func(file string) error, matches []*match, work measure.Portion, more ...*rival) error {
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
		if err := c.play(ctx, m, rivals, work.Piece(i, len(matches))); err != nil {
			return err
		}
	}
	return nil
}

// A score is what a rival reached in a match.
type score struct {
	*rival
	record.Ratio
	ours, theirs, ratios []float64 // one of each round
}

// play checks the rivals' results, then measures in turns: ours, theirs, ours...
func (c *contest) play(ctx context.Context, m *match, rivals []*rival, work measure.Portion) error {
	if err := m.ours(ctx); err != nil { // warms up and makes the result
		return err
	}
	var scores []*score
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
		if err := s.check(m, filepath.Join(c.folder, "result")); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if err := c.playRounds(ctx, m, scores, work); err != nil {
		return errors.Join(err, c.keep(c.begun(scores)))
	}
	return c.keep(scores)
}

// playRounds measures all rivals whose results are ours, once a round.
func (c *contest) playRounds(ctx context.Context, m *match, scores []*score, work measure.Portion) error {
	for round := range c.rounds {
		c.lab.Show(m.ratio.Suite+": "+m.ratio.Case, work.Piece(round, c.rounds).At(0))
		for _, s := range scores {
			if s.opponent == nil || s.Difference == nil || *s.Difference > m.most && !s.approximate {
				continue
			}
			if err := s.measure(ctx, m, c.slice); err != nil {
				return err
			}
		}
	}
	return nil
}

// begun returns the scores of a match that ended early which have a round to show, and
// notes how many rounds were wanted.
func (c *contest) begun(scores []*score) (out []*score) {
	for _, s := range scores {
		if len(s.ratios) == 0 {
			continue
		}
		if len(s.ratios) < c.rounds {
			s.WantedRounds = c.rounds
		}
		out = append(out, s)
	}
	return out
}

// check has the rival write its result to a file and compares it with ours.
func (s *score) check(m *match, file string) error {
	s.Version = s.opponent.Version()
	if _, err := s.Round(m.ratio.K, m.ratio.Workers, 0, file); err != nil {
		return err
	}
	difference, err := m.differ(file)
	if m.recall != nil && s.approximate && err == nil {
		var recall float64
		recall, err = m.recall(file)
		s.Recall = figures.Finite(recall)
	}
	if err := errors.Join(err, os.Remove(file)); err != nil {
		return err
	}
	s.Difference = figures.Finite(difference)
	if m.residuals != nil {
		ours, theirs := m.residuals()
		s.Residual, s.PeerResidual = figures.Finite(ours), figures.Finite(theirs)
	}
	return nil
}

// measure is one round: our operation for a slice of seconds, then the rival's.
func (s *score) measure(ctx context.Context, m *match, slice float64) error {
	seconds := m.seconds
	if seconds == nil {
		seconds = func(ctx context.Context) ([]float64, error) {
			return repeat(slice, func() error { return m.ours(ctx) })
		}
	}
	ours, err := seconds(ctx)
	if err != nil {
		return err
	}
	theirs, err := s.Round(m.ratio.K, m.ratio.Workers, slice, "")
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if m.ratio.PeerN > 0 {
		times := float64(m.ratio.N) / float64(m.ratio.PeerN)
		for i := range theirs {
			theirs[i] *= times * times
		}
	}
	s.ours, s.theirs = append(s.ours, figures.Median(ours)), append(s.theirs, figures.Median(theirs))
	s.ratios = append(s.ratios, figures.Median(theirs)/figures.Median(ours))
	return nil
}

// keep sums the scores up and prints them where JSON is wanted.
func (c *contest) keep(scores []*score) error {
	for _, s := range scores {
		if len(s.ours) > 0 {
			s.Rounds, s.Seconds, s.PeerSeconds = len(s.ours), figures.Median(s.ours), figures.Median(s.theirs)
			s.Ratio.Ratio = figures.Finite(figures.Median(s.ratios))
			s.RatioLow, s.RatioHigh = figures.Finite(figures.Quantile(s.ratios, 0.25)), figures.Finite(figures.Quantile(s.ratios, 0.75))
			if p, ok := s.opponent.(interface{ PeakBytes() int64 }); ok {
				s.PeerPeakBytes = p.PeakBytes()
			}
		}
		s.Command, s.Commit, s.Time, s.Machine = record.CommandLine(c.e), c.lab.Machine.Commit, record.Now(), c.lab.Machine
		c.ratios = append(c.ratios, &s.Ratio)
		c.lab.Meter.Clear()
		if c.e.JSON {
			if err := c.e.Object(&s.Ratio); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxDifference is what float32 sums in another order may differ by.
const maxDifference = 1e-5
