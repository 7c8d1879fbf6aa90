package peers

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/sparse"
	"github.com/seed-64e14a55/privatemail/sparse/jb"
)

// spmm plays the products.
func (c *contest) spmm(ctx context.Context, n int, work measure.Portion) error {
	var all []*match
	for _, k := range suites.SpmmColumns() {
		var x, y blas32.General // made where a case is played
		for _, layout := range []sparse.Layout{sparse.Plain, sparse.Compact} {
			matches := c.matches(record.Ratio{Suite: "spmm", N: n, D: 2, K: k}, func(w int) string { return suites.SpmmName("curve", n, k, layout, w) })
			if len(matches) == 0 {
				continue
			}
			a, err := suites.GraphIn(ctx, c.lab, "curve", n, layout)
			if err != nil {
				return err
			}
			if x.Rows == 0 {
				x, y = suites.Block(n, k), suites.Zeros(n, k)
			}
			for _, m := range matches {
				workers := c.lab.Workers(m.ratio.Workers)
				m.ratio.NNZ, m.most = int64(a.NNZ()), maxDifference
				m.ours = func(ctx context.Context) error { return a.MulTo(ctx, workers, nil, y, x) }
				m.differ = func(file string) (float64, error) {
					theirs, err := readFloats(file, len(y.Data))
					if err != nil {
						return 0, err
					}
					return productDifference(ctx, a, x, y, theirs)
				}
			}
			all = append(all, matches...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	a, err := suites.GraphInOrder(c.lab, "curve", n)
	if err != nil {
		return err
	}
	var more []*rival
	if c.peers.MatchString(ownPeer) {
		more = append(more, &rival{peer: peer{name: ownPeer, pairing: serial}, opponent: &jamesBowman{a: jb.Export(a)}})
	}
	return c.playAll(ctx, "spmm", func(file string) error { return writeGraph(file, a) }, all, work, more...)
}

// productDifference is the largest difference of two products, relative to
// sum_j |a_ij x_j|; NaN if a value is not a number.
func productDifference(ctx context.Context, a *sparse.CSR, x, y blas32.General, theirs []float32) (float64, error) {
	absolute, scale := suites.Zeros(x.Rows, x.Cols), suites.Zeros(x.Rows, x.Cols)
	for e, v := range x.Data {
		absolute.Data[e] = float32(math.Abs(float64(v)))
	}
	// The weights are positive.
	if err := a.MulTo(ctx, nil, nil, scale, absolute); err != nil {
		return 0, err
	}
	worst := 0.0
	for e, v := range y.Data {
		d := math.Abs(float64(v) - float64(theirs[e]))
		if d > 0 {
			worst = max(worst, d/float64(scale.Data[e]))
		} else if math.IsNaN(d) {
			return math.NaN(), nil
		}
	}
	return worst, nil
}
