package published

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/align"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A Comparison runs variants over one set of data. The server's side of a
// variant is computed once and kept. It is safe for concurrent use.
type Comparison struct {
	data     Data
	settings Settings
	start    blas64.General // of the client, for all queries, as in the program
	printed  float64        // Delta

	mu    sync.Mutex
	sides map[side]*prepared
}

// A side names what the server's embedding and the public weights depend on.
type side struct {
	source   Source
	constant bool
}

// prepared is what all queries of a side share.
type prepared struct {
	gallery, anchors blas64.General // in the server's embedding
	core             blas64.General
	weight           func(d2 float64) float64
}

// New checks data and settings. Rows are scaled to unit norm; data is not
// changed. Errors are ErrSettings, kernel.ErrShape, kernel.ErrNonFinite,
// points.ErrZeroRow, kernel.ErrLabels and those of sensitivity.Query.Paper.
func New(ctx context.Context, data Data, settings Settings) (*Comparison, error) {
	if err := data.check(); err != nil {
		return nil, err
	}
	if err := settings.check(data.Gallery.Features.Rows); err != nil {
		return nil, err
	}
	c := &Comparison{data: data, settings: settings, sides: make(map[side]*prepared)}
	for _, s := range []*Set{&c.data.Public, &c.data.Gallery, &c.data.Queries} {
		unit := newBlock(s.Features.Rows, s.Features.Cols)
		for i := range unit.Rows {
			points.ReadRow(row(unit, i), s.Features, i)
			if points.Normalize(row(unit, i)) == 0 {
				return nil, fmt.Errorf("published: %w", &points.ZeroRowError{Row: i})
			}
		}
		s.Features = unit
	}
	var err error
	if c.start, err = iterate.RandomStart(ctx, data.Public.Features.Rows+1, settings.Columns, 2*settings.Seed, settings.SigmaQ); err != nil {
		return nil, fmt.Errorf("published: %w", err)
	}
	constant, err := (sensitivity.Query{
		Operator: sensitivity.Full{}, Sigma: settings.Sigma, Alpha: settings.Alpha,
		Table: sensitivity.Gaussian{Classes: data.Classes, Sigma: settings.Sigma},
	}).Paper(c.start)
	if err != nil {
		return nil, fmt.Errorf("published: %w", err)
	}
	c.printed = constant.Delta
	return c, nil
}

// An Outcome says how many of the queries got a hit, as Comparison.Run counts it.
type Outcome struct {
	Hits, Queries int
}

// Share returns the share of queries that got a hit.
func (o Outcome) Share() float64 { return float64(o.Hits) / float64(o.Queries) }

// Run asks every query. A hit is an answer of the class whose label the variant used:
// the other class where Label is Other, and otherwise the query's own, also where its
// label is dropped.
func (c *Comparison) Run(ctx context.Context, v Variant) (Outcome, error) {
	if err := v.check(); err != nil {
		return Outcome{}, err
	}
	p, err := c.side(ctx, side{v.Source, v.ConstantKernel})
	if err != nil {
		return Outcome{}, err
	}
	return c.count(ctx, func(q int) (int32, []int, error) { return c.ask(q, &v, p) })
}

// count asks all queries. Each is on its own, so that the order of the workers
// does not matter.
func (c *Comparison) count(ctx context.Context, ask func(q int) (class int32, answers []int, err error)) (Outcome, error) {
	n := len(c.data.Queries.Labels)
	hits, failed := make([]bool, n), make([]error, n)
	err := c.settings.Workers.Do(ctx, n, par.Func(func(_, q int) {
		class, answers, err := ask(q)
		failed[q] = err
		hits[q] = slices.ContainsFunc(answers, func(g int) bool { return c.data.Gallery.Labels[g] == class })
	}))
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Queries: n}
	for q, hit := range hits {
		if failed[q] != nil {
			return Outcome{}, failed[q]
		}
		if hit {
			out.Hits++
		}
	}
	return out, nil
}

// ask answers one query, as the variant has it.
func (c *Comparison) ask(q int, v *Variant, p *prepared) (class int32, answers []int, err error) {
	rng := c.stream(q)
	feature, class := slices.Clone(row(c.data.Queries.Features, q)), c.data.Queries.Labels[q]
	if v.Feature == Other {
		for j := range feature {
			feature[j] = rng.NormFloat64()
		}
		points.Normalize(feature)
	}
	if v.Label == Other {
		class = (class + 1 + rng.Int32N(int32(c.data.Classes)-1)) % int32(c.data.Classes)
	}
	y := append([]int32{class}, c.data.Public.Labels...)
	if v.Label == Nothing {
		y[0] = kernel.Unlabelled
	}
	labels, err := c.settings.labels(v.Source, y)
	if err != nil {
		return 0, nil, fmt.Errorf("published: %w", err)
	}
	x, wx, lx := newBlock(c.start.Rows, c.start.Cols), newBlock(c.start.Rows, c.start.Cols), newBlock(c.start.Rows, c.start.Cols)
	copy(x.Data, c.start.Data)
	g := newGraph(p.core, c.data.Public.Features, feature, p.weight)
	if v.Noise != NoNoise {
		if err := g.step(x, wx, lx, labels, c.settings.Alpha); err != nil {
			return 0, nil, fmt.Errorf("published: %w", err)
		}
		deviation := v.deviation(c.printed, c.settings.Delta)
		for i := range x.Data {
			x.Data[i] += deviation * rng.NormFloat64()
		}
		released := below(x, 1)
		g = newGraph(newCore(released, p.weight), released, row(x, 0), p.weight)
	}
	for range c.settings.Steps {
		if err := g.step(x, wx, lx, labels, c.settings.Alpha); err != nil {
			return 0, nil, fmt.Errorf("published: %w", err)
		}
		if v.Source == Program {
			rescale(x)
		}
	}
	similarity, err := align.Find(below(x, 1), p.anchors)
	if err != nil {
		return 0, nil, fmt.Errorf("published: %w", err)
	}
	first := blas64.General{Rows: 1, Cols: x.Cols, Stride: x.Stride, Data: x.Data}
	found, err := similarity.Apply(first)
	if err != nil {
		return 0, nil, fmt.Errorf("published: %w", err)
	}
	return class, nearest(p.gallery, found.Data, c.settings.Matches), nil
}

// stream returns the random numbers of a query.
func (c *Comparison) stream(q int) *rand.Rand {
	var key [32]byte
	copy(key[:], "published noise")
	binary.LittleEndian.PutUint64(key[16:], c.settings.Seed)
	binary.LittleEndian.PutUint64(key[24:], uint64(q))
	return rand.New(rand.NewChaCha8(key))
}

// side returns what is prepared for a side, preparing it the first time.
func (c *Comparison) side(ctx context.Context, s side) (*prepared, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.sides[s]; p != nil {
		return p, nil
	}
	p := &prepared{weight: c.settings.bandwidth(s.source).Weight}
	if s.constant {
		p.weight = func(float64) float64 { return 1 }
	}
	x, err := c.serve(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("published: %w", err)
	}
	n := c.data.Gallery.Features.Rows
	p.gallery, p.anchors = below(x, 0), below(x, n)
	p.gallery.Rows = n
	p.core = newCore(c.data.Public.Features, p.weight)
	c.sides[s] = p
	return p, nil
}

// serve embeds the gallery and the public rows.
func (c *Comparison) serve(ctx context.Context, s side) (blas64.General, error) {
	gallery, public := c.data.Gallery, c.data.Public
	n, d := gallery.Features.Rows+public.Features.Rows, public.Features.Cols
	all := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, 0, n*d)}
	for _, v := range slices.Concat(gallery.Features.Data, public.Features.Data) {
		if s.constant {
			v = 0 // one point has one weight to all others
		}
		all.Data = append(all.Data, float32(v))
	}
	labels, err := c.settings.labels(s.source, slices.Concat(gallery.Labels, public.Labels))
	if err != nil {
		return blas64.General{}, err
	}
	start, err := iterate.RandomStart(ctx, n, c.settings.Columns, 2*c.settings.Seed+1, c.settings.SigmaQ)
	if err != nil {
		return blas64.General{}, err
	}
	workers := c.settings.Workers
	op, err := kernel.NewDense(ctx, all, c.settings.bandwidth(s.source), &kernel.Options{Workers: workers, Columns: c.settings.Columns, Steps: c.settings.Steps})
	if err != nil {
		return blas64.General{}, err
	}
	defer op.Close()
	x := blas32.General{Rows: n, Cols: start.Cols, Stride: start.Cols, Data: make([]float32, len(start.Data))}
	for i, v := range start.Data {
		x.Data[i] = float32(v)
	}
	run := &iterate.Settings{Steps: c.settings.Steps, Workers: workers}
	if s.source == Program {
		run.Normalize = iterate.Frobenius
	}
	if _, err := iterate.Run(ctx, op, x, kernel.Step{Labels: labels, Coefficient: c.settings.Alpha}, run, nil); err != nil {
		return blas64.General{}, err
	}
	for i, v := range x.Data {
		start.Data[i] = float64(v)
	}
	return start, nil
}

// below returns the rows of x from the given one on, sharing memory.
func below(x blas64.General, from int) blas64.General {
	return blas64.General{Rows: x.Rows - from, Cols: x.Cols, Stride: x.Stride, Data: x.Data[from*x.Stride:]}
}

// nearest returns the k rows of x nearest to the query, the nearest first and
// among equals the first.
func nearest(x blas64.General, query []float64, k int) []int {
	best := make([]int, 0, k+1)
	distance := make([]float64, 0, k+1)
	for i := range x.Rows {
		d := squaredDistance(query, row(x, i))
		if len(best) == k && d >= distance[k-1] {
			continue
		}
		at := sort.Search(len(distance), func(j int) bool { return distance[j] > d })
		best, distance = slices.Insert(best, at, i), slices.Insert(distance, at, d)
		best, distance = best[:min(k, len(best))], distance[:min(k, len(best))]
	}
	return best
}
