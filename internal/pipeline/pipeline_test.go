package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// turned is an operator that keeps row 2 first, then 0 and 1.
type turned struct {
	kernel.Operator
	certificate kernel.Certificate
}

func (turned) Name() string                      { return "turned" }
func (turned) N() int                            { return 3 }
func (turned) Degrees() []float64                { return []float64{1, 2, 6} }
func (turned) Order() []uint32                   { return []uint32{2, 0, 1} }
func (turned) Cost() kernel.Cost                 { return kernel.Cost{NNZ: 7} }
func (o turned) Certificate() kernel.Certificate { return o.certificate }

// cut is one that ends at a radius.
type cut struct{ turned }

func (cut) Radius() float64         { return 0.5 }
func (cut) MeanNeighbours() float64 { return 1.5 }

func (cut) Matrix(context.Context) (*sparse.CSR, error) { return nil, errors.ErrUnsupported }

func TestDescribe(t *testing.T) {
	own := []float32{.1, .2, .3}
	op := turned{certificate: kernel.Certificate{Row: own}}
	b := kernel.Sigma(2)
	g := Describe(op, b)
	if g.Operator != "turned" || g.Bandwidth != b || g.MeanDegree != 3 || g.Cost.NNZ != 7 || !math.IsInf(g.Radius, 1) || g.MeanNeighbours != 2 {
		t.Errorf("%+v", g)
	}
	if want := []float32{.2, .3, .1}; !slices.Equal(g.Certificate.Row, want) {
		t.Errorf("rows %v, want %v", g.Certificate.Row, want)
	}
	if !slices.Equal(own, []float32{.1, .2, .3}) {
		t.Error("the operator's own rows were turned")
	}
	if g := Describe(cut{op}, b); g.Radius != 0.5 || g.MeanNeighbours != 1.5 {
		t.Errorf("radius %g, %g neighbours", g.Radius, g.MeanNeighbours)
	}
	op.certificate.Row = nil
	if g := Describe(op, b); g.Certificate.Row != nil {
		t.Errorf("rows %v of none", g.Certificate.Row)
	}
}
