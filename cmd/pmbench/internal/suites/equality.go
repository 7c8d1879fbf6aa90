package suites

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// equalityDegrees returns the mean numbers of neighbours at which the pairs of n points
// are compared.
func equalityDegrees(n int) (out []float64) {
	for _, degree := range []float64{8, 48, 200} {
		if 2*degree < float64(n) {
			out = append(out, degree)
		}
	}
	return out
}

// equalitySubject compares pairs once and measures the searches for all radii together.
func equalitySubject(ctx context.Context, l *measure.Lab, set SearchSet, workers int) (*measure.Subject, error) {
	x, err := set.Points()
	if err != nil {
		return nil, err
	}
	o := kernel.Options{Workers: l.Workers(workers)}
	degrees := equalityDegrees(x.Rows)
	if len(degrees) == 0 {
		return nil, fmt.Errorf("%d rows are too few to compare searches by", x.Rows)
	}
	// The radius of a mean degree is known from a sample: half as much again has room.
	_, most, err := bandwidthForDegree(ctx, x, min(1.5*degrees[len(degrees)-1], float64(x.Rows-1)), &o)
	if err != nil {
		return nil, err
	}
	pairs, err := closePairs(ctx, x, most, o.Workers, func(share float64) { l.Show("search: all distances in float64", share) })
	if err != nil {
		return nil, err
	}
	sub := &measure.Subject{Pairs: true, Roof: measure.RoofRead, Eta: math.NaN(), EtaP99: math.NaN()}
	for _, degree := range degrees {
		at := int(degree * float64(x.Rows) / 2)
		if at > len(pairs) {
			return nil, fmt.Errorf("%d pairs within %g, too few for %g neighbours on average", len(pairs), most, degree)
		}
		radius := pairs[at-1].distance
		if radius == 0 {
			return nil, fmt.Errorf("%d pairs of rows are equal: there is no radius for %g neighbours on average", at, degree)
		}
		within, _ := slices.BinarySearchFunc(pairs, math.Nextafter(radius, math.Inf(1)), func(p closePair, r float64) int { return cmp.Compare(p.distance, r) })
		found, err := foundPairs(ctx, x, radius, o)
		if err != nil {
			return nil, err
		}
		if missing, extra := comparePairs(pairs[:within], found); missing+extra > 0 {
			return nil, fmt.Errorf("the search within %v differs from the distances of all pairs: of %d pairs %d are missing, and %d are too many", radius, within, missing, extra)
		}
		sub.Equal = append(sub.Equal, record.Equality{Degree: 2 * float64(within) / float64(x.Rows), Radius: radius, Pairs: within})
	}
	sub.Run = func(ctx context.Context) error {
		sub.NNZ, sub.Bytes = 0, 0
		for _, e := range sub.Equal {
			op, err := UnitGraph(ctx, x, e.Radius, o)
			if err != nil {
				return err
			}
			nnz := op.Cost().NNZ
			sub.NNZ += nnz
			sub.Bytes += buildBytes(x, nnz)
			if err := op.Close(); err != nil {
				return err
			}
		}
		return nil
	}
	return sub, nil
}

// closePair are two points, i < j, and their distance.
type closePair struct {
	i, j     uint32
	distance float64
}

func (p closePair) key() uint64 { return uint64(p.i)<<32 | uint64(p.j) }

// closePairs returns the pairs of rows within a radius, nearest first, by the definition:
// the root of the sum of squared differences, added in float64 in the order of the
// columns. It looks at all pairs.
func closePairs(ctx context.Context, x blas32.General, radius float64, workers *par.Workers, show func(share float64)) ([]closePair, error) {
	n, d := x.Rows, x.Cols
	rows := make([]float64, n*d)
	for i := range n {
		for c, v := range x.Data[i*x.Stride:][:d] {
			rows[i*d+c] = float64(v)
		}
	}
	const (
		atOnce  = 512 // rows between two looks at the context
		perStep = 16  // rows of a piece: they and four others stay in the cache
	)
	var out []closePair
	for from := 0; from < n; from += atOnce {
		show(1 - float64(n-from)*float64(n-from)/(float64(n)*float64(n)))
		to := min(from+atOnce, n)
		pieces := split.Blocks(to-from, perStep)
		found := make([][]closePair, pieces)
		err := workers.Do(ctx, pieces, par.Func(func(_, piece int) {
			lo, hi := split.Block(piece, to-from, perStep)
			found[piece] = closeTo(rows, d, from+lo, from+hi, radius)
		}))
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, slices.Concat(found...)...)
	}
	slices.SortFunc(out, func(a, b closePair) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.key(), b.key()))
	})
	return out, nil
}

// closeTo returns the pairs of a row from lo to hi-1 and one behind it.
func closeTo(rows []float64, d, lo, hi int, radius float64) (out []closePair) {
	row := func(i int) []float64 { return rows[min(i, len(rows)/d-1)*d:][:d] }
	n := len(rows) / d
	for j := lo + 1; j < n; j += 4 {
		four := [4][]float64{row(j), row(j + 1), row(j + 2), row(j + 3)}
		for i := lo; i < min(hi, j+3); i++ {
			for e, d2 := range squaredDistances(row(i), &four) {
				if j+e > i && j+e < n && math.Sqrt(d2) <= radius {
					out = append(out, closePair{uint32(i), uint32(j + e), math.Sqrt(d2)})
				}
			}
		}
	}
	return out
}

// squaredDistances returns those of x to four others: four sums at a time keep the
// processor busy, and each has its terms in order.
func squaredDistances(x []float64, four *[4][]float64) (out [4]float64) {
	y0, y1, y2, y3 := four[0][:len(x)], four[1][:len(x)], four[2][:len(x)], four[3][:len(x)]
	var s0, s1, s2, s3 float64
	for c, v := range x {
		e0, e1, e2, e3 := v-y0[c], v-y1[c], v-y2[c], v-y3[c]
		s0 += float64(e0 * e0) // the conversion forbids a fused multiply-add
		s1 += float64(e1 * e1)
		s2 += float64(e2 * e2)
		s3 += float64(e3 * e3)
	}
	return [4]float64{s0, s1, s2, s3}
}

// foundPairs returns the keys of the pairs that the search finds, in their order.
func foundPairs(ctx context.Context, x blas32.General, radius float64, o kernel.Options) ([]uint64, error) {
	op, err := UnitGraph(ctx, x, radius, o)
	if err != nil {
		return nil, err
	}
	defer op.Close()
	a, err := WeightsOf(ctx, op)
	if err != nil {
		return nil, err
	}
	var out []uint64
	var buffer sparse.RowBuffer
	for row := range a.Rows() {
		columns, _ := a.Row(row, &buffer)
		for _, column := range columns {
			if i, j := Given(op, row), Given(op, int(column)); i < j {
				out = append(out, closePair{i: i, j: j}.key())
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// comparePairs counts the pairs that were not found, and those found that are not pairs.
func comparePairs(want []closePair, found []uint64) (missing, extra int) {
	keys := make([]uint64, len(want))
	for i, p := range want {
		keys[i] = p.key()
	}
	slices.Sort(keys)
	both := 0
	for i, j := 0, 0; i < len(keys) && j < len(found); {
		switch c := cmp.Compare(keys[i], found[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			both++
			i++
			j++
		}
	}
	return len(keys) - both, len(found) - both
}
