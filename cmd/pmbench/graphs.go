package main

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// weightsOf reads the weights of an operator, rows in its order, by its products
// with unit vectors.
func weightsOf(ctx context.Context, op kernel.Truncated) (*sparse.CSR, error) {
	const atOnce = 128
	n := op.N()
	x, y := zeros(n, atOnce), zeros(n, atOnce)
	ptr, ind, val := make([]uint64, 1, n+1), make([]uint32, 0, op.Cost().NNZ), make([]float32, 0, op.Cost().NNZ)
	for from := 0; from < n; from += atOnce {
		columns := min(atOnce, n-from)
		clear(x.Data)
		for j := range columns {
			x.Data[(from+j)*atOnce+j] = 1
		}
		if err := op.Apply(ctx, y, x); err != nil {
			return nil, err
		}
		for j := range columns { // the weights are symmetric: a column is a row
			for i := range n {
				if v := y.Data[i*atOnce+j]; v != 0 {
					ind, val = append(ind, uint32(i)), append(val, v)
				}
			}
			ptr = append(ptr, uint64(len(ind)))
		}
	}
	return sparse.New(n, n, ptr, ind, val)
}

// given returns the number of the point that is a row of the operator.
func given(op kernel.Truncated, row int) uint32 {
	if order := op.Order(); order != nil {
		return order[row]
	}
	return uint32(row)
}

// unitGraph returns the graph of all pairs within a radius with weights so near 1 that
// they round to it.
func unitGraph(ctx context.Context, x blas32.General, radius float64, o kernel.Options) (kernel.Truncated, error) {
	o.CutoffRadius = radius
	return buildCSR(ctx, x, kernel.Gamma(1e-9/(radius*radius)), o)
}
