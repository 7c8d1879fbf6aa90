// Package margin says what the geometry of an embedding promises to the nearest row: how far
// its classes are apart, how far a map carries a row that is near to rows of its class, and what
// share of new rows must therefore find their class, if anything follows at all.
//
//	report, err := margin.OfMap(ctx, engine, model.Map, rows, model.X, labels, nil)
//	fmt.Println(report.Sentence())
//
// The promise is the theorem on the nearest neighbour of Vural and Guillemot, "A Study of the
// Classification of Low-Dimensional Data with Supervised Manifold Learning" (JMLR 18(157), 2017),
// which the PrivateMail paper quotes as Theorem 9. docs/margin.md has its statement, its proof,
// and what is different here. In short: rows x_i of class m are embedded at y_i, a new row x at
// f(x), and with
//
//	gamma    the least distance between places of different classes,
//	A_delta  the largest distance of places of a class whose rows are within 2 delta,
//	L        a Lipschitz constant of f, and f(x_i) = y_i,
//	eta      the least mass of class m in a ball of radius delta around one of its rows,
//	N        the number of rows of class m, and Q < N eta,
//
// in an embedding of k columns, L delta + sqrt(k) epsilon + A_delta <= gamma/2 makes the nearest
// place right with a probability of at least
//
//	1 - exp(-2 (N eta - Q)^2 / N) - 2 k exp(-Q epsilon^2 / (2 L^2 delta^2)).
//
// A shorter argument needs neither epsilon nor A_delta: where L delta < gamma/2, one row of the
// class within delta is enough, and 1 - (1 - eta)^N is a bound. [Report] has both.
//
// # What is measured, and what is bounded
//
// The separation is exact, found by package internal/nearest. Masses of balls are bounded from
// below from the rows themselves, with a confidence that holds for all classes and radii at once.
// No finite sample bounds the least mass over all rows a class could have; the bound here is for
// all but a share of them (Class.Unseen), which is taken off the accuracy. A_delta is exact where
// the pairs of rows in one class are few enough to be looked at, and a bound by L otherwise.
//
// Rows and new rows are taken for independent draws of their classes. Rows without a label do not
// take part.
//
// # Concurrency
//
// Functions only read their arguments and may be called concurrently. The same input gives the
// same bits for any number of workers.
package margin
