package main

import (
	"cmp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/points"
)

// Columns decide who is near whom where a few of them have the share dominant of the variance:
// up to mostDominant of more than outnumbered as many.
const (
	dominant     = 0.95
	mostDominant = 3
	outnumbered  = 2
)

// noteDominantColumns tells of columns of x beside which the others hardly count.
func (f *graphFlags) noteDominantColumns(e *cli.Env, x blas32.General, in input) {
	if f.standardize || f.normalizeRows {
		return
	}
	columns, share := widest(x)
	if columns == nil {
		return
	}
	var names []string
	if in.read != nil {
		names = in.read.columns
	}
	words := make([]string, len(columns))
	for i, c := range columns {
		words[i] = strconv.Itoa(c + 1)
		if c < len(names) && names[c] != "" {
			words[i] += " " + strconv.Quote(names[c])
		}
	}
	what, have, decide := "column", "has", "decides"
	if len(columns) > 1 {
		what, have, decide = "columns", "together have", "decide"
	}
	e.Note("%s %s %s %.1f %% of the variance of all %d, and so %s who is near whom: -standardize divides columns by their standard deviations first, unless that is meant", what, inWords(words), have, 100*share, x.Cols, decide)
}

// widest returns the fewest columns that have the share dominant of the sum of all variances,
// the widest first, and their share; nil where that takes too many columns.
func widest(x blas32.General) (columns []int, share float64) {
	_, variance := points.ColumnMoments(x)
	sum := 0.0
	columns = make([]int, len(variance))
	for j, v := range variance {
		columns[j] = j
		sum += v
	}
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(variance[b], variance[a]) })
	part := 0.0
	for count := 1; count <= mostDominant && outnumbered*count < len(variance); count++ {
		if part += variance[columns[count-1]]; part > dominant*sum {
			return columns[:count], part / sum
		}
	}
	return nil, 0
}
