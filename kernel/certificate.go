package kernel

import (
	"fmt"
	"math"
	"strconv"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
)

// A Kind says what an error bound is made of.
type Kind int

// The kinds of certificate.
const (
	Exact       Kind = Kind(base.Exact)       // nothing but rounding
	DroppedMass Kind = Kind(base.DroppedMass) // weights beyond a radius are left out
	Replaced    Kind = Kind(base.Replaced)    // weights beyond a radius are a constant
	Relative    Kind = Kind(base.Relative)    // every weight is off by at most EntryRel of itself
	Absolute    Kind = Kind(base.Absolute)    // every weight is off by at most EntryAbs
	AsAsked     Kind = Kind(base.AsAsked)     // no pairs but those of the graph were asked for; the w of a Certificate are its exact weights
)

func (k Kind) String() string {
	switch k {
	case Exact:
		return "exact"
	case DroppedMass:
		return "dropped mass"
	case Replaced:
		return "replaced"
	case Relative:
		return "relative"
	case Absolute:
		return "absolute"
	case AsAsked:
		return "as asked"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// A Certificate bounds how far an operator's weights what are from the Gaussian
// weights w. The bound of row i is eta_i >= (sum_j |what_ij - w_ij|) / dhat_i;
// the package comment says what it implies for a step.
type Certificate struct {
	Kind Kind
	// EntryRel bounds |what_ij - w_ij| / w_ij for the weights that are kept:
	// distances, exponential and the stored format together.
	EntryRel float64
	// EntryAbs bounds |what_ij - w_ij| itself, where weights are approximated and
	// not left out.
	EntryAbs float64
	// RowMax is the largest eta_i, +Inf when a row is isolated. RowP99 is the eta_i that
	// 99 in 100 rows do not exceed.
	RowMax, RowP99 float64
	// Rounding bounds the rounding of sums. A computed sum over j of what_ij x_j is off
	// by at most Rounding times S, where S is the sum of |what_ij x_j| plus the |x_j|
	// of all points equal to point i. For grid, whose terms are not those of the sum,
	// it is off by at most Rounding times dhat_i max_j |x_j|, in rows of eta_i < 1. For
	// dense, background and grid the final rounding to the type of the iterate is not
	// part of it. For csr, pairs, and poly in float32, whose products are float32, it
	// is; there a product below the range of float32 may be off by another 2^-150.
	Rounding float64
	// Isolated is the number of rows whose weights were all left out. A step
	// leaves them where they are. The kernel of every pair would move them, so nothing
	// is certified for them and their eta_i is +Inf.
	Isolated int
	// Row holds eta_i in the operator's order; nil when all rows share RowMax.
	Row []float32
}

// certificateOf returns the certificate of an operator.
func certificateOf(c base.Certificate) Certificate {
	return Certificate{
		Kind: Kind(c.Kind), EntryRel: c.EntryRel, EntryAbs: c.EntryAbs, RowMax: c.RowMax, RowP99: c.RowP99,
		Rounding: c.Rounding, Isolated: c.Isolated, Row: c.Row,
	}
}

// own returns what the operators know of the certificate.
func (c Certificate) own() base.Certificate {
	return base.Certificate{RowMax: c.RowMax, Row: c.Row}
}

// Eta returns the bound of row i.
func (c Certificate) Eta(i int) float64 { return c.own().Eta(i) }

// String says in words how far the worst row is from the Gaussian weights, such as
// "worst row: weights cut off could total 8.7 times those kept". Isolated rows have no
// bound and are counted behind it.
func (c Certificate) String() string {
	if c.Isolated > 0 && c.Isolated >= len(c.Row) {
		return "no bound: every row is isolated"
	}
	s := "worst row: " + c.Kind.bound(c.own().WorstConnected())
	if c.Kind == AsAsked {
		s = "as asked for; " + s
	}
	if c.Row != nil && !math.IsInf(c.RowP99, 1) {
		s += "; in 99 of 100 rows at most " + plainUp(c.RowP99)
	}
	if c.Isolated > 0 {
		s += fmt.Sprintf("; isolated rows, which have no bound: %d", c.Isolated)
	}
	return s
}

// bound says what an eta of a row means.
func (k Kind) bound(eta float64) string {
	switch k {
	case DroppedMass:
		return fmt.Sprintf("weights cut off could total %s times those kept", plainUp(eta))
	case Replaced:
		return fmt.Sprintf("weights replaced by a constant could be off by %s times the sum of the row, all together", plainUp(eta))
	}
	return fmt.Sprintf("errors of its weights could total %s times their sum", plainUp(eta))
}

// plainUp formats x >= 0 with two digits, rounded up, and without an exponent from
// 0.0001 on.
func plainUp(x float64) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return fmt.Sprint(x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	up := math.Ceil(x/unit*(1-1e-12)) * unit
	if up >= 10 {
		return strconv.FormatFloat(up, 'f', 0, 64)
	}
	return strconv.FormatFloat(up, 'g', 2, 64)
}
