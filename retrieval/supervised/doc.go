// Package supervised makes the embedding of mode supervised: a linear map for
// everybody and a gallery that its labels have drawn together a little.
//
//	model, err := supervised.Fit(ctx, engine, gallery, labels, nil) // at the server
//	z, err := model.Map.Apply(queries)                              // at the client
//
// The server has rows with labels, some of them perhaps without, and makes two
// things of them. The first is a linear map that shrinks the directions in which
// rows of one class differ ([NewMap]): with mu the mean of all rows and S the
// covariance of the labelled ones about the means of their classes,
//
//	z = (f - mu) A / |(f - mu) A|,   A = (S + (tr S / d) I)^(-1/2).
//
// mu and A are published; a query is embedded by them alone, without a label and
// without anything being asked of the server. The second is the gallery itself,
// moved a little ([Fit]): from X = z a step or two of
//
//	X <- X - 1/2 D^+ L X,   L = L_X/dbar + beta L_same,
//
// over the graph of the nearest z and the graph of equal labels, the form
// kernel.Attract. The nearest rows of X are the answer to a query's z. No step
// increases tr X'L X.
//
// The iteration is stopped early on purpose. One step draws a row towards its
// class and leaves it near its neighbours; more steps, or a larger beta, make
// the lists purer (P@8) and in the end worse (R@8), as all rows of a class become
// one point. privatemail.Engine.Converge goes all the way: its eigenvectors are
// for maps and clusters. [Extend] places new rows in such a map.
//
// Labels of queries have no way in: neither [Map.Apply] nor [Extend] takes any.
//
// # Concurrency
//
// All functions may be called concurrently; they only read their arguments. The
// same input gives the same bits for any number of workers.
package supervised
