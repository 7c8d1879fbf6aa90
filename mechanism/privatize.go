package mechanism

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/mechanism/internal/terms"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Privatize adds the noise of c and returns the release.
//
// The order is fixed. First everything is checked, all randomness drawn and all
// memory taken. Then the budget writes the spend down, and only then is noise
// made. An error before the spend leaves the budget untouched. After the spend
// nothing is given back: a cancelled context returns its error, and the spend
// stays. These errors match ErrSpent. If only noting the hash of the release
// fails, at the very end, the release is returned with the error: it has been
// paid for.
//
// The result depends only on the matrix, the calibration and the randomness, not on the
// number of workers. Nil workers mean the calling goroutine alone. Privatize is
// safe for concurrent use.
//
// Errors are ErrParam, also when the matrix or its parameters are not those of
// the bound, ErrNonFinite, ErrLabels, ErrLedger without a budget,
// ErrEntropy, the errors of the budget (such as ErrBudgetExceeded), and the error
// of ctx.
func (c Calibration) Privatize(ctx context.Context, budget Budget, f FirstStep, workers *par.Workers) (*release.Release, error) {
	return privatize(ctx, c, budget, f, workers, system)
}

// privatize is Privatize with the source of randomness as a parameter.
func privatize(ctx context.Context, c Calibration, budget Budget, f FirstStep, workers *par.Workers, source io.Reader) (*release.Release, error) {
	if err := f.check(c, budget); err != nil {
		return nil, err
	}
	n := f.Displacement.Rows * f.Displacement.Cols
	secret, err := drawSecrets(source, split.Blocks(n, chunkSize), f.Labels.Mode == release.ModeRandomised)
	if err != nil {
		return nil, err
	}
	defer secret.forget()
	out := describe(c, f, secret.id)
	if err := out.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mechanism: %w", err)
	}
	receipt, err := spendFirst(budget, f.Unit, out.ID, c.Spend(f.Labels.Epsilon), func() error {
		if err := fill(ctx, out, c, f, workers, secret); err != nil {
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
	if err := budget.Commit(receipt, sha256.Sum256(encoded)); err != nil {
		return out, fmt.Errorf("mechanism: the hash of the release is not in the ledger: %w: %w", err, ErrSpent)
	}
	return out, nil
}

// fill draws the noise and the randomised labels.
func fill(ctx context.Context, out *release.Release, c Calibration, f FirstStep, workers *par.Workers, secret *secrets) error {
	err := workers.Do(ctx, len(secret.chunks), par.Func(func(_, chunk int) {
		lo, hi := split.Block(chunk, len(out.Grid), chunkSize)
		noise.Stream(seedOf(secret.chunks, chunk), func(words noise.Source) {
			perturb(out.Grid, f.Displacement, lo, hi, c, &noise.Sampler{Words: words})
		})
	}))
	if err != nil {
		return err
	}
	for i := range secret.labels {
		noise.Stream(&secret.labels[i], func(words noise.Source) {
			randomisedResponse(out.Labels.Values, f.Labels.Values, f.Query.Classes, f.Labels.Epsilon, words)
		})
	}
	return ctx.Err()
}

// describe returns the release with all its fields set except the private ones:
// the grid and the labels are zero.
func describe(c Calibration, f FirstStep, id [16]byte) *release.Release {
	bound := c.Bound()
	out := &release.Release{
		ID:        id,
		Mechanism: terms.RoundedGaussian,
		Rows:      f.Displacement.Rows,
		Columns:   f.Displacement.Cols,
		Grid:      make([]int64, f.Displacement.Rows*f.Displacement.Cols),
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
			Norm:          terms.NormFrobenius,
			Derivation:    bound.Derivation(),
			Relation:      bound.Relation().String(),
			Operator:      bound.Operator().Kind(),
			Records:       bound.Records(),
		},
		Query:  f.Query,
		Labels: release.Labels{Mode: f.Labels.Mode, Epsilon: f.Labels.Epsilon},
		Unit:   f.Unit.Kind,
	}
	if background, ok := bound.Operator().(sensitivity.Background); ok {
		out.Query.Radius, out.Query.Background = background.Radius, background.Weight
	}
	for _, row := range bound.Rows().Private {
		out.Sensitivity.PrivateRows = append(out.Sensitivity.PrivateRows, int32(row))
	}
	slices.Sort(out.Sensitivity.PrivateRows)
	out.Sensitivity.Private = len(out.Sensitivity.PrivateRows)
	if f.Labels.Mode == release.ModeRandomised {
		out.Labels.Values = make([]int32, len(f.Labels.Values))
	}
	return out
}
