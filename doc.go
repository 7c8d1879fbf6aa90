// Package privatemail embeds labelled feature vectors into a few dimensions by
// supervised manifold learning.
//
// Features X (n rows of d values) give a graph of Gaussian weights with the
// Laplacian L_X, labels Y a graph with the Laplacian L_Y. An embedding is the
// result of a few steps of
//
//	X_t = X_{t-1} + 1/2 Diag(L_X)^+ (alpha L_Y - L_X) X_{t-1}
//
// from a random start (form kernel.Paper), or of a similar step from the
// features themselves, in which labels pull rows of a class together
// (kernel.Attract). Package kernel has the formulas and the error bounds,
// package iterate the loop.
//
//	engine, err := privatemail.New()
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	embedding, err := engine.Embed(ctx, features, labels, &privatemail.Settings{
//		Graph: privatemail.Graph{MeanNeighbours: 20}, Form: kernel.Attract, Coefficient: 3,
//	})
//
//	features, bandwidth ──> kernel.Build ──> Operator (L_X) ─┐
//	labels ──────────────> kernel.NewLabels ──> L_Y ─────────┴─> iterate.Run ──> embedding
//
// [Engine.Converge] takes such steps to their limit, the leading eigenvectors of
// the graph: for clusters. [Engine.Map] makes a map for pictures from them.
//
// The first step can be released with differential privacy. Only this step
// reads private data; the later steps use the release and public numbers, and
// may run anywhere:
//
//	features, labels ──> Privatize: f, a proved bound (package sensitivity),
//	                     exact noise, the ledger (package mechanism) ──> Release
//	Release, public labels ──> Continue (package post) ──> embedding
//
// [Sensitivity] returns the cost beforehand. docs/privacy.md states the promise
// and its limits.
//
// An [Engine] owns the worker goroutines and the memory limit and puts these parts
// together. Most of the computing is in the packages above; this one adds the parts
// between them, such as the weighted means of [Engine.Extend] and the distances of
// [Engine.Distances]. [Engine.Lend] lends the workers to other packages, and [WithLent]
// takes workers of the caller, so one set of goroutines serves the whole program.
//
// Points are returned as a *mat.Dense, or written to Settings.Into in float32, in which
// they are computed.
//
// # Guarantees
//
// The same input gives the same bits for any number of workers. The level of processor instructions
// changes no bit of a release. With the same operator it changes only the last digits of
// [Engine.Converge], of [Engine.Map] and of poly in float32; it may change which operator is
// chosen. Every graph comes with a certificate of its distance from the full Gaussian kernel.
// Memory is estimated before it is taken, counted where it grows, and refused with kernel.ErrMemory
// where it would exceed the memory limit. Every call takes a context, and checks it between pieces of
// work, each much shorter than a second per million rows. Bad input is an error that names the row,
// never a panic.
//
// # Rows belong to the caller
//
// Calls read features, labels and starts in place, and do not write them, except where
// Settings.Into is the memory of a start or, with Overwrite, of the features. The caller
// must not change them, or a file that they are mapped from, until the call returns. If
// they do change, the call returns an error or wrong numbers. A panic caused by this is
// returned as an error, *par.PanicError. That helps debugging and is not a protection:
// inner loops in assembly rely on checks made once.
package privatemail
