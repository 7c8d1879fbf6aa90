package baseline

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// tsneSettings changes a t-SNE run. A nil pointer and zero values mean the
// defaults.
type tsneSettings struct {
	// Perplexity is the effective number of neighbours, default 30 or a third of
	// the rows.
	Perplexity float64
	// Iterations of gradient descent, default 500; the first quarter has the
	// attraction multiplied by 12.
	Iterations int
	// Theta is how far from a square must be for its points to count as one,
	// relative to its side, default 0.5; negative is exact.
	Theta float64
	// Workers share the work; nil when the caller works alone.
	Workers *par.Workers
}

const (
	exaggeration = 12
	minGain      = 0.01
	rowsPerPiece = 64
)

// tsne returns a map of the rows of x in the plane. Errors are evaluate.ErrShape
// for fewer than four rows or a perplexity that is not above 1 and below the
// number of rows less one, evaluate.ErrNonFinite, and that of ctx.
func tsne(ctx context.Context, x *mat.Dense, settings *tsneSettings) (*mat.Dense, error) {
	var s tsneSettings
	if settings != nil {
		s = *settings
	}
	n, _ := x.Dims()
	if s.Perplexity == 0 {
		s.Perplexity = min(30, float64(n)/3)
	}
	if s.Iterations == 0 {
		s.Iterations = 500
	}
	if s.Theta == 0 {
		s.Theta = 0.5
	}
	if n < 4 || !(s.Perplexity > 1 && s.Perplexity < float64(n-1)) || s.Iterations < 1 {
		return nil, fmt.Errorf("baseline: t-SNE: %w: %d rows, perplexity %g, %d iterations", evaluate.ErrShape, n, s.Perplexity, s.Iterations)
	}
	d, err := newDescent(ctx, x, s)
	if err != nil {
		return nil, fmt.Errorf("baseline: t-SNE: %w", err)
	}
	for iteration := range s.Iterations {
		factor, momentum := 1.0, 0.8
		if iteration < s.Iterations/4 {
			factor, momentum = exaggeration, 0.5
		}
		if err := d.step(ctx, s.Workers, factor, momentum); err != nil {
			return nil, err
		}
	}
	out := mat.NewDense(n, 2, nil)
	for i, p := range d.y {
		out.SetRow(i, []float64{p.x, p.y})
	}
	return out, nil
}

// descent is the state of the gradient descent: where the points are, how fast
// they move, and how much each coordinate trusts its gradient (Jacobs 1988).
type descent struct {
	affinity              [][]neighbour
	y, velocity, gain     []point
	attraction, repulsion []point
	weight                []float64
	theta, rate           float64
	tree                  quadtree
	stacks                [][]int32 // one a worker
}

func newDescent(ctx context.Context, x *mat.Dense, s tsneSettings) (*descent, error) {
	n, _ := x.Dims()
	k := min(int(3*s.Perplexity), n-1)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	index, p, err := nearest.Within(ctx, x.RawMatrix(), all, all, k, nearest.Settings{Workers: s.Workers})
	if err != nil {
		return nil, err
	}
	for i := range n {
		conditional(p[i*k:(i+1)*k], s.Perplexity)
	}
	start, err := principalPlane(x)
	if err != nil {
		return nil, err
	}
	d := &descent{
		affinity: symmetric(index, p, k), theta: max(s.Theta, 0), rate: max(float64(n)/exaggeration/4, 50),
		y: start, velocity: make([]point, n), gain: make([]point, n),
		attraction: make([]point, n), repulsion: make([]point, n), weight: make([]float64, n),
	}
	for i := range d.gain {
		d.gain[i] = point{1, 1}
	}
	return d, nil
}

// principalPlane returns the two leading principal components, with a deviation
// of 1e-4 along the first.
func principalPlane(x *mat.Dense) ([]point, error) {
	n, cols := x.Dims()
	c, err := pca.Fit(x.RawMatrix(), min(2, cols))
	if err != nil {
		return nil, err
	}
	plane, err := pca.Project(c, x.RawMatrix())
	if err != nil {
		return nil, err
	}
	scale := 1e-4 / math.Sqrt(max(c.Variances[0], 1e-300))
	out := make([]point, n)
	for i := range out {
		out[i].x = scale * plane.At(i, 0)
		if cols > 1 {
			out[i].y = scale * plane.At(i, 1)
		}
	}
	return out, nil
}

// step moves all points once.
func (d *descent) step(ctx context.Context, workers *par.Workers, factor, momentum float64) error {
	d.tree.build(d.y)
	if d.stacks == nil {
		d.stacks = make([][]int32, workers.Count())
	}
	n := len(d.y)
	err := workers.Do(ctx, split.Blocks(n, rowsPerPiece), par.Func(func(worker, piece int) {
		lo, hi := split.Block(piece, n, rowsPerPiece)
		for i := lo; i < hi; i++ {
			d.weight[i], d.repulsion[i], d.stacks[worker] = d.tree.repulsion(d.y[i], d.theta, d.stacks[worker])
			d.attraction[i] = d.attract(i)
		}
	}))
	if err != nil {
		return err
	}
	total := -float64(n) // a point's own weight is 1
	for _, w := range d.weight {
		total += w
	}
	d.move(factor, momentum, max(total, 1e-300))
	return nil
}

// attract returns the sum of p w times the difference over the neighbours of i.
func (d *descent) attract(i int) (f point) {
	at := d.y[i]
	for _, e := range d.affinity[i] {
		dx, dy := at.x-d.y[e.row].x, at.y-d.y[e.row].y
		v := e.p / (1 + float64(dx*dx) + float64(dy*dy))
		f.x += float64(v * dx)
		f.y += float64(v * dy)
	}
	return f
}

// move applies the gradient 4 (factor attraction - repulsion/total) and keeps
// the points centred.
func (d *descent) move(factor, momentum, total float64) {
	one := func(gradient float64, velocity, gain *float64) float64 {
		if (gradient > 0) == (*velocity > 0) { // the last step went too far
			*gain = max(*gain*0.8, minGain)
		} else {
			*gain += 0.2
		}
		*velocity = float64(momentum**velocity) - float64(d.rate**gain*gradient)
		return *velocity
	}
	var mean point
	for i := range d.y {
		a, r := d.attraction[i], d.repulsion[i]
		d.y[i].x += one(4*(factor*a.x-r.x/total), &d.velocity[i].x, &d.gain[i].x)
		d.y[i].y += one(4*(factor*a.y-r.y/total), &d.velocity[i].y, &d.gain[i].y)
		mean.x += d.y[i].x
		mean.y += d.y[i].y
	}
	n := float64(len(d.y))
	for i := range d.y {
		d.y[i].x -= mean.x / n
		d.y[i].y -= mean.y / n
	}
}
