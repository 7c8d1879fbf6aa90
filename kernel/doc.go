// Package kernel builds graph Laplacians of the Gaussian kernel, and applies
// them, with a certified error.
//
//	pts, err := kernel.Open(features, nil)
//	if err != nil {
//		return err
//	}
//	op, err := pts.Build(ctx, kernel.Sigma(1), &kernel.Options{Tolerance: 1e-4})
//	if err != nil {
//		return err
//	}
//	defer op.Close()
//	err = op.Apply(ctx, dst, x) // dst = W x, rows in op.Order()
//
// # What is computed
//
// For points p_1 .. p_n and a bandwidth Gamma the weights are
//
//	w_ij = exp(-Gamma |p_i - p_j|^2)  for i != j,   w_ii = 0,
//	d_i  = sum_j w_ij,                L_X = diag(d) - W.
//
// An [Operator] stands for W. One step of the supervised iteration maps an
// n x k matrix X, with m_i = (W X)_i / d_i the weighted mean a row sees and
// l_i = (L_Y X)_i the pull of its label ([Labels]), to
//
//	x'_i = x_i - 1/2 (x_i - m_i) + alpha/(2 d_i) l_i                    (form Paper)
//	x'_i = x_i - 1/2 (d_i/dbar (x_i - m_i) + beta l_i) / D_i            (form Attract)
//	       D_i = d_i/dbar + beta L_Y,ii,   dbar = mean of the d_i
//
// that is X + 1/2 Diag(L_X)^+ (alpha L_Y - L_X) X and X - 1/2 Diag(L)^+ L X with
// L = L_X/dbar + beta L_Y. Neither form ever increases its objective,
//
//	v = tr X'L_X X - alpha tr X'L_Y X   or   v = tr X'L X,
//
// for a coefficient >= 0 and a table without negative entries, because
// L <= 2 Diag(L) for every graph Laplacian. A row whose diagonal is zero stays
// where it is (pseudo-inverse). L_Y is exact and costs O(nk + C^2 k).
//
// # Words
//
//	point        one of the n vectors that a graph connects
//	row          a row of a matrix: the coordinates of a point, its weights, or its
//	             numbers in an iterate
//	distinct     points that are equal stand for one distinct point
//	weight       w_ij; a pair without a weight has the weight 0
//	neighbour    of a point: another point that it has a weight with
//	degree       d_i, the sum of the weights of a point; its number of neighbours in
//	             the words "mean degree" of [Points.BandwidthForDegree] only
//	isolated     a point whose degree is 0
//	every pair   the kernel itself (also: the full kernel): each pair of points has its
//	             weight
//	truncated    a graph that ends at a radius: pairs beyond it have no weight, unless a
//	             repair has given them one
//	cutoff       that radius
//	fixed        a graph that the caller has asked for as it is, whatever the tolerance:
//	             by a cutoff, or as that of nearest neighbours
//	tail         the weight that a truncated graph leaves out of a row, or its bound
//	eta          the error of a row's weights, relative to its degree
//	certificate  the bounds of eta, and of rounding
//	repair       weights that a row beyond the tolerance, or an isolated row of a fixed
//	             graph, gets in addition
//	cell         a box in space. The search sorts points into cells of about the radius or
//	             half of it; the operator grid has nodes in cells of its own
//	code         8-bit integers that stand for a point in a search
//	profile      the distances of a sample of points to all points
//	candidate    an operator that a plan has looked at
//	product      W x, or the step that is made of it
//	pass         how an operator makes its products
//	chunk        rows that one worker makes at a time, and their sums
//	block        rows that are compared with another block, all with all
//	tile, panel  rows whose products one worker makes together, so that they stay in
//	             the cache
//	scratch      memory of a worker whose contents do not outlive a piece of work
//
// # Operators
//
//	dense       every pair, weights recomputed for each product, nothing stored:
//	            the reference for the others and the choice for small n
//	csr         truncated, weights stored; neighbours are found by a cell list in 1 to 3
//	            dimensions, by codes above 12, and in between by the one that is
//	            expected to take less time. Or the nearest neighbours of every
//	            point (Options.Neighbours), found by a tree in 1 to 6 dimensions and by
//	            codes above, with one bandwidth or one of each point (Options.SelfTuned)
//	pairs       what csr has in 1 to 8 dimensions, weights recomputed for each
//	            product: a few bytes a row in place of 8 a weight
//	background  for unit rows: weights within a radius stored, a constant beyond
//	poly        every pair, by a polynomial in the inner product of the points: for
//	            bandwidths that are wide against their extent, two passes over the
//	            points a product in place of n^2 pairs, in any dimension
//	grid        every pair in 1 to 4 dimensions, interpolated from Chebyshev nodes
//	            in cells: O(n) whatever the number of neighbours, nothing stored
//	            but for outliers. A product in the plane takes as long as csr takes with
//	            some 500 neighbours a point. In space it takes longer, because a cell
//	            has more nodes
//
// [Points.Plan] lists the operators with their costs, and [Points.Build] builds the best
// of them or the one that the caller names. Costs follow from a sample of points and from
// constants that the speed of the machine scales. The first plan of a process measures
// that speed, in about 30 ms, unless Options.Calibration gives it. The library keeps it
// in no file. The number of workers does not change the order of the costs, so it does
// not change the choice; a caller who names the operator gets the same one on every
// machine. Where the certificate of a truncated operator misses the tolerance, Build
// builds it once more with a larger radius; where that does not help, it builds the next
// operator of the plan.
//
// # Tolerance
//
// A bound on the weights that are left out bounds nothing: at n = 10^6 and degree 20,
// leaving out every w < 1e-6 may leave out 1, five percent of the degree. So the tolerance
// is on the sum:
//
//	eta_i = (sum_j |what_ij - w_ij|) / dhat_i
//
// and the [Certificate] reports it for every row. A step then errs by at
// most 1/2 eta_i R_i + |alpha|/2 eta_i/(1 - eta_i) |l_i|/dhat_i, where R_i is
// the largest distance of a row of X from m_i, column by column. [IsolatedPolicy]
// says what becomes of rows that miss it.
//
// # Unit rows
//
// A bound on what one record can change in the first step rests on the range
// of the weights, and that on rows of unit norm. [UnitRows] are such rows in
// float64; the operators built from them have weights in [exp(-4 Gamma), 1]
// whatever rounding does, and a constant weight for a null record. [UnitRows.Dense],
// [UnitRows.Poly] and [UnitRows.Background] build them:
//
//	dense       every pair
//	poly        every pair, by a polynomial whose error, for any rows, Bandwidth.UnitPolyError
//	            tells beforehand
//	background  the kernel within a radius and one constant beyond it, at the
//	            cost of csr and without small degrees
//
// A plan chooses by the data. So a release with a bound must not rest on its choice.
// Build may take a background for its speed, with the radius and the constant that meet
// the tolerance.
//
// # Exactness
//
// Two points are neighbours when the Euclidean distance computed in float64
// from the given float32 coordinates is at most the radius. Filters (cells,
// boxes, matrix products) only ever discard pairs that cannot qualify or hand
// doubtful ones to that test, so the neighbour sets equal those of a float64
// brute force, whatever the offset or the scale of the points.
//
// # Search in many dimensions
//
// In 4 to 12 dimensions a cell list is quick where points fill few of the dimensions or
// form clusters, and slow where they fill all. There the search first makes the cell list
// and estimates by some of its clusters what it costs; where that is more than codes take
// at least, it prepares codes too and takes the cheaper of both. The estimates count
// operations and measure no time, so the choice is the same on every machine, for any
// number of workers and at every level of instructions. Where memory is short there is no
// choice: cells search in up to 8 dimensions and codes above. Either search finds the same
// pairs with the same weights, bit by bit. The order of rows and the bounds of dropped
// weights are its own.
//
// In many dimensions no box or tree rules out many pairs, so most of the search consists
// of products of 8-bit integers (simd.ByteDotsAbove). A point x becomes a code q: its
// rounded coordinates, or those along the principal directions of a sample and the norm
// of the rest. A bound e says what the code loses: |x - x'| <= r implies
//
//	|q - q'| <= r/unit + e + e'.
//
// One comparison decides this: that of q.q' with the sum of a number of q and a number of
// q'. Points that are near to each other share a tile with a ball around it, and points
// that are far from the ball are not compared with those in it. What is left is measured
// in float32, then in float64, and next to the radius by the definition. No filter loses
// a pair; Package graphstats knows how many pairs each of them left. The search chooses
// projection, depth of the codes and balls by what they cost on a sample.
//
// The weight of a rejected pair is not known. It is below the weight at the radius, or at
// the distance of its ball, and the certificate adds up these bounds.
//
// # Order of rows
//
// An operator may keep its rows in an order of its own, for locality. The methods of an
// [Operator] take and return rows in that order; Operator.Order translates. Package
// iterate permutes once on the way in and once on the way out.
//
// # Concurrency and determinism
//
// Operators and Labels are immutable once built and safe for concurrent use; a
// [Stats] belongs to one run. Every row is summed by one worker in a fixed
// order, and sums over rows are made chunk by chunk and added in the order of the chunks:
// the bits are the same for any number of workers. csr adds up a row in the order of
// sparse.CSR.MulTo, pairs in batches of candidates; both take their inner loops from
// package simd ([Options].Kernels), whose levels agree on every bit. The dot products
// of poly in float32 are those of simd.Dots and CentredDots, whose bits depend on the level.
//
// # Ranks
//
// Processes that share a run are ranks ([Options].Ranks). All have the same points and make
// the same calls in the same order, one at a time. Each rank makes some chunks of a step,
// next to each other, and all get the sums of all chunks, which each adds in their order: the
// bits are the same for any number of ranks. csr and pairs in few dimensions exchange those
// rows of the iterate that the weights of a rank refer to and others have made. A rank makes
// the chunks that need no such row while these travel. A row of weights is never taken apart
// into own columns and others, because two sums of a row would round in another way than one
// does; chunks without rows of others stand in for that. Where ranks would exchange half of all rows
// or more, and with dense, background and a grid that has direct rows, they gather x. With
// poly, and with other grids, no row of x travels: ranks gather the moments of chunks, and
// exchange the numbers in nodes. What operator is
// built follows from numbers that ranks agree on; [Options].Ranks says which.
//
// # Precision
//
// dense, background and grid sum in float64, with iterates of either type. poly sums its
// moments in float64. Its products are float32 where their rounding, which is part of its
// certificate, is below the tolerance; they are float64 otherwise, and in Apply64 and
// Step64. csr and pairs have float32 weights and iterates, and their products are float32,
// as sparse.CSR.MulTo makes them; the rest of a step, and all its sums, are float64
// (simd.FinishStep). In addition to what the certificate says of the weights, a row of a step of
// csr or pairs errs by at most
//
//	2^-24 |x'_i| + Rounding/2 max_j |x_j|
//
// column by column, and Stats.Objective by Rounding d_i max_j |x_j| |x_i - mean| for
// each row, Rounding being that of the certificate. The products must be in the
// range of float32: where d_i max_j |x_j| is beyond it x' is Inf or NaN, and
// Stats.MaxAbs says so. Rows of a degree below 2^-64 have products in float64.
//
// # Build tags
//
// With the tag netlib (and cgo) the matrix products behind distances in more
// than 8 dimensions go to the BLAS that the program is linked with. Package kernel tells
// OpenBLAS, for the whole process, to use one thread: its own workers are the threads.
package kernel
