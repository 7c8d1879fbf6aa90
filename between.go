package privatemail

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// BetweenRecords returns the mu of a release between two real records.
//
// Under the relations sensitivity.Null and sensitivity.FeaturesNull a release says little
// about whether a record is there or the null record; Privacy.Mu is about that. How well
// two real records are hidden in each other's place is another question, and its mu is
// larger: at most twice as large, since the null record lies between them, and at most
// what sensitivity.Tight gives for the relation Real and the same noise. BetweenRecords
// returns the smaller of the two, and the first where the release has another bound;
// mechanism.EpsilonAt turns it into an epsilon. Under the other
// relations it is Privacy.Mu. Randomised labels cost their own epsilon on top in either
// case.
//
// It takes public numbers alone, those of the release. The errors are of a release that
// release.Check refuses, of memory and of the context.
func BetweenRecords(ctx context.Context, r *release.Release) (mu float64, err error) {
	if r == nil {
		return 0, fmt.Errorf("privatemail: between records: there is no release: %w", release.ErrRelease)
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
	s := PrivateSettings{
		Relation: relation.Real(), Records: r.Sensitivity.Records,
		Bandwidth: kernel.Sigma(r.Query.Sigma), Alpha: r.Query.Alpha, Table: r.Query.Table, Classes: r.Query.Classes,
		Columns: r.Columns, SigmaQ: r.Query.SigmaQ, Seed: r.Query.Seed, Operator: "dense",
	}
	if r.Query.Radius > 0 {
		s.Operator, s.Radius = "background", r.Query.Radius
	}
	for _, row := range r.Sensitivity.PrivateRows {
		s.PrivateRows = append(s.PrivateRows, int(row))
	}
	if _, err := pipeline.Reserve(mem.Budget(), s.boundBytes(r.Rows), fmt.Sprintf("bound for %d x %d", r.Rows, r.Columns)); err != nil {
		return 0, err
	}
	p := private{settings: &s}
	if err := p.draw(ctx, r.Rows); err != nil {
		return 0, err
	}
	if r.Query.Radius > 0 {
		p.query.Operator = sensitivity.Background{Radius: r.Query.Radius, Weight: r.Query.Background}
	}
	// The bound of the release itself tells whether it is understood: there are others
	// than Tight, and other starts than those drawn from a seed.
	s.Relation = relation
	own, err := p.tight()
	if err != nil || math.Abs(own.Exact()/r.Sensitivity.Bound-1) > 1e-9 {
		return 2 * r.Privacy.Mu, ctx.Err()
	}
	s.Relation = relation.Real()
	bound, err := p.tight()
	if err != nil {
		return 0, err
	}
	// As the release has it: rounded up after each operation.
	up := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	total := up(up(bound.Exact()+2*r.Sensitivity.OperatorError) + r.Sensitivity.GridError)
	return min(2*r.Privacy.Mu, up(total/r.Privacy.Sigma)), nil
}
