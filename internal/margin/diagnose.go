package margin

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/par"
)

// A diagnosis is what the parts of one Diagnose share.
type diagnosis struct {
	*Embedding
	settings  Settings
	classes   []class
	lipschitz float64 // before a division by norms; infinite where there is none
	anchors   int     // of all classes
	exact     bool    // A_delta is measured
	pairs     float64 // of rows within classes
}

func (d *diagnosis) report(stage string, done, total int) {
	if d.settings.Progress != nil {
		d.settings.Progress(stage, done, total)
	}
}

// gapShares and scaleShares are the quantiles that are reported.
var (
	gapShares   = []float64{0, .01, .1, .5}
	scaleShares = []float64{.5, .9, 1}
)

// Diagnose measures an embedding. The time is that of an exact search of all places among all,
// of the distances between anchors and the rows of their classes, and of those between all rows
// of a class where Settings.Pairs allows it; the smoothest function takes all distances of rows.
//
// Errors: points.ErrShape, points.ErrNonFinite, ErrClasses, privatemail.ErrSettings, and that of
// ctx, which is looked at throughout.
func Diagnose(ctx context.Context, e *Embedding, settings *Settings) (_ *Report, err error) {
	defer par.Catch(&err)
	s, err := settings.complete()
	if err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	if err := CheckLabels(e.Labels); err != nil {
		return nil, err
	}
	d := &diagnosis{Embedding: e, settings: s, classes: classesOf(e.Labels)}
	return d.run(ctx)
}

func (d *diagnosis) run(ctx context.Context) (*Report, error) {
	gaps, err := d.gaps(ctx, "separation", d.Places, false)
	if err != nil {
		return nil, err
	}
	apart := make([]float64, len(gaps))
	switch d.lipschitz = d.Lipschitz; {
	case d.Smoothest:
		d.lipschitz, err = d.stretch(ctx)
	case d.Neighbours > 0:
		apart, err = d.gaps(ctx, "separation of rows", d.Rows, true)
	}
	if err != nil {
		return nil, err
	}
	r := &Report{
		Columns: d.Places.Cols, Gamma: math.Inf(1), Lipschitz: d.constant(), Neighbours: d.Neighbours, Confidence: d.settings.Confidence,
	}
	if d.Unit {
		r.Floor = d.Floor
	}
	var all []float64
	for _, c := range d.classes {
		k := Class{Label: c.label, Rows: len(c.rows), Gamma: math.Inf(1), Apart: math.Inf(1), Off: d.off(&c)}
		for _, row := range c.rows {
			k.Gamma, k.Apart = min(k.Gamma, gaps[row]), min(k.Apart, apart[row])
			all = append(all, gaps[row])
		}
		r.Rows += k.Rows
		r.Gamma, r.Off = min(r.Gamma, k.Gamma), max(r.Off, k.Off)
		r.Classes = append(r.Classes, k)
		d.anchors += min(k.Rows, d.settings.Anchors)
		d.pairs += float64(k.Rows) * float64(k.Rows-1) / 2
	}
	r.Gaps = quantiles(all, gapShares...)
	d.exact = d.pairs*float64(d.Rows.Cols+d.Places.Cols) <= d.settings.Pairs
	r.ExactSpread = d.exact
	if err := d.promises(ctx, r); err != nil {
		return nil, err
	}
	r.LeastTheorem, r.LeastDirect = 1, 1
	for i := range r.Classes {
		c := &r.Classes[i]
		share := float64(c.Rows) / float64(r.Rows)
		r.Theorem += share * c.Theorem.Accuracy
		r.Direct += share * c.Direct.Accuracy
		r.LeastTheorem, r.LeastDirect = min(r.LeastTheorem, c.Theorem.Accuracy), min(r.LeastDirect, c.Direct.Accuracy)
	}
	r.Nothing = nothing(r.Classes, func(c *Class) Reason { return c.reason })
	r.NothingDirect = nothing(r.Classes, func(c *Class) Reason { return c.other })
	return r, nil
}

// promises measures masses and spreads, and fills in what follows.
func (d *diagnosis) promises(ctx context.Context, r *Report) error {
	var near []float64
	of := make([]*masses, len(d.classes))
	done := 0
	for i := range d.classes {
		m, err := d.balls(ctx, &d.classes[i], &done)
		if err != nil {
			return err
		}
		of[i] = m
		near = append(near, m.nearest...)
	}
	if len(near) > 0 {
		for _, q := range quantiles(near, scaleShares...) {
			delta := q.Distance * (1 + slack)
			r.Scales = append(r.Scales, Scale{Share: q.Share, Delta: delta, Carry: d.carry(delta)})
			if d.Neighbours > 0 {
				r.Scales[len(r.Scales)-1].Carry = math.Inf(1)
			}
		}
	}
	if r.ScalesRows = len(near); d.anchors < r.Rows { // by the inequality of Dvoretzky, Kiefer and Wolfowitz
		r.ScalesError = math.Sqrt(math.Log(2/(1-d.settings.Confidence)) / 2 / float64(max(1, len(near))))
	}
	pairs := 0.0
	for i := range d.classes {
		if err := d.promise(ctx, r, i, of[i], &pairs); err != nil {
			return err
		}
	}
	return nil
}

// promise is promises for one class.
func (d *diagnosis) promise(ctx context.Context, r *Report, i int, m *masses, pairs *float64) error {
	delta := make([]float64, 0, len(r.Scales)+len(m.delta))
	for _, s := range r.Scales {
		delta = append(delta, s.Delta)
	}
	order := mergedOrder(append(delta, m.delta...))
	spread, err := d.spreads(ctx, &d.classes[i], order.sorted, pairs)
	if err != nil {
		return err
	}
	spread = order.back(spread)
	for j := range r.Scales {
		r.Scales[j].Spread = max(r.Scales[j].Spread, spread[j])
	}
	c := &r.Classes[i]
	spread = spread[len(r.Scales):]
	d.bounds(c, m, spread)
	least, wide := math.Inf(1), math.Inf(1)
	if need := max(1, d.Neighbours); len(m.counts) > 0 {
		for j, k := range m.counts {
			if k >= need {
				least, wide = m.delta[j], d.divided(spread[j])
				break
			}
		}
	}
	d.reasons(c, least, wide)
	return nil
}

// An order is numbers in rising order, and where each of them was.
type order struct {
	sorted []float64
	from   []int
}

func mergedOrder(values []float64) order {
	o := order{from: make([]int, len(values))}
	for i := range o.from {
		o.from[i] = i
	}
	slices.SortStableFunc(o.from, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for _, i := range o.from {
		o.sorted = append(o.sorted, values[i])
	}
	return o
}

// back returns what belongs to the sorted numbers in the order in which they came.
func (o order) back(of []float64) []float64 {
	out := make([]float64, len(of))
	for at, i := range o.from {
		out[i] = of[at]
	}
	return out
}
