package baseline

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// TSNE maps gallery and queries together and searches in the plane.
func TSNE() evaluate.Mode {
	return evaluate.Mode{
		Name: "tsne", Title: "t-SNE",
		Protects: "Nothing: the map is computed from the gallery and all queries together.",
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			n, _ := t.Gallery.Dims()
			q, _ := t.Queries.Dims()
			y, err := tsne(ctx, stack(t.Gallery, t.Queries), &tsneSettings{Workers: t.Workers})
			if err != nil {
				return nil, err
			}
			r, err := t.Search(ctx, rows(y, n, n+q), rows(y, 0, n))
			if err != nil {
				return nil, err
			}
			exact, err := t.Search(ctx, t.Queries, t.Gallery)
			if err != nil {
				return nil, err
			}
			return &evaluate.Answer{Ranking: r, Exact: exact}, nil
		},
	}
}

// DSNE lets the query find its place in a t-SNE map of public and gallery rows.
// The server makes the map and publishes its public rows. The client starts in
// the middle and follows the gradient of the divergence between its affinities
// to the public rows in feature space and in the map, T steps, each clipped and
// sent with noise.
func DSNE() evaluate.Mode {
	return evaluate.Mode{
		Name: "dsne", Title: "DP-dSNE",
		Protects: "The whole record of the query, (epsilon, delta) for all steps together, replace-one. The gallery is the server's own.",
		Bounded:  true, Uses: evaluate.UsesEpsilon | evaluate.UsesSteps,
		Defaults: evaluate.Params{Epsilon: 1, Delta: defaultDelta, Steps: 10},
		Run:      runDSNE,
	}
}

func runDSNE(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
	if t.Steps < 1 {
		return nil, fmt.Errorf("baseline: %w: %d steps", evaluate.ErrShape, t.Steps)
	}
	n, _ := t.Gallery.Dims()
	p, _ := t.Public.Dims()
	q, _ := t.Queries.Dims()
	y, err := evaluate.Shared(ctx, t.Problem, "dsne map", func() (*mat.Dense, error) {
		return tsne(ctx, stack(t.Gallery, t.Public), &tsneSettings{Workers: t.Workers})
	})
	if err != nil {
		return nil, err
	}
	client := newPlacing(rows(y, n, n+p), t.Steps)
	noisy, exact := mat.NewDense(q, 2, nil), mat.NewDense(q, 2, nil)
	settings := seriesSettings{
		Epsilon: t.Epsilon, Delta: t.Delta, L2Sensitivity: ballSensitivity(clipLength), Vectors: t.Steps, Coordinates: 2,
		Protects: mechanism.AnyData(), // whatever is clipped to the ball
	}
	sigma, err := settings.sigma()
	if err != nil {
		return nil, err
	}
	for i := range q {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		affinity := affinities(t.Queries.RawRowView(i), t.Public)
		series, err := newSeries(mechanism.NoLedger, queryUnit(i), settings)
		if err != nil {
			return nil, err
		}
		place, err := client.place(affinity, series.release)
		if err != nil {
			return nil, err
		}
		noisy.SetRow(i, place)
		place, err = client.place(affinity, func(v []float64) ([]float64, error) { return v, nil })
		if err != nil {
			return nil, err
		}
		exact.SetRow(i, place)
	}
	a, err := compare(ctx, t, noisy, exact, rows(y, 0, n))
	if err != nil {
		return nil, err
	}
	a.Facts = map[string]float64{"noise sigma": sigma, "noise to signal": sigma * math.Sqrt2 / clipLength}
	return a, nil
}

// clipLength is the most a step may say. Gradients in the middle of a map of
// radius R are about 2/R; most are longer than this, so a step tells a direction.
const clipLength = 0.02

// queryPerplexity is the perplexity of a query among the public rows.
const queryPerplexity = 30

// affinities returns the conditional probabilities of the public rows as
// neighbours of x.
func affinities(x []float64, public *mat.Dense) []float64 {
	n, _ := public.Dims()
	p := make([]float64, n)
	for j := range p {
		for a, v := range public.RawRowView(j) {
			p[j] += float64((x[a] - v) * (x[a] - v))
		}
	}
	conditional(p, min(queryPerplexity, float64(n)/3))
	return p
}

// placing is the public side of finding a place: the map and the schedule.
type placing struct {
	public []point
	middle point
	rate   float64 // of the first step; it falls linearly
	steps  int
}

// newPlacing lets clipped steps cover one and a half times the radius of the
// map in all.
func newPlacing(public *mat.Dense, steps int) *placing {
	n, _ := public.Dims()
	p := &placing{public: make([]point, n), steps: steps}
	for i := range p.public {
		p.public[i] = point{public.At(i, 0), public.At(i, 1)}
		p.middle.x += p.public[i].x / float64(n)
		p.middle.y += p.public[i].y / float64(n)
	}
	radius := 0.0
	for _, y := range p.public {
		radius = max(radius, math.Hypot(y.x-p.middle.x, y.y-p.middle.y))
	}
	p.rate = 3 * radius / (clipLength * float64(steps))
	return p
}

// place follows the gradient 2 sum_j (p_j - q_j) w_j (y - y_j), w the t-kernel
// and q its normalised values; release makes each clipped gradient public.
func (c *placing) place(affinity []float64, release func([]float64) ([]float64, error)) ([]float64, error) {
	y := c.middle
	weights := make([]float64, len(c.public))
	for step := range c.steps {
		total := 0.0
		for j, p := range c.public {
			weights[j] = 1 / (1 + (y.x-p.x)*(y.x-p.x) + (y.y-p.y)*(y.y-p.y))
			total += weights[j]
		}
		gradient := make([]float64, 2)
		for j, p := range c.public {
			v := 2 * (affinity[j] - weights[j]/total) * weights[j]
			gradient[0] += v * (y.x - p.x)
			gradient[1] += v * (y.y - p.y)
		}
		clip(gradient, clipLength)
		sent, err := release(gradient)
		if err != nil {
			return nil, err
		}
		rate := c.rate * (1 - float64(step)/float64(c.steps))
		y.x -= rate * sent[0]
		y.y -= rate * sent[1]
	}
	return []float64{y.x, y.y}, nil
}
