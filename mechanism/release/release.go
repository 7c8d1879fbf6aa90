package release

import "gonum.org/v1/gonum/mat"

// A Release is a first step with noise, and everything a reader needs to know
// about it: its privacy, how it was made, and the public numbers that later
// steps need. It holds nothing else; in particular neither the noise nor its
// seed, and nothing that was measured on the data.
//
// The released matrix is Q + Step * Grid: the grid holds f - Q, and Q is a
// public function of Query.Seed.
type Release struct {
	// ID is drawn at random for each release.
	ID [16]byte
	// Mechanism is the name and version of the mechanism, "rounded-gaussian/1": ideal
	// Gaussian noise, rounded exactly to the grid.
	Mechanism string

	// Rows and Columns are the shape of the matrix.
	Rows, Columns int
	// Grid holds the numbers, row after row, in units of Step.
	Grid []int64
	// Step is the distance of two grid points, a power of two.
	Step float64
	// Multiple is the standard deviation of the noise in units of Step, so that
	// Privacy.Sigma = Multiple * Step exactly.
	Multiple int64

	// Privacy states the guarantee of the noise, Sensitivity the bound it was
	// calibrated to, Query how the first step was made, Labels what later steps know
	// about the labels.
	Privacy     Privacy
	Sensitivity Sensitivity
	Query       Query
	Labels      Labels

	// Unit is the kind of privacy unit the budget was taken from, UnitRecord or
	// UnitClient; its name stays with the ledger.
	Unit string
	// Ledger is the number that the budget gave the spend, 0 when nothing was counted
	// (mechanism.NoLedger). For a mechanism.Ledger it is the number of the record; other
	// budgets have other numbers. A release does not say which kind of budget paid for it,
	// nor which ledger, since that would link all releases that one ledger paid for. Readers
	// have to trust the number: only the owner of the ledger can look up the spend by ID
	// (mechanism.Paid).
	Ledger uint64
}

// The kinds of privacy units.
const (
	UnitRecord = "record" // one row
	UnitClient = "client" // all rows of one person or device
)

// Privacy states the guarantee of the noise, not counting label randomisation.
type Privacy struct {
	// Epsilon and Delta are the numbers that the noise was calibrated to.
	Epsilon, Delta float64
	// Rule is the rule that chose Sigma, "analytic" or "classical".
	Rule string
	// Sigma is the standard deviation of the noise of one entry.
	Sigma float64
	// Mu is Sensitivity.Total/Sigma: the release is Mu-Gaussian-private.
	Mu float64
	// Rho is Mu^2/2: the release is Rho-zCDP. Both are rounded up.
	Rho float64
}

// Sensitivity is the bound the noise was calibrated to, in its parts.
type Sensitivity struct {
	// Total is Bound + 2 OperatorError + GridError, rounded up.
	Total float64
	// Bound is the proved bound for the exact query.
	Bound float64
	// OperatorError bounds the distance of the computed from the exact query.
	OperatorError float64
	// GridError is the most that rounding to the grid can add between two
	// neighbours.
	GridError float64
	// Norm is the norm of the sensitivity, "frobenius, given Q": over all entries, for
	// the one Q of the release.
	Norm string
	// Derivation names the proof, Relation the neighbouring relation, Operator
	// the weights that the proof is for, as package sensitivity spells them:
	// "full" is for all operators that weigh every pair, dense and poly.
	Derivation, Relation, Operator string
	// Private is the number of rows that may be private, and PrivateRows lists
	// them, ascending: the others get no protection. They are 0 and nil when any
	// row may be private.
	Private     int
	PrivateRows []int32
	// Records is the number of rows that may change together, 1 unless a group
	// bound was used.
	Records int
}

// Query holds the public parameters of the first step.
type Query struct {
	// Sigma is the kernel width in exp(-d^2/(2 Sigma^2)).
	Sigma float64
	// Alpha is the coefficient of the label term.
	Alpha float64
	// Radius and Background belong to the operator background: pairs at a distance
	// above Radius have the weight Background. Both are zero for other operators.
	Radius, Background float64
	// Table is the label table: "equal", "different", or "gaussian" of width
	// Sigma.
	Table string
	// Classes is the public number of classes: labels are 0 .. Classes-1.
	Classes int
	// SigmaQ and Seed describe the public random start Q.
	SigmaQ float64
	Seed   uint64
}

// Labels says what happens to labels after the release.
type Labels struct {
	// Mode is ModePublic, ModeDropped or ModeRandomised.
	Mode string
	// Epsilon is the cost of the randomised labels, for each row. It is 0 in other
	// modes.
	Epsilon float64
	// Values are the randomised labels, nil in other modes.
	Values []int32
}

// The label modes.
const (
	ModePublic     = "public"     // the labels are public and may be used later
	ModeDropped    = "dropped"    // later steps use no labels
	ModeRandomised = "randomised" // later steps use the labels in the release
)

// Displacement returns Step * Grid, the release without Q, exactly. It is for readers
// who have Q or do not need it; post.Points adds Q. It allocates. Check must accept the
// release.
func (r *Release) Displacement() *mat.Dense {
	out := make([]float64, len(r.Grid))
	for i, v := range r.Grid {
		out[i] = float64(v) * r.Step
	}
	return mat.NewDense(r.Rows, r.Columns, out)
}
