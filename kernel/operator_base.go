package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// base is what every operator has and says of itself. An operator embeds it, or wideBase,
// and adds the passes that its products are made with.
type base struct {
	name    string
	order   []uint32 // given row of each row; nil when the orders are the same
	degrees []float64
	bounds  []int // chunk c of a step is rows bounds[c] to bounds[c+1]-1
	cert    Certificate
	rowP99  func() float64 // RowP99 of cert, which is found when it is asked for; nil where cert has it
	cost    Cost
	workers *par.Workers
	ranks   *par.Ranks
	// rankChunks has the first chunk of each rank, and the end; nil for equal numbers of chunks.
	rankChunks []int
	kernels    *simd.Kernels
	pass32     newPass[float32]
	watches    bool // passes of Apply look for numbers in x that are not finite; elsewhere runApply does
}

func newBase(name string, o *Options) base {
	return base{name: name, workers: o.Workers, ranks: o.Ranks, kernels: o.Kernels}
}

// Name returns the name of the operator, as Options.Operator spells it.
func (b *base) Name() string { return b.name }

// N returns the number of points.
func (b *base) N() int { return len(b.degrees) }

// Order returns the given row of each row of the operator; nil when they are the same.
func (b *base) Order() []uint32 { return b.order }

// Degrees returns W 1.
func (b *base) Degrees() []float64 { return b.degrees }

// Certificate returns the error bound of the weights.
func (b *base) Certificate() Certificate {
	c := b.cert
	if b.rowP99 != nil {
		c.RowP99 = b.rowP99()
	}
	return c
}

// Cost returns what the operator takes.
func (b *base) Cost() Cost { return b.cost }

// Apply sets dst = W x.
func (b *base) Apply(ctx context.Context, dst, x blas32.General) error {
	return runApply(ctx, b, b.pass32, rows.View32(dst), rows.View32(x))
}

// Step sets dst to the iterate after x.
func (b *base) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	return runStep(ctx, b, b.pass32, rows.View32(dst), rows.View32(x), s, st)
}

// wideBase is the base of an Operator64.
type wideBase struct {
	base
	pass64 newPass[float64]
}

// Apply64 sets dst = W x in float64 throughout.
func (b *wideBase) Apply64(ctx context.Context, dst, x blas64.General) error {
	return runApply(ctx, &b.base, b.pass64, rows.View64(dst), rows.View64(x))
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (b *wideBase) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	return runStep(ctx, &b.base, b.pass64, rows.View64(dst), rows.View64(x), s, st)
}

// release lets go of all that an operator refers to, and leaves its memory to the garbage
// collector.
func release[O any](op *O) error {
	var none O
	*op = none
	return nil
}

// orNil returns an operator as the interface I, nil when there is an error.
func orNil[I Operator](op I, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return op, nil
}
