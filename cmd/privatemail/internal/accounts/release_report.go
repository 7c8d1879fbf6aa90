package accounts

import (
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// WriteWorth says what a release is and what it promises, and with details in formulas,
// with the noise.
func WriteWorth(w io.Writer, r *release.Release, g Guarantee, details bool) {
	fmt.Fprintf(w, "release\t%x, %d x %d\n", r.ID, r.Rows, r.Columns)
	fmt.Fprintf(w, "guarantee\tepsilon %s, delta %g for %s, relation %s\n", CloselyTo(g.Total(), 6), g.Delta, RowsThatChange(r.Sensitivity.Records, r.Unit), g.Relation)
	if p := r.Sensitivity.Private; p > 0 {
		fmt.Fprintf(w, "protected\t%d of %d rows\n", p, r.Rows)
	}
	if !details {
		g.WriteReal(w)
		return
	}
	g.Write(w)
	fmt.Fprintf(w, "noise\tstandard deviation %.5g for a sensitivity of %s (%s, %s)\n", r.Privacy.Sigma, AtMost(r.Sensitivity.Total, 5), r.Sensitivity.Derivation, operatorOf(r))
	if r.Labels.Mode == release.ModeRandomised {
		fmt.Fprintf(w, "labels\trandomised, epsilon %g a row, included above\n", r.Labels.Epsilon)
	} else {
		fmt.Fprintf(w, "labels\t%s\n", r.Labels.Mode)
	}
}

// RowsThatChange says for whom a guarantee is: a number of records of a kind of unit.
func RowsThatChange(records int, kind string) string {
	if records > 1 || kind == release.UnitClient {
		return fmt.Sprintf("%d rows that change together", records)
	}
	return "one row"
}

// operatorOf returns the operators that may have made a release, by the names of
// -operator. A release says which weights its bound is for, not who computed them,
// and calls all of them "full"; readers rely on that word, so it stays there.
func operatorOf(r *release.Release) string {
	if r.Sensitivity.Operator == (sensitivity.Full{}).Kind() {
		return "dense or poly"
	}
	return r.Sensitivity.Operator
}
