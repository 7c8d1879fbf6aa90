// Package sparse stores sparse matrices for products with tall dense blocks.
//
//	a, err := sparse.New(rows, cols, ptr, ind, val) // or FromTriplets, FromMatrix
//	...
//	err = a.MulTo(ctx, workers, nil, y, x)          // y = A x
//
// # Storage
//
// A [CSR] keeps the nonzeros of row i at positions ptr[i] to ptr[i+1]-1 of the
// column and value arrays, columns ascending:
//
//	    [ 0 5 0 ]        ptr = 0 1 3 3        uint64, rows+1 of them
//	A = [ 7 0 8 ]        ind = 1 0 2          uint32
//	    [ 0 0 0 ]        val = 5 7 8          float32
//
// This takes eight bytes a nonzero and eight a row. Row pointers are 64 bits wide, so
// a matrix may have more than 2^32 nonzeros. Rows and columns stay below 2^32.
//
// This [Layout] is called Plain, and New makes it. Convert and Adopt make others, for
// matrices in which the columns of a row lie near each other, as when the rows are
// points in the order of a curve:
//
//	          columns                      values    bytes a nonzero  a row
//	Plain     uint32                       float32   8                8
//	Compact   uint16 from a base of a row  float32   6                12
//	Compact16 uint16 from a base of a row  float16   4                12
//
// The base is the first column of a row. Products add it to the address of X once a
// row, so nothing is decoded. A row whose columns span more than 65535 is stored
// separately in Plain. This takes 4 bytes a nonzero more, and about 100 bytes for each
// run of such rows; Convert refuses a matrix with many such rows. Compact is exact:
// products have the same bits. A value of Compact16 is within a relative 2^-11 of the
// given one, or within an absolute 2^-25 if that is below 2^-14.
//
// Compact layouts save memory, and some time. With a million rows of 32 nonzeros in row-major
// order of cells, where no row is wide, products in Compact take 0.9 of the time
// they take in Plain, and as long in Compact16 with one or two columns, but 1.2
// times as long as in Plain with more columns. In Morton order, where some rows are wide,
// Compact takes as long as Plain (pmbench run -suite spmm).
//
// # Products
//
// [CSR.MulTo] computes A X for a row-major X of any number of columns k. Each
// output row is made by one worker: products v = A_ij X_jc are rounded to
// float32 and added in blocks of 32 nonzeros, four at a time, in stored order,
//
//	even += v0 + v2,   odd += v1 + v3       in float32,
//	sum += float64(even + odd)              once a block, in float64,
//
// and sum is rounded to float32 once. The error of entry (i, c) is at most
// 2^-24 of itself plus 10.1 2^-24 of sum_j |A_ij X_jc|, in rows of up to 2^30 nonzeros,
// as long as no block of products exceeds the range of float32. [simd.Kernels.MulSparse]
// has the proof.
// [CSR.MulRows] does the same for a run of rows. Products have the same bits for any number of workers, any k and
// any set of processor instructions. Work is split into chunks of about equal numbers
// of nonzeros.
//
// # Concurrency
//
// A CSR is immutable after it is made; all methods are safe for concurrent use.
package sparse
