package main

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// dominant is the share of the variance from which on one column decides who is near whom.
const dominant = 0.95

// noteDominantColumn tells of a column beside which the others hardly count.
func noteDominantColumn(e *cli.Env, x blas32.General) {
	column, share := widest(x)
	if share > dominant && x.Cols > 2 {
		e.Note("column %d has %.1f %% of the variance of all %d, and so decides who is near whom: divide columns by their standard deviations first, unless that is meant", column+1, 100*share, x.Cols)
	}
}

// widest returns the column of largest variance and its share of the sum over all columns.
func widest(x blas32.General) (column int, share float64) {
	mean, squares := make([]float64, x.Cols), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			// Welford's update: means far from zero do no harm.
			d := float64(v) - mean[j]
			mean[j] += d / float64(i+1)
			squares[j] += d * (float64(v) - mean[j])
		}
	}
	var sum float64
	for j, v := range squares {
		sum += v
		if v > squares[column] {
			column = j
		}
	}
	if sum == 0 {
		return 0, 0
	}
	return column, squares[column] / sum
}
