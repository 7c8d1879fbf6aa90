// Package simd holds the inner loops of this module, on plain slices. Each loop is
// written for several sets of processor instructions. A program picks one set when it
// starts.
//
//	s := simd.At(simd.Best())
//	s.MulSparse(simd.RowsOf(dst, k), k, ptr, ind, val, simd.RowsOf(x, k))
//
// # Kernels
//
// A name that ends in 16 or 64 is a variant for numbers of that many bits.
//
//	MulSparse           rows of a sparse matrix times a thin dense one
//	MulSparseOffsets    the same where columns take 16 bits
//	MulSparseOffsets16  the same where values take 16 bits, too
//	SumSparse           sums of the rows of a sparse matrix
//	PackColumns         columns to the 16 bits of MulSparseOffsets
//	Float32s            values of 16 bits to float32
//	Finite              whether all numbers are finite
//	GrowBox             the box around rows
//	Collect             candidates for neighbours, from some runs of points
//	FindNear            those within a distance of points
//	CountNear           how many candidates FindNear would find
//	SlideWindows        windows over ascending numbers
//	Weights             exp(-gamma d2) over a block
//	Weights64           the same in float64, with a least weight
//	WeightedSums64      sums of columns, weighed by the rows of a block of weights
//	WeightedSumsTrans64 the same, weighed by its columns
//	LagrangeBasis       polynomials that are 1 in one node and 0 in the others
//	PointsToNodes       numbers of points to the nodes of a grid
//	NodesToPoints       numbers of the nodes of a grid to points
//	AddRows             sums of multiples of rows
//	FinishStep          rows of W x to rows of the next iterate, with its sums
//	Dots                dot products between rows
//	Dots64              the same in float64
//	DotsToSqDists64     dot products to squared distances
//	MulTrans            the transpose of a thin block times a wide one
//	AddMoments          sums over rows of weighted products of two columns, in float64
//	QuadraticForms      polynomials of degree 2 at rows, in float64
//	Centre              rows less a centre, scaled
//	CentredDots         Dots of centred rows
//	CentredMulTrans     MulTrans of centred rows
//	SqDists             squared distances of a row from chosen rows, up to a limit
//	SqDists64           the same in float64, without a limit
//	LargestDifference   how far a row is from a mean in float64, in the farthest column
//	ScaleDifferences    a row less a mean in float64, scaled
//	ScaleProducts       a row times a number and one factor per column, in float64
//	ScaleRow            a row times a number in float64
//	RoundToBytes        a point rounded to a code of bytes, and the rounding error
//	ByteDotsAbove       pairs of rows of bytes whose product is large
//	PackWords           columns of 32-bit words in the layout that MulWords of a level needs
//	MulWords            rows of bytes times columns of words, modulo 2^32
//	WordDots            rows of words times columns of words, modulo 2^32
//
// # Levels
//
// The reference of each kernel is plain Go. It follows the comment that says what the kernel
// computes. The references make up the level generic, which every machine has. The levels
// avx2, avx512, avx512vnni and amx are assembly that the programs in _gen write into package
// internal/simd/internal/asm. The last two have their own ByteDotsAbove, PackWords and MulWords; their
// other kernels are those of avx512. The level neon of arm64 is assembly written by hand, for
// MulSparse, Weights, Dots, WordDots and, where the processor has dot products of bytes,
// MulWords; its other kernels are plain Go. Other architectures, and builds with the tags
// noasm or purego, run plain Go.
//
// The level amx multiplies tiles of bytes. Linux permits them to a process that asks, and
// this package asks once. No tile instruction runs where Linux refuses, nor on another
// system. A function that uses tiles releases them before it returns, and goroutines are
// not switched within it, so the runtime need not know of tiles. A signal that arrives
// within such a function takes 8 KiB more of its stack; Go's signal stacks have that
// room.
//
// neon was tested under emulation and not timed on hardware. The evidence for it is that
// its inner loops execute few instructions. The table counts them in the assembly and in
// what the compiler of Go 1.26 makes of the reference. Work done once in 32 entries is
// not counted:
//
//	                                    generic   neon
//	MulSparse, an entry, k = 1             11.8    5.8
//	                     k = 2             25.0    5.8
//	                     k = 4             50.0    5.8
//	                     k = 8             56.8    7.8
//	                     k = 16           113.5   12.8
//	                     k = 32           227.0   25.5
//	Dots, a column of a pair in a tile      7.8    0.4
//	                      of one pair       7.8    0.8
//	Weights, its exponential               69.0   13.0
//	MulWords, a product, three bytes        9.8    0.2
//	WordDots, a product of a tile           3.8    0.4
//
// Best asks the processor and the operating system what they support. The environment
// variable PM_SIMD, read once, and the argument of At lower the level; neither raises it.
//
// # Choices
//
// A list of supported instructions does not say how fast they are. MulSparse, its variants and
// FinishStep have two forms at the levels avx512, avx512vnni and amx, with the same bits. One
// gathers: a single instruction reads numbers from several places in memory. The other loads
// them one after the other. On some processors gathers are faster. On others they take more
// than twice as long, in particular where microcode prevents gathers from leaking the data of
// other programs. The first call of At that has to choose times both in the first-level cache,
// in rounds, until one is clearly faster. This mostly takes a fraction of a millisecond, and
// five milliseconds where they are close. Loads are chosen where gathers take over 1.15 times
// as long. Otherwise, and where neither is clearly faster, gathers are chosen. The process
// keeps the result, and a program may keep it for the next process: see KeepChoices.
//
// PM_SIMD may ask for a form: gather=on or gather=off, alone or after a level and a comma, as
// in avx512,gather=off. Then nothing is timed. A part of PM_SIMD that names neither a level
// nor a choice is ignored, and Note says so.
//
// No other instructions need a choice. Loops that keep some numbers of a vector and drop
// others move the kept ones to the front of a register and store the whole register. That is
// fast everywhere; the single instruction that stores only the kept numbers is slow on some
// processors. SumSparse, Finite, GrowBox and Float32s gain nothing from vectors of 512 bits,
// so the levels of AVX-512 use the loops of AVX2.
//
// # Reproducibility
//
// Every kernel but Dots and CentredDots has the same bits at every level, and on every
// architecture. Contracts say in which order numbers are added. Products are exact or rounded
// before they are added. Nothing is fused except in FinishStep and in the kernels of float64 whose
// contracts say so. Results do not depend on how work is split into calls, except for the sums of
// FinishStep. Dots and CentredDots have the same bits at one level, and an error bound between
// levels.
//
// # Errors
//
// Callers check the arguments of kernels when they make a matrix or a cell list. Kernels
// check the ends of slices again, and panic where they do not fit. They do not check the
// indices inside slices, such as columns of a matrix and row pointers: at the levels
// with assembly a wrong index reads memory outside of the slices.
//
// # Calling
//
// A call costs a few nanoseconds and is not inlined, so give it much to do: a chunk of
// rows, or all candidates of a few points. Every slice passed to a kernel escapes to the
// heap: keep small ones in a workspace. Kernels allocate nothing, except for the scratch
// memory of MulSparseOffsets16 and Dots64, which is kept for later calls, and the memory
// PackWords writes to.
//
// A product A x calls MulSparse once for each chunk of rows, straight into its
// destination. A step calls it for a tile of up to 1024 rows at a time, which leaves W x
// in the second-level cache, and then FinishStep, which reads x and W x, the degrees of
// the rows and the tables of the classes in the chunk. The sums of a chunk continue from
// tile to tile. Prefetching entries of the next tile while a tile is finished gains 1 to
// 3 percent at best, so it is not done.
//
// MulSparseOffsets starts x at the base of a row and reads offsets where MulSparse reads
// columns. MulSparseOffsets16 has kernels for one and two columns on amd64, which convert
// values on the way. Otherwise it converts about 2000 values at a time into the
// first-level cache. PackColumns has assembly for AVX-512 only.
//
// Widths 1, 2, 4, 8, 16 and, on amd64, 32 are single kernels. Other widths combine several of them,
// and each takes a pass over a cached piece of the matrix: for 3 columns, a stride of 4 and k = 4
// is faster than k = 3.
//
// MulWords keeps places of some rows in the first-level cache while all columns pass, so pack
// all waiting columns together. With few columns most of the time goes to reading the panel.
// MulWords prefetches within a call, so a call should have some hundred rows. Levels split words
// in different ways: avx512vnni and amx multiply their bytes, avx2 and avx512 signed halves,
// neon signed bytes. Sums of pieces may wrap, because results are modulo 2^32.
//
// A cell list keeps its coordinates by axis. Points close together share their
// candidates, which Collect copies once for all of them. So a point takes one loop
// without a short vector at the end, instead of a short vector after each span of a dozen
// points. FindNear overwrites numbers after the last neighbour, so it writes to scratch
// memory with room for all candidates, not to the matrix. The rows of a cluster of points
// are next to each other in the matrix: columns are copied, and Weights writes the values
// of all of them at once.
package simd
