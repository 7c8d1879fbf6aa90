// Package privatemail embeds labelled feature vectors into a few dimensions by
// supervised manifold learning.
//
// Features X (n rows of d values) give a graph of Gaussian weights with the
// Laplacian L_X, labels Y a graph with the Laplacian L_Y. An embedding is the
// outcome of a few steps of
//
//	X_t = X_{t-1} + 1/2 Diag(L_X)^+ (alpha L_Y - L_X) X_{t-1}
//
// from a random start (form kernel.Paper), or of the same step with the labels
// pulling equal rows together, from the features themselves (kernel.Attract).
// Package kernel has the formulas and the error bounds, package iterate the
// loop.
//
//	engine, err := privatemail.New()
//	if err != nil {
//		return err
//	}
//	defer engine.Close()
//	embedding, err := engine.Embed(ctx, features, labels, &privatemail.Settings{
//		MeanNeighbours: 20, Form: kernel.Attract, Coefficient: 3,
//	})
//
//	features, bandwidth ──> kernel.Build ──> Operator (L_X) ─┐
//	labels ──────────────> kernel.NewLabels ──> L_Y ─────────┴─> iterate.Run ──> embedding
//
// [Engine.Converge] takes such steps to their end, the leading eigenvectors of the
// graph: for clusters. [Engine.Map] makes a map to look at out of them.
//
// The first step can be released with differential privacy. Only it touches
// private data; the later steps are made from the release and public numbers,
// anywhere:
//
//	features, labels ──> Privatize: f, a proved bound (package sensitivity),
//	                     exact noise, the ledger (package mechanism) ──> Release
//	Release, public labels ──> Continue (package post) ──> embedding
//
// [Sensitivity] says beforehand what that costs. docs/privacy.md has the promise
// and its limits.
//
// An [Engine] owns the worker goroutines and the memory budget and puts these
// parts together. This package itself computes nothing. [Engine.Lend] hands the workers to
// packages that take some, such as evaluate, and [WithLent] takes those of the caller, so
// that a program has one set of goroutines however many parts of it compute.
//
// Points come as a *mat.Dense. Settings.Into has them written to memory of the caller's
// instead, in float32, in which they are computed.
//
// # Guarantees
//
// The same input gives the same bits for any number of workers. The level of
// processor instructions changes no bit of a release. Of an embedding by the same
// operator it changes the last digits of [Engine.Converge], of [Engine.Map] and of poly in float32 alone;
// it may change which operator is chosen. Every graph comes with a certificate of its
// distance from the full Gaussian kernel. Memory is estimated before it is taken, counted
// where it grows, and refused with kernel.ErrMemory where it would exceed the budget.
// Every call takes a context, which it looks at between pieces of work that are short
// against a second per million rows. Bad input is an error that names the row, never a
// panic.
//
// # Rows belong to the caller
//
// Calls read features, labels and starts where they are and never write them. In return
// the caller must not change them until the call returns, nor a file that they are mapped
// from. If they do change, the call returns an error or wrong numbers. A panic that comes of
// it is returned as an error, *par.PanicError. That is a help for debugging and no
// protection: inner loops in assembly rely on what was checked once.
package privatemail
