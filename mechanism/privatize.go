package mechanism

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Workers is a set of goroutines that share the work of making noise, such as
// par.New starts. The nil set is the caller alone.
type Workers = par.Workers

// A Request is a computed first step to be released, and whose budget pays.
type Request struct {
	// Displacement is f - Q. It is secret: nothing of it leaves Privatize but
	// the release.
	Displacement blas64.General
	// Query holds the public parameters of f, those of the bound, and of Q.
	Query release.Query
	// Unit is whose privacy is spent.
	Unit Unit
	// Labels says what later steps may know of the labels.
	Labels LabelRequest
}

// A LabelRequest chooses a label mode; there is no default.
type LabelRequest struct {
	// Mode is release.ModePublic, ModeDropped or ModeRandomised. ModePublic needs a
	// relation that takes the label to be public.
	Mode string
	// Values are the labels of all rows and Epsilon, in [1e-6, 20], is what
	// randomising them costs each row. Both are for ModeRandomised only, which
	// needs a relation that protects the label.
	Values  []int32
	Epsilon float64
}

// Privatize adds the calibrated noise and returns the release.
//
// The order is fixed. Everything is checked, all randomness drawn and all
// memory taken first; then the budget writes the spend down, and only then is
// noise made. An error before that leaves the budget untouched. After it
// nothing is given back: a cancelled context returns its error, and the spend
// stays. Errors from then on match ErrSpent. If only noting the hash of the
// release fails, at the very end, the release comes with the error: it has been
// paid for.
//
// The result depends on the matrix, the calibration and the randomness alone,
// not on the number of workers; a nil set runs in the caller. Privatize is safe
// for concurrent use.
//
// Errors are ErrSensitivity when the matrix or its parameters are not those of
// the bound, ErrNonFinite, ErrParam, ErrLabels, ErrLedger without a budget,
// ErrEntropy, what the budget says (ErrBudgetExceeded among it), and the
// context's.
func Privatize(ctx context.Context, c Calibration, budget Budget, r Request, workers *Workers) (*release.Release, error) {
	return privatize(ctx, c, budget, r, workers, system)
}

// privatize is Privatize with the source of randomness as a parameter.
func privatize(ctx context.Context, c Calibration, budget Budget, r Request, workers *par.Workers, source io.Reader) (*release.Release, error) {
	if err := checkRequest(c, budget, r); err != nil {
		return nil, err
	}
	n := r.Displacement.Rows * r.Displacement.Cols
	secret, err := drawSecrets(source, par.Blocks(n, chunkSize), r.Labels.Mode == release.ModeRandomised)
	if err != nil {
		return nil, err
	}
	defer secret.forget()
	out := describe(c, r, secret.id)
	if err := out.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	receipt, err := spendFirst(budget, r.Unit, out.ID, c.Spend(r.Labels.Epsilon), func() error {
		if err := fill(ctx, out, c, r, workers, secret); err != nil {
			return fmt.Errorf("mechanism: %w: %w", err, ErrSpent)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Ledger = receipt.Sequence()
	encoded, err := out.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("mechanism: %w: %w", err, ErrSpent)
	}
	if err := budget.commit(receipt, sha256.Sum256(encoded)); err != nil {
		return out, fmt.Errorf("mechanism: the hash of the release is not in the ledger: %w: %w", err, ErrSpent)
	}
	return out, nil
}

// fill draws the noise and the randomised labels.
func fill(ctx context.Context, out *release.Release, c Calibration, r Request, workers *par.Workers, secret *secrets) error {
	err := workers.Do(ctx, len(secret.chunks), par.Func(func(_, chunk int) {
		lo, hi := par.Block(chunk, len(out.Grid), chunkSize)
		stream(seedOf(secret.chunks, chunk), func(words source) {
			perturb(out.Grid, r.Displacement, lo, hi, c, &sampler{words})
		})
	}))
	if err != nil {
		return err
	}
	for i := range secret.labels {
		stream(&secret.labels[i], func(words source) {
			randomisedResponse(out.Labels.Values, r.Labels.Values, r.Query.Classes, r.Labels.Epsilon, words)
		})
	}
	return ctx.Err()
}

// describe returns the release with all its fields set but the private ones,
// the grid and the labels, which are zero.
func describe(c Calibration, r Request, id [16]byte) *release.Release {
	bound := c.Bound()
	out := &release.Release{
		ID:        id,
		Mechanism: release.RoundedGaussian,
		Rows:      r.Displacement.Rows,
		Columns:   r.Displacement.Cols,
		Grid:      make([]int64, r.Displacement.Rows*r.Displacement.Cols),
		Step:      c.Step(),
		Multiple:  c.Multiple(),
		Privacy: release.Privacy{
			Epsilon: c.Epsilon(),
			Delta:   c.Delta(),
			Rule:    c.Rule().String(),
			Sigma:   c.Sigma(),
			Mu:      c.Mu(),
			Rho:     c.Rho(),
		},
		Sensitivity: release.Sensitivity{
			Total:         c.L2Sensitivity(),
			Bound:         bound.Exact(),
			OperatorError: bound.Eta(),
			GridError:     c.GridError(),
			Norm:          release.NormFrobenius,
			Derivation:    string(bound.Derivation()),
			Relation:      bound.Relation().String(),
			Operator:      bound.Operator().Kind(),
			Records:       bound.Records(),
		},
		Query:  r.Query,
		Labels: release.Labels{Mode: r.Labels.Mode, Epsilon: r.Labels.Epsilon},
		Unit:   r.Unit.Kind,
	}
	if background, ok := bound.Operator().(sensitivity.Background); ok {
		out.Query.Radius, out.Query.Background = background.Radius, background.Weight
	}
	for _, row := range bound.Rows().Private {
		out.Sensitivity.PrivateRows = append(out.Sensitivity.PrivateRows, int32(row))
	}
	slices.Sort(out.Sensitivity.PrivateRows)
	out.Sensitivity.Private = len(out.Sensitivity.PrivateRows)
	if r.Labels.Mode == release.ModeRandomised {
		out.Labels.Values = make([]int32, len(r.Labels.Values))
	}
	return out
}

// checkRequest looks at everything a release can fail for, except entropy, the
// budget and the context.
func checkRequest(c Calibration, budget Budget, r Request) error {
	if err := CheckPayer(budget, r.Unit); err != nil {
		return err
	}
	if c.multiple == 0 {
		return fmt.Errorf("mechanism: the calibration was not made by Calibrate: %w", ErrSensitivity)
	}
	if err := checkQuery(c.Bound().Query(), r.Query); err != nil {
		return err
	}
	if err := checkLabels(c.Bound(), r); err != nil {
		return err
	}
	return checkMatrix(c.Bound(), r.Displacement)
}

// CheckPayer tells before any work whether there is somebody to pay for a release: a
// budget, and a unit of it. Errors are ErrLedger and ErrParam.
func CheckPayer(budget Budget, unit Unit) error {
	if err := checkBudget(budget); err != nil {
		return err
	}
	return unit.check()
}

// checkBudget refuses no budget, and a ledger that was never opened.
func checkBudget(budget Budget) error {
	if ledger, ok := budget.(*Ledger); budget == nil || ok && (ledger == nil || ledger.state == nil) {
		return fmt.Errorf("mechanism: neither an opened ledger nor NoLedger: %w", ErrLedger)
	}
	return nil
}

// checkMatrix compares the matrix with the one the bound is for.
func checkMatrix(b sensitivity.Bound, x blas64.General) error {
	rows, columns := b.Size()
	if x.Rows != rows || x.Cols != columns {
		return fmt.Errorf("mechanism: the matrix is %d x %d and the bound for %d x %d: %w", x.Rows, x.Cols, rows, columns, ErrSensitivity)
	}
	if x.Stride < x.Cols || x.Stride > len(x.Data) || int64(len(x.Data)) < int64(rows-1)*int64(x.Stride)+int64(columns) {
		return fmt.Errorf("mechanism: the matrix has a stride of %d and %d numbers, too few for %d x %d: %w", x.Stride, len(x.Data), rows, columns, ErrParam)
	}
	for i := range rows {
		for _, v := range x.Data[i*x.Stride : i*x.Stride+columns] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("mechanism: the matrix to be released: %w", ErrNonFinite)
			}
		}
	}
	return nil
}

// checkQuery compares what the release will say of the query with the query of
// the bound.
func checkQuery(bound sensitivity.Query, q release.Query) error {
	name, classes := "", 0
	switch t := bound.Table.(type) {
	case sensitivity.Gaussian:
		// A release tells one width, that of the features.
		if t.Sigma == bound.Sigma {
			name, classes = "gaussian", t.Classes
		}
	case sensitivity.Equal:
		name, classes = "equal", t.Classes
	case sensitivity.Different:
		name, classes = "different", t.Classes
	}
	switch {
	case name == "":
		return fmt.Errorf("mechanism: a release cannot describe the label table %v: %w", bound.Table, ErrSensitivity)
	case q.Sigma != bound.Sigma || q.Alpha != bound.Alpha || q.Table != name || q.Classes != classes:
		return fmt.Errorf("mechanism: the query is not that of the bound, %v: %w", bound, ErrSensitivity)
	case !(q.SigmaQ > 0 && q.SigmaQ <= math.MaxFloat64):
		return &ParamError{Field: "Query.SigmaQ", Value: q.SigmaQ, Allowed: "a positive finite number"}
	}
	return nil
}

// Check tells before any work whether the mode and its price go with a relation; the
// labels themselves are looked at by Privatize. Errors are ErrLabels and ErrParam.
func (l LabelRequest) Check(relation sensitivity.Relation) error {
	switch l.Mode {
	case release.ModePublic, release.ModeDropped:
		if l.Epsilon != 0 {
			return fmt.Errorf("mechanism: an epsilon of labels that are %s: %w", l.Mode, ErrLabels)
		}
		if l.Mode == release.ModePublic && relation.LabelPrivate() {
			return fmt.Errorf("mechanism: public labels under %v, which protects the label: drop or randomise them, or take a relation of features alone: %w", relation, ErrLabels)
		}
		return nil
	case release.ModeRandomised:
	default:
		return fmt.Errorf("mechanism: label mode %q, want %q, %q or %q: %w", l.Mode, release.ModePublic, release.ModeDropped, release.ModeRandomised, ErrLabels)
	}
	if !relation.LabelPrivate() {
		return fmt.Errorf("mechanism: labels are public under %v, randomising them promises nothing: %w", relation, ErrLabels)
	}
	if !(l.Epsilon >= minEpsilon && l.Epsilon <= maxLabelEpsilon) {
		return &ParamError{Field: "Labels.Epsilon", Value: l.Epsilon, Allowed: "1e-6 to 20"}
	}
	return nil
}

// checkLabels checks the label mode and, without a word about them, the labels.
func checkLabels(b sensitivity.Bound, r Request) error {
	if err := r.Labels.Check(b.Relation()); err != nil {
		return err
	}
	if r.Labels.Mode != release.ModeRandomised {
		if r.Labels.Values != nil {
			return fmt.Errorf("mechanism: labels given in mode %s: %w", r.Labels.Mode, ErrLabels)
		}
		return nil
	}
	if len(r.Labels.Values) != r.Displacement.Rows {
		return fmt.Errorf("mechanism: %d labels for %d rows: %w", len(r.Labels.Values), r.Displacement.Rows, ErrLabels)
	}
	for _, l := range r.Labels.Values {
		if l < 0 || int(l) >= r.Query.Classes {
			return fmt.Errorf("mechanism: a label is outside 0 .. %d: %w", r.Query.Classes-1, ErrLabels)
		}
	}
	return nil
}

const maxLabelEpsilon = 20

// clampSteps is how many grid steps a coordinate may be away from zero. With
// noise on top the sum stays a whole number of steps that float64 holds.
const clampSteps = 1 << 51

// onGrid returns a + b, cut to what a release may hold: noise reaches that far
// with a probability below exp(-1e6), and cutting is post-processing.
func onGrid(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		sum = math.MaxInt64
	case b < 0 && sum > a:
		sum = math.MinInt64
	}
	return max(-release.GridLimit, min(release.GridLimit, sum))
}
