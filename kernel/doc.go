// Package kernel builds graph Laplacians of the Gaussian kernel, and applies
// them, with a certified error.
//
// # What is computed
//
// For points p_1 .. p_n and a bandwidth Gamma the weights are
//
//	w_ij = exp(-Gamma |p_i - p_j|^2)  for i != j,   w_ii = 0,
//	d_i  = sum_j w_ij,                L_X = diag(d) - W.
//
// An [Operator] stands for W. One step of the supervised iteration maps an
// n x k block X, with m_i = (W X)_i / d_i the weighted mean a row sees and
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
// # Operators
//
//	dense       every pair, weights made anew for each product, nothing stored:
//	            the reference for the others and the choice for small n
//	csr         pairs within a cutoff radius, stored, found by a cell list in 1 to 8
//	            dimensions and by filters on codes of 8 bits above; or the nearest
//	            neighbours of every point (Options.Neighbours), found by these filters
//	            in any dimension
//	pairs       what csr has in 1 to 8 dimensions, weights made anew for each
//	            product: a few bytes a row in place of 8 a weight
//	background  for unit rows: pairs within a radius stored, a constant beyond
//	poly        every pair, by a polynomial in the inner product of the points: for
//	            bandwidths that are wide against their extent, two passes over the
//	            points a product in place of n^2 pairs, in any dimension
//	grid        every pair in 1 to 4 dimensions, interpolated from Chebyshev nodes
//	            in cells: O(n) whatever the number of neighbours, nothing stored
//	            but for outliers. A product takes as long as some 500 neighbours a
//	            point do in csr in the plane, and more in space, where nodes are more
//
// [Plan] lists what can serve with its cost, [Build] builds the best or the
// one asked for. Costs are those of a sample of rows and of constants that are
// scaled by the speed of the machine, which is measured once, in about 30 ms, and kept
// in the user's cache folder (os.UserCacheDir); the number of workers does
// not change their order, so it does not change the choice. Options.Operator makes it
// on every machine alike. Where a certificate
// misses the tolerance after all, a truncated operator is built once more with a
// larger radius, and if that does not help the next one is taken.
//
// # Tolerance
//
// A cutoff by weight alone bounds nothing: at n = 10^6 and degree 20, dropping
// every w < 1e-6 may drop mass 1, five percent of the degree. So the tolerance is
// on the sum:
//
//	eta_i = (sum_j |what_ij - w_ij|) / dhat_i
//
// and the [Certificate] reports it for every row. With it one step errs by at
// most 1/2 eta_i R_i + |alpha|/2 eta_i/(1 - eta_i) |l_i|/dhat_i, where R_i is
// the largest distance of a row of X from m_i, column by column. [IsolatedPolicy]
// says what becomes of rows that miss it.
//
// # Unit rows
//
// A bound on what one record can change in the first step rests on the range
// of the weights, and that on rows of unit norm. [UnitRows] are such rows in
// float64; the operators built from them have weights in [exp(-4 Gamma), 1]
// whatever rounding does, and a constant weight for a null record. [NewUnitDense],
// [NewUnitPoly] and [NewBackground] make them:
//
//	dense       the full kernel
//	poly        the full kernel by a polynomial whose error, for any rows, is told
//	            beforehand by UnitPolyError
//	background  the kernel within a radius and one constant beyond it, at the
//	            cost of csr and without small degrees
//
// [Plan] chooses by the data, so a release with a bound must not rest on its choice.
// It may take a background for its own sake, with the radius and the constant that
// meet the tolerance.
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
// Nothing prunes pairs of features well but arithmetic, so most of the search is
// made of products of integers of 8 bits (simd.ByteDotsAbove). A point x becomes a code q, the
// rounded coordinates of x, or those along the principal directions of a sample and
// the norm of the rest, with a bound e of what that loses: |x - x'| <= r implies
//
//	|q - q'| <= r/unit + e + e',
//
// which one comparison of q.q' with a sum of a term of q and one of q' decides.
// Points that are near to each other share a tile, with a ball around it that other
// points need not be compared with when they are far from it. What is left is measured
// in float32, then in float64, and next to the radius by the definition. No filter loses
// a pair; [CSR].Search says how many they left. Projection, depth of the codes and
// balls are chosen by what they cost on a sample.
//
// Weights of pairs that codes reject are not known, only that they are below the
// weight at the radius, or below that at the distance of a ball: the certificate adds
// these bounds up.
//
// # Order of rows
//
// An operator may keep its rows in an order of its own, for locality. [Operator]
// methods speak that order throughout; Operator.Order translates. Package
// iterate permutes once on the way in and once on the way out.
//
// # Concurrency and determinism
//
// Operators and Labels are immutable once built and safe for concurrent use; a
// [Stats] belongs to one run. Every row is summed by one worker in a fixed
// order and sums over rows are made per fixed chunk and added in chunk order:
// the same bits for any number of workers. csr adds up a row in the order of
// sparse.CSR.MulTo, pairs in batches of candidates; both take their inner loops from
// package simd ([Options].Kernels), whose levels agree on every bit. The dot products
// of poly in float32 are those of simd.Dots and CentredDots, whose bits depend on the level.
//
// # Precision
//
// dense, background and grid sum in float64, with iterates of either type. poly has moments
// in float64 and products in float32, where their rounding, which is part of its
// certificate, is below the tolerance, and float64 products otherwise and in
// Apply64 and Step64. csr and pairs have float32 weights and iterates, and so are
// their products, as sparse.CSR.MulTo makes them; the
// rest of a step, and all its sums, are float64 (simd.FinishStep). Beside what the
// certificate says of the weights, a row of its step errs by at most
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
// than 8 dimensions go to the BLAS the program is linked with. If that is
// OpenBLAS it is told, for the whole process, to use one thread: the workers
// here are the threads.
package kernel
