// Package points holds what several packages need on plain points: a
// reproducible order of rows, synthetic sets, principal components, centres of
// clusters, unit rows.
//
// A set of n points in d dimensions is an n x d matrix, one point a row, stored
// row-major as [blas32.General] or [blas64.General]: entry (i, j) is
// Data[i*Stride+j] and the Stride-d entries behind a row belong to somebody
// else. Functions that accept both types are generic over [Matrix] and compute
// in float64 whatever the storage.
//
// # Order
//
// [Permutation] is the Fisher-Yates shuffle of 0..n-1 driven by [SplitMix64].
// Both are written out here, not borrowed from a library, because every
// published figure depends on the split they produce: no release of Go can
// change a bit of it.
//
// # Synthetic sets
//
// [Uniform], [Clustered] and [Classes] are pure functions of their arguments.
// [Kinds] lists them by name with the law each of them draws from.
//
// # Principal components
//
// With the mean m = (1/n) sum_i x_i and the covariance
//
//	C = 1/(n-1) sum_i (x_i - m)(x_i - m)'
//
// [PCA] returns the leading eigenvectors v_1, v_2, .. of C and the variances
// lambda_1 >= lambda_2 >= .. along them, and [Project] the coordinates
// (x - m)'v_1, (x - m)'v_2, .. . An eigenvector is only defined up to its sign;
// here the entry of largest magnitude is positive, so that two runs and two
// machines agree.
//
// # Clusters
//
// [KMeans] returns centres c that make sum_i min_c |x_i - c|^2 small, with the
// same bits for any number of workers.
//
// # Concurrency
//
// All functions may be called concurrently as long as no call writes rows that
// another one reads. A SplitMix64 value belongs to one goroutine.
//
// # References
//
// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014);
// Durstenfeld, "Algorithm 235: Random permutation" (1964); Jolliffe,
// "Principal Component Analysis" (2002), sections 1 and 3; Arthur, Vassilvitskii,
// "k-means++: the advantages of careful seeding" (2007); Lloyd, "Least squares
// quantization in PCM" (1982).
package points
