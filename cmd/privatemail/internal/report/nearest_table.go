package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// The table shows at most this many queries, and this many answers of each.
const (
	shownQueries = 5
	shownAnswers = 8
)

// WriteNearest prints the nearest rows of the first queries. answer returns those of a query,
// at most k.
func WriteNearest(w io.Writer, queries, k int, answer func(q int) (ids []int32, distances []float32)) error {
	n := min(shownQueries, queries)
	which := fmt.Sprintf("the first %d of %d queries", n, queries)
	if n == queries {
		which = "all queries"
	}
	if k > shownAnswers {
		which += fmt.Sprintf(", the first %d of %d rows", shownAnswers, k)
	}
	fmt.Fprintf(w, "nearest rows (numbers from 0, as in files) and their distances, nearest first: %s; -out writes all\n\n", which)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for q := range n {
		ids, distances := answer(q)
		shown := min(shownAnswers, len(ids))
		fmt.Fprintf(t, "query %d\trow\t", q)
		for _, id := range ids[:shown] {
			fmt.Fprintf(t, "%d\t", id)
		}
		fmt.Fprint(t, "\n\tdistance\t")
		for _, d := range distances[:shown] {
			fmt.Fprintf(t, "%.4g\t", d)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
