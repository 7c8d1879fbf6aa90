// Package published repeats the method as it was published, in the text and in
// the authors' program, to measure what it does. Nothing in here protects
// anything: no function takes a budget or makes a release, and the package
// imports neither package mechanism nor what it makes. Package paper is the same
// algorithm with a guarantee that holds, and package retrieval has private retrieval that works.
//
//	c, err := published.New(ctx, data, published.PaperSettings(1))
//	outcome, err := c.Run(ctx, published.Variant{Source: published.Program, Noise: published.ProgramNoise, Epsilon: 1})
//	fmt.Println(outcome.Share(), published.Notice)
//
// # What is repeated
//
// The client embeds its query with P public rows, the server its gallery with
// the same rows; both are aligned on them and the K gallery rows nearest to the
// query are its answer. An embedding is T steps of
//
//	X <- X + 1/2 Diag(L_X)^{-1} (alpha L_Y - L_X) X
//
// from a random start Q, N x k. With noise, one step over the features comes
// first, noise is added, and L_X is made again from what came out; L_Y is used on
// in all steps, the row of the query included. The two differ in
//
//	            text                            program
//	weights     exp(-d^2/(2 sigma^2))           exp(-d^2/sigma^2)
//	L_Y         Laplacian of                    1/2 J |y_i - y_j| J,
//	            exp(-(y_i-y_j)^2/(2 sigma^2))   J = I - 11'/N
//	each step   nothing                         X scaled to |X|_F = sqrt(N)
//	deviation   s = sqrt(2 ln(1.25/delta))      s^2: the variance passed
//	of noise    Delta/epsilon                   as the deviation
//
// Delta is the paper's printed constant (sensitivity.Query.Paper), which is no bound;
// for the program's L_Y there is none. Neither has dummies: the program leaves
// them out.
//
// # What comes out
//
// With the text, nothing: its label term pushes equal labels apart, two random
// starts do not align after T averaging steps, and recall is at chance. With
// the program, high recall, at every epsilon alike: where all feature weights
// are near 1 a step has the factor
//
//	1/2 - alpha C/(2 pi^2)
//
// on the curve cos(pi y/C) of the label and 1/2 on what is orthogonal to all
// labels, so for more than 2 pi^2/alpha classes (33 at alpha = 0.6) the label
// outgrows the start, and a row's place is its label. The query's label goes in
// without noise in every step after the release. A [Variant] shows it by taking
// things away: features, kernel, and label in turn (modes published-* of
// "privatemail evaluate").
//
// [Notice] belongs next to every [Outcome]. Package modes has the variants as
// modes, and the example of how modes are measured.
//
// # Concurrency
//
// The functions may be called concurrently. Their results are the same bits for
// any number of workers; all randomness is seeded, noise too, which is one more
// reason that it protects nothing.
package published
