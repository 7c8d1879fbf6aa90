// Package iterate runs the supervised iteration over a kernel.Operator.
//
// From a start X_0, [Run] takes the steps
//
//	X_t = X_{t-1} + 1/2 Diag(L_X)^+ (alpha L_Y - L_X) X_{t-1}     (kernel.Paper)
//	X_t = X_{t-1} - 1/2 Diag(L)^+ L X_{t-1},  L = L_X/dbar + beta L_Y   (kernel.Attract)
//
// A step is one pass over the weights. The pass makes the product, divides by the
// degrees, adds the label term, and sums up the objective, the classes and the
// figures of the trace. The objective of a form never rises for a coefficient >= 0
// and a table without negative weights.
//
//	op, err := kernel.Build(ctx, features, kernel.Sigma(1), nil)
//	if err != nil {
//		return err
//	}
//	defer op.Close()
//	step := kernel.Step{Form: kernel.Attract}
//	result, err := iterate.Run(ctx, op, x, step, &iterate.Settings{Steps: 3}, nil) // moves x
//
// The objective is homogeneous, so an iterate may shrink towards a point or
// grow without bound. [Settings.Normalize] rescales after each step; without it
// a run beyond 1e30 ends with [ErrDiverged].
//
// [RandomStart] makes the random start Q, the same for a seed on every machine,
// up to the last bit of math.Log on another architecture.
//
// Ranks share a run where they share the operator (kernel.Options.Ranks). Between steps each
// rank has only its own rows of the iterate.
package iterate
