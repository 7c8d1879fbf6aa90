// Package evaluate measures embeddings: how well nearest neighbours retrieve rows of
// the same class, how much two spaces agree on who is near, and what both are worth
// under privacy.
//
// # Figures
//
// Let N_K(q) be the K gallery rows nearest to the query q and y the classes.
// Over all queries,
//
//	R@K        share of queries with a row of their class in N_K(q)
//	P@K        mean of |{g in N_K(q): y_g = y_q}| / K
//	overlap@K  mean of |N_K(q) in one space and N_K(q) in the other| / K
//	mAP@K      mean of the average precision of the first K
//
// R@K asks whether one answer is right, P@K how pure the list is, overlap@K
// whether the neighbourhoods of the first space survived; the three move
// independently, so print all of them. [Ranking.AveragePrecision] defines mAP@K.
//
// The search comes first and the figures follow from its result:
//
//	index, _, err := nearest.Rows(ctx, queries, gallery, 8, nearest.Settings{Workers: engine.Lend()})
//	r := &evaluate.Ranking{K: 8, Index: index}
//	figures, err := r.Score(queryLabels, galleryLabels, 1, 8)
//
// # Protocol
//
// [NewSplit] and [Features] are the common ground of all published figures:
// which rows are public, gallery and queries, and how rows are
// prepared: raw features become unit rows. No label enters either of them.
//
// # Modes and sweeps
//
// A [Mode] is a way to answer queries, with what it protects in words. It gets a
// [Task], in which the labels of the queries are missing unless the mode says
// that it sees them, and returns an [Answer], from which the figures are scored
// here. A [Sweep] measures the [Cell]s of a [Grid] of data sets, seeds, modes and
// parameters, several at a time, and writes each to a [Journal] as it is finished:
// a sweep that was interrupted goes on where it stopped. [Summarize] joins the
// seeds.
//
// Intervals have a coverage of 95 % ([Coverage]): Student's over seeds, Wilson's
// over the queries of a single seed.
//
// [Ceiling] is what R@8 cannot exceed in a mode whose request is private for the whole
// record, any record against any other, and whose answers are picked from the request
// alone; Mode.Bounded says of which modes that is so. Where a client downloads more rows
// than it keeps and ranks them itself, an [Answer] also has what a random sample of the
// same size gives without a query, what the same requests give with rows of int8, and how
// many bytes travel compared with those of the whole gallery ([Volume]); [OverlapCeiling] bounds
// which rows it gets.
//
// Package baseline has the baselines of the paper, published the method as it was published,
// modes all that is measured, and report makes the page.
//
// # Concurrency
//
// All functions may be called concurrently; they only read their arguments.
// Goroutines started by a search have ended when it returns.
//
// # References
//
// Jegou, Douze, Schmid, "Product quantization for nearest neighbor search"
// (2011), section V, for R@K.
package evaluate
