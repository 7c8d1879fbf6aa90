package privatemail

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// An Assessment is the guarantee and the noise of a private first step, known
// before any data is read.
type Assessment struct {
	// Tight is the bound that Privatize calibrates to, with the error of the
	// computed step: from rounding and, for the operator poly, from its
	// polynomial.
	Tight sensitivity.Bound
	// Operator makes the step: dense, poly or background. Computed says how.
	Operator, Computed string
	// Corrected is the paper's constant with its errors repaired, nil where its
	// proof does not apply: it needs the full kernel, alpha >= 0 and a table in
	// [0, 1]. It is for the relation null, even if the settings have another.
	Corrected *sensitivity.CorrectedBound
	// Paper is the published constant, nil where it is undefined. It is for
	// comparison; nothing calibrates to it.
	Paper *sensitivity.Comparison
	// PaperError says why Paper is nil. It is nil when Paper is not.
	PaperError error
	// Calibration is the noise for Epsilon and Delta, nil when neither is set.
	Calibration *mechanism.Calibration
	// Signal is a typical entry of the first step (sensitivity.Query.Signal).
	Signal float64
}

// Sensitivity returns what Privatize would use for n rows of d features: the
// bound and the noise, and for comparison the paper's constants. It needs no
// data. It ignores Ledger, Unit and LabelMode, and without Epsilon and Delta
// there is no Calibration. RestPublic needs data and is refused. Errors: those
// of Privatize that need no data.
func Sensitivity(ctx context.Context, n, d int, settings *PrivateSettings) (*Assessment, error) {
	out, err := assess(ctx, n, d, settings)
	if err != nil {
		return nil, fmt.Errorf("privatemail: sensitivity: %w", err)
	}
	return out, nil
}

func assess(ctx context.Context, n, d int, settings *PrivateSettings) (*Assessment, error) {
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	if s.RestPublic {
		return nil, fmt.Errorf("%w: the bound with the rest public needs the public rows", ErrSettings)
	}
	if err := s.reserveBound(n); err != nil {
		return nil, err
	}
	p := privatePlan{settings: &s}
	if err := p.draw(ctx, n); err != nil {
		return nil, err
	}
	if err := p.measure(); err != nil {
		return nil, err
	}
	if p.bound, err = p.tight(s.Relation); err != nil {
		return nil, err
	}
	out := new(Assessment)
	if s.Epsilon != 0 || s.Delta != 0 {
		if err := p.calibrate(d); err != nil {
			return nil, err
		}
		out.Calibration = &p.calibration
	} else if err := p.inflate(d); err != nil {
		return nil, err
	}
	out.Tight, out.Operator, out.Computed = p.bound, p.operator, p.computed()
	p.start = sensitivity.Start{} // the paper's constants measure the start themselves
	out.addPaper(&p)
	out.Signal, err = p.query.Signal(p.q)
	return out, err
}

// addPaper adds the paper's constant, as published and repaired.
func (a *Assessment) addPaper(p *privatePlan) {
	if c, err := p.query.Corrected(sensitivity.Null, p.q); err == nil {
		a.Corrected = &c
	}
	if c, err := p.query.Paper(p.q); err == nil {
		a.Paper = &c
	} else {
		a.PaperError = err
	}
}

// BetweenRecords returns the mu of a release between two real records.
//
// Under the relations sensitivity.Null and sensitivity.FeaturesNull, Privacy.Mu compares
// a record with the null record. BetweenRecords compares two real records, and its mu is
// larger. There are two bounds on it: 2 Privacy.Mu, since the null record lies between
// the two, and the mu from sensitivity.Query.Tight for the relation Relation.Real and the same
// noise. BetweenRecords returns the smaller one; where the bound of the release is not
// that of Tight for its query, it returns 2 Privacy.Mu. mechanism.EpsilonAt turns the mu
// into an epsilon. Under the other relations the mu is Privacy.Mu. In either case
// randomised labels cost their own epsilon in addition.
//
// It uses only the public numbers of the release. Errors: release.ErrRelease for a nil
// release, those of release.Check, kernel.ErrMemory, and the error of ctx.
func BetweenRecords(ctx context.Context, r *release.Release) (mu float64, err error) {
	if r == nil {
		return 0, fmt.Errorf("privatemail: between records: the release is nil: %w", release.ErrRelease)
	}
	if err := r.Check(); err != nil {
		return 0, fmt.Errorf("privatemail: between records: %w", err)
	}
	mu, err = between(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("privatemail: between records: %w", err)
	}
	return mu, nil
}

func between(ctx context.Context, r *release.Release) (float64, error) {
	relation, err := sensitivity.RelationByName(r.Sensitivity.Relation)
	if err != nil {
		return 0, err
	}
	if relation.Real() == relation {
		return r.Privacy.Mu, nil
	}
	s := settingsOf(r)
	if err := s.reserveBound(r.Rows); err != nil {
		return 0, err
	}
	p := privatePlan{settings: &s}
	if err := p.draw(ctx, r.Rows); err != nil {
		return 0, err
	}
	if r.Query.Radius > 0 {
		p.query.Operator = sensitivity.Background{Radius: r.Query.Radius, Weight: r.Query.Background}
	}
	// The bound of the release must equal Tight for its query: a release may have
	// another bound, or a start that was not drawn from a seed.
	if p.measure() != nil {
		return 2 * r.Privacy.Mu, ctx.Err()
	}
	own, err := p.tight(relation)
	if err != nil || math.Abs(own.Exact()/r.Sensitivity.Bound-1) > 1e-9 {
		return 2 * r.Privacy.Mu, ctx.Err()
	}
	bound, err := p.tight(relation.Real())
	if err != nil {
		return 0, err
	}
	// Rounded up after each operation, as in the release.
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	total := up(up(bound.Exact()+2*r.Sensitivity.OperatorError) + r.Sensitivity.GridError)
	return min(2*r.Privacy.Mu, up(total/r.Privacy.Sigma)), nil
}

// settingsOf returns the settings of the first step of a release, from its query.
func settingsOf(r *release.Release) PrivateSettings {
	s := PrivateSettings{
		Records:   r.Sensitivity.Records,
		Bandwidth: kernel.Sigma(r.Query.Sigma), Alpha: r.Query.Alpha, Table: r.Query.Table, Classes: r.Query.Classes,
		Dim: r.Columns, SigmaQ: r.Query.SigmaQ, Seed: r.Query.Seed, Operator: "dense",
	}
	if r.Query.Radius > 0 {
		s.Operator, s.Radius = "background", r.Query.Radius
	}
	for _, row := range r.Sensitivity.PrivateRows {
		s.PrivateRows = append(s.PrivateRows, int(row))
	}
	return s
}

// reserveBound refuses a bound for n rows that does not fit into memory. It takes the
// start, its rows about their mean, class sums twice, and eleven numbers for each row.
func (s *PrivateSettings) reserveBound(n int) error {
	bytes := float64(n) * (float64(s.Dim)*(8+8+8+8) + 88)
	_, err := pipeline.Reserve(mem.DefaultLimit(), bytes, fmt.Sprintf("bound for %d x %d", n, s.Dim))
	return err
}
