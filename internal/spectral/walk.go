package spectral

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// walk is the random walk P = D^+ (W/dbar + beta W_Y) of the graph of form
// Attract, rows in the operator's order. A step of Run is (I + P)/2.
type walk struct {
	op       kernel.Operator
	workers  *par.Workers
	degree   []float64 // D_i, 0 for a row that the walk leaves out
	root     []float32 // sqrt(D_i)
	rows     int       // with D_i > 0
	scale    float64   // 1/dbar
	labels   *kernel.Labels
	beta     float64
	self     []float64  // beta K_cc: a row's own share of the pull of its class
	members  [][]uint32 // rows of each class, ascending
	sums     []float64  // of a block over the classes
	pull     []float64  // K sums
	pull32   []float32  // pull, rounded
	wx       blas32.General
	products int
	pass     walkPass
}

// faintDegree is the share of the mean degree below which a row counts as
// isolated: its products in float32 would lose all digits.
const faintDegree = 0x1p-64

func newWalk(op kernel.Operator, step kernel.Step, workers *par.Workers) (*walk, error) {
	if err := step.Check(op.N()); err != nil {
		return nil, err
	}
	w := &walk{op: op, workers: workers, degree: make([]float64, op.N()), root: make([]float32, op.N())}
	if step.Labels != nil && step.Coefficient > 0 {
		var err error
		if w.labels, err = step.Labels.Permute(op.Order()); err != nil {
			return nil, err
		}
		w.beta = step.Coefficient
		if err := w.gatherClasses(); err != nil {
			return nil, err
		}
	}
	sum := 0.0
	for _, d := range op.Degrees() {
		sum += d
	}
	if sum > 0 {
		w.scale = float64(op.N()) / sum
	}
	for i, d := range op.Degrees() {
		d *= w.scale
		if w.labels != nil {
			d += w.beta * w.labels.Degree(i)
		}
		if d > faintDegree {
			w.degree[i], w.root[i] = d, float32(math.Sqrt(d))
			w.rows++
		}
	}
	return w, nil
}

// gatherClasses lists the rows of each class and prepares the label term
// (W_Y x)_i = (K S)_c - K_cc x_i.
func (w *walk) gatherClasses() error {
	classes := w.labels.Classes()
	w.members = make([][]uint32, classes)
	for i := range w.labels.N() {
		if c := w.labels.Class(i); c >= 0 {
			w.members[c] = append(w.members[c], uint32(i))
		}
	}
	counts := make([]float64, classes)
	for c, rows := range w.members {
		counts[c] = float64(len(rows))
	}
	w.self = make([]float64, classes)
	if err := w.labels.PullTo(w.self, counts, 1); err != nil {
		return err
	}
	for c, rows := range w.members {
		w.self[c] = w.beta * (w.self[c] - w.labels.Degree(int(rows[0])))
	}
	return nil
}

// reserve takes the memory for blocks of that many columns.
func (w *walk) reserve(columns int) {
	w.wx = newMatrix(w.op.N(), columns)
	size := len(w.members) * columns
	w.sums, w.pull, w.pull32 = make([]float64, size), make([]float64, size), make([]float32, size)
}

// mulAdd sets dst = a P x + b x + c dst, and counts the product. dst must not
// overlap x.
func (w *walk) mulAdd(ctx context.Context, dst, x blas32.General, a, b, c float64) error {
	if err := w.op.Apply(ctx, w.wx, x); err != nil {
		return err
	}
	w.products++
	if w.labels != nil {
		if err := w.workers.Do(ctx, len(w.members), par.Func(func(_, class int) { w.sumClass(x, class) })); err != nil {
			return err
		}
		if err := w.labels.PullTo(w.pull, w.sums, x.Cols); err != nil {
			return err
		}
		for e, v := range w.pull {
			w.pull32[e] = float32(v)
		}
	}
	w.pass = walkPass{w, dst, x, a, b, c}
	return w.workers.Do(ctx, split.Blocks(x.Rows, passRows), &w.pass)
}

func (w *walk) sumClass(x blas32.General, class int) {
	sum := w.sums[class*x.Cols:][:x.Cols]
	clear(sum)
	for _, i := range w.members[class] {
		for c, v := range row(x, int(i)) {
			sum[c] += float64(v)
		}
	}
}

// passRows is the number of rows of a piece of work on blocks.
const passRows = 256

// walkPass turns W x into a P x + b x + c dst.
type walkPass struct {
	*walk
	dst, x  blas32.General
	a, b, c float64
}

// Run does one piece of the rows.
func (p *walkPass) Run(_, piece int) {
	lo, hi := split.Block(piece, p.x.Rows, passRows)
	c := float32(p.c)
	for i := lo; i < hi; i++ {
		dst := row(p.dst, i)
		if p.degree[i] == 0 {
			clear(dst)
			continue
		}
		wx, x := row(p.wx, i)[:len(dst)], row(p.x, i)[:len(dst)]
		a := p.a / p.degree[i]
		class := -1
		if p.labels != nil {
			class = p.labels.Class(i)
		}
		if class < 0 {
			a, b := float32(a*p.scale), float32(p.b)
			for j, v := range wx {
				dst[j] = a*v + b*x[j] + c*dst[j]
			}
			continue
		}
		pull := p.pull32[class*len(dst):][:len(dst)]
		a, b, t := a*p.scale, float32(p.b-a*p.self[class]), float32(a*p.beta)
		a32 := float32(a)
		for j, v := range wx {
			dst[j] = a32*v + b*x[j] + c*dst[j] + t*pull[j]
		}
	}
}
