// Package sparse stores sparse matrices for products with tall dense blocks.
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
// Eight bytes a nonzero and eight a row. Row pointers are 64 bits wide, so
// more than 2^32 nonzeros are in order; rows and columns stay below 2^32.
//
// That is the [Layout] called Plain, and what New makes. Convert and Adopt make
// others, for matrices whose columns lie near each other because the rows are
// those of points along a curve:
//
//	          columns                      values    bytes a nonzero  a row
//	Plain     uint32                       float32   8                8
//	Compact   differences of 16 bits       float32   6                16
//	Compact16 differences of 16 bits       float16   4                16
//
// A difference that does not fit takes 4 bytes more. Compact is exact: products
// have the same bits. The values of Compact16 are within 2^-11 of those given, or
// within 2^-25 if they are below 2^-14. They save memory, not time: with 32
// nonzeros a row decoding takes 0.3 ns a nonzero on a core that multiplies one
// in 1 ns.
//
// # Products
//
// [CSR.MulTo] computes A X for a row-major X of any number of columns k. Each
// output row is made by one worker: products v = A_ij X_jc are rounded to
// float32 and added four at a time, in stored order,
//
//	sum += float64((v0 + v1) + (v2 + v3))   v in float32, sum in float64,
//
// and sum is rounded to float32 once. The error of entry (i, c) is at most
// 2^-24 of itself plus 3.1 2^-24 of sum_j |A_ij X_jc|, however many nonzeros
// the row has, as long as no four products exceed the range of float32.
// [CSR.MulRows] is the same for a run of rows, and [MulRow] has float64 sums of
// exact products. Products have the same bits for any number of workers, any k and
// any set of processor instructions. Work is cut into chunks of about equal numbers
// of nonzeros.
//
// # Concurrency
//
// A CSR is immutable after it is made; all methods are safe for concurrent use.
package sparse
