package step

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Base is what every operator has and says of itself. An operator embeds it, or WideBase,
// and adds the passes that its products are made with.
type Base struct {
	Called    string
	GivenRows []uint32 // given row of each row; nil when the orders are the same
	RowSums   []float64
	Bounds    []int // chunk c of a step is rows bounds[c] to bounds[c+1]-1
	Cert      base.Certificate
	RowP99    func() float64 // RowP99 of cert, which is found when it is asked for; nil where cert has it
	Costs     base.Cost
	Workers   *par.Workers
	Ranks     *par.Ranks
	// rankChunks has the first chunk of each rank, and the end; nil for equal numbers of chunks.
	RankChunks []int
	Kernels    *simd.Kernels
	Pass32     newPass[float32]
	Watches    bool // passes of Apply look for numbers in x that are not finite; elsewhere runApply does
}

// NewBase begins an operator of the given name.
func NewBase(name string, o *base.Options) Base {
	return Base{Called: name, Workers: o.Workers, Ranks: o.Ranks, Kernels: o.Kernels}
}

// Name returns the name of the operator, as Options.Operator spells it.
func (b *Base) Name() string { return b.Called }

// N returns the number of points.
func (b *Base) N() int { return len(b.RowSums) }

// Order returns the given row of each row of the operator; nil when they are the same.
func (b *Base) Order() []uint32 { return b.GivenRows }

// Degrees returns W 1.
func (b *Base) Degrees() []float64 { return b.RowSums }

// Certificate returns the error bound of the weights.
func (b *Base) Certificate() base.Certificate {
	c := b.Cert
	if b.RowP99 != nil {
		c.RowP99 = b.RowP99()
	}
	return c
}

// Cost returns what the operator takes.
func (b *Base) Cost() base.Cost { return b.Costs }

// Apply sets dst = W x.
func (b *Base) Apply(ctx context.Context, dst, x blas32.General) error {
	return runApply(ctx, b, b.Pass32, rows.View32(dst), rows.View32(x))
}

// Step sets dst to the iterate after x.
func (b *Base) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	return runStep(ctx, b, b.Pass32, rows.View32(dst), rows.View32(x), s, st)
}

// WideBase is the base of an Operator64.
type WideBase struct {
	Base
	Pass64 newPass[float64]
}

// Apply64 sets dst = W x in float64 throughout.
func (b *WideBase) Apply64(ctx context.Context, dst, x blas64.General) error {
	return runApply(ctx, &b.Base, b.Pass64, rows.View64(dst), rows.View64(x))
}

// Step64 sets dst to the iterate after x in float64 throughout.
func (b *WideBase) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	return runStep(ctx, &b.Base, b.Pass64, rows.View64(dst), rows.View64(x), s, st)
}

// Release lets go of all that an operator refers to, and leaves its memory to the garbage
// collector.
func Release[O any](op *O) error {
	var none O
	*op = none
	return nil
}

// OrNil returns an operator as the interface I, nil when there is an error.
func OrNil[I Operator](op I, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return op, nil
}
