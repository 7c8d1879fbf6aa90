package files

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// Columns decide who is near whom where a few of them have the share dominant of the variance:
// up to mostDominant of more than outnumbered as many.
const (
	dominant     = 0.95
	mostDominant = 3
	outnumbered  = 2
)

// NoteDominantColumns notes columns of x so large that the others hardly count.
func NoteDominantColumns(f *settings.Graph, e *cli.Env, x blas32.General, in Input) {
	if f.Standardize || f.NormalizeRows {
		return
	}
	what, one := DominantColumns(x, in)
	if what == "" {
		return
	}
	decide := "decide"
	if one {
		decide = "decides"
	}
	e.Note("%s, and so %s who is near whom: -standardize divides columns by their standard deviations first, unless that is meant", what, decide)
}

// DominantColumns names the columns of x so large that the others hardly count, "" for none, and
// says whether that is one.
func DominantColumns(x blas32.General, in Input) (what string, one bool) {
	columns, share := widest(x)
	if columns == nil {
		return "", false
	}
	var names []string
	if in.Read != nil {
		names = in.Read.Columns
	}
	words := make([]string, len(columns))
	for i, c := range columns {
		words[i] = strconv.Itoa(c + 1)
		if c < len(names) && names[c] != "" {
			words[i] += " " + strconv.Quote(names[c])
		}
	}
	column, have := "column", "has"
	if len(columns) > 1 {
		column, have = "columns", "together have"
	}
	return fmt.Sprintf("%s %s %s %.1f %% of the variance of all %d", column, text.InWords(words), have, 100*share, x.Cols), len(columns) == 1
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
