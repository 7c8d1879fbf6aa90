// Package points has the checks of rows of numbers that several packages share, and
// their errors.
//
//	if err := points.CheckFinite(x); err != nil { // x is a blas32.General or a blas64.General
//		...
//	}
//
// A set of n points in d dimensions is an n x d matrix, one point a row, stored
// row-major as blas32.General or blas64.General: entry (i, j) is Data[i*Stride+j],
// and the Stride-d entries after a row are not part of the matrix. Functions that
// accept both types are generic over [Matrix] and compute in float64 for either
// storage.
//
// [ErrShape], [ErrNonFinite] and [ErrZeroRow] are the same errors in kernel, sparse,
// internal/evaluate and the root: kernel.ErrShape is points.ErrShape. Packages sensitivity,
// mechanism and formats, which do not import this package, have other errors.
// [ErrDiverged] is that of package iterate.
// [NonFiniteError] and [ZeroRowError] say where the fault is; the root exports both.
//
// All functions may be called concurrently as long as no call writes rows that
// another reads.
package points
