package supervised

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// explainFarRow adds to the error of a graph whose rows are all in one place which of the
// rows has led to it, if it is one: a map makes rows small against the one that is far off.
func explainFarRow(err error, rows blas32.General) error {
	if !errors.Is(err, kernel.ErrBandwidth) {
		return err
	}
	if row := farRow(rows); row >= 0 {
		return fmt.Errorf("%w; row %d is so far from all others that a map puts these into one place: leave that row out", err, row+1)
	}
	return err
}

// farRow returns the row that has nearly all of the spread of a column, -1 if there is none.
func farRow(rows blas32.General) int {
	for j := range rows.Cols {
		var mean, sum, most float64
		for i := range rows.Rows {
			mean += float64(rowOf(rows, i)[j]) / float64(rows.Rows)
		}
		row := -1
		for i := range rows.Rows {
			away := float64(rowOf(rows, i)[j]) - mean
			sum += away * away
			if away*away > most {
				row, most = i, away*away
			}
		}
		if most > 0.9*sum {
			return row
		}
	}
	return -1
}
