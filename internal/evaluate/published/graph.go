package published

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// A graph is the full Gaussian kernel of a query and the public rows, the query
// first. The weights between public rows are the same for every query; they are
// shared.
type graph struct {
	core   blas64.General // between public rows, 0 on the diagonal
	border []float64      // between the query and the public rows
	degree []float64      // of the query and the public rows
}

// newCore returns the weights between the rows of x.
func newCore(x blas64.General, weight func(d2 float64) float64) blas64.General {
	w := blas64.General{Rows: x.Rows, Cols: x.Rows, Stride: x.Rows, Data: make([]float64, x.Rows*x.Rows)}
	for i := range x.Rows {
		for j := range i {
			v := weight(squaredDistance(row(x, i), row(x, j)))
			w.Data[i*w.Stride+j], w.Data[j*w.Stride+i] = v, v
		}
	}
	return w
}

// newGraph adds a query to the public rows x with the weights core.
func newGraph(core, x blas64.General, query []float64, weight func(d2 float64) float64) *graph {
	g := &graph{core: core, border: make([]float64, x.Rows), degree: make([]float64, x.Rows+1)}
	for i := range x.Rows {
		w := weight(squaredDistance(query, row(x, i)))
		g.border[i] = w
		g.degree[0] += w
		g.degree[i+1] = w
		for _, v := range row(core, i) {
			g.degree[i+1] += v
		}
	}
	return g
}

// mulTo sets dst = W x.
func (g *graph) mulTo(dst, x blas64.General) {
	k, n := x.Cols, len(g.border)
	border := blas64.Vector{N: n, Inc: 1, Data: g.border}
	for c := range k {
		in := blas64.Vector{N: n, Inc: k, Data: x.Data[k+c:]}
		out := blas64.Vector{N: n, Inc: k, Data: dst.Data[k+c:]}
		blas64.Gemv(blas.NoTrans, 1, g.core, in, 0, out)
		blas64.Axpy(x.Data[c], border, out)
		dst.Data[c] = blas64.Dot(border, in)
	}
}

// step takes x one step further, in place. wx and lx are scratch of its shape.
// All three are contiguous.
func (g *graph) step(x, wx, lx blas64.General, labels *kernel.Labels, alpha float64) error {
	g.mulTo(wx, x)
	if err := labels.LaplacianTo64(lx, x); err != nil {
		return err
	}
	for i, v := range x.Data {
		if d := g.degree[i/x.Cols]; d > 0 {
			x.Data[i] = v + 0.5*(alpha*lx.Data[i]-(d*v-wx.Data[i]))/d
		}
	}
	return nil
}

// rescale scales x to the Frobenius norm sqrt(rows).
func rescale(x blas64.General) {
	all := blas64.Vector{N: len(x.Data), Inc: 1, Data: x.Data}
	if norm := blas64.Nrm2(all); norm > 0 {
		blas64.Scal(math.Sqrt(float64(x.Rows))/norm, all)
	}
}

func row(x blas64.General, i int) []float64 { return x.Data[i*x.Stride:][:x.Cols] }

func squaredDistance(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		t := v - b[j]
		sum += float64(t * t)
	}
	return sum
}

func newBlock(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}
