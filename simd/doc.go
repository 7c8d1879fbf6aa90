// Package simd holds the inner loops of this module, on plain slices. Each loop is
// written for several sets of processor instructions, of which a program picks one when
// it starts.
//
//	s := simd.At(simd.Best())
//	s.MulSparse(simd.RowsOf(dst, k), k, ptr, ind, val, simd.RowsOf(x, k))
//
// # Kernels
//
// A name that ends in 16 or 64 is a variant for numbers of so many bits.
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
//	SqDists             squared distances of a row from some of many, up to a limit
//	SqDists64           the same in float64, without a limit
//	LargestDifference   how far a row is from a mean in float64, in the farthest column
//	ScaleDifferences    a row less a mean in float64, scaled
//	ScaleProducts       a row times a number and one number a column, in float64
//	ScaleRow            a row times a number in float64
//	RoundToBytes        a point rounded to a code of bytes, and what that misses
//	ByteDotsAbove       pairs of rows of bytes whose product is large
//	PackWords           columns of 32-bit words as MulWords of a level wants them
//	MulWords            rows of bytes times columns of words, modulo 2^32
//	WordDots            rows of words times columns of words, modulo 2^32
//
// # Levels
//
// The reference of each kernel is plain Go. It stands below the comment that says what
// the kernel computes, and it is the level generic, which every machine has. The levels
// avx2, avx512, avx512vnni and amx are assembly that the programs in _gen write into
// package simd/internal/asm. The last two have a ByteDotsAbove, a PackWords and a MulWords of
// their own; their other kernels are those of avx512. The level neon of arm64 is assembly
// written by hand, for MulSparse, Weights, Dots, WordDots and, where the processor has dot
// products of bytes, MulWords; its other kernels are plain Go. Other architectures, and builds
// with the tags noasm or purego, run plain Go.
//
// The level amx multiplies tiles of bytes. Linux gives them to a process that asks, and
// this package asks once. No tile instruction runs where Linux refuses, nor on another
// system. A function that uses tiles gives them up before it returns, and no goroutine is
// switched inside of one, so the runtime need not know of them. A signal that arrives
// meanwhile takes 8 KiB more of its stack, which the stacks of Go have.
//
// neon was tested under emulation and not timed on hardware. What speaks for it is how
// few instructions its inner loops execute. The table counts them in the assembly, and in
// what the compiler of Go 1.26 makes of the reference,
// without what is done once in 32 entries:
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
// Best asks the processor and the operating system what they have. The environment
// variable PM_SIMD, read once, and the argument of At lower the level; neither raises it.
//
// # Choices
//
// A set of instructions does not tell how fast they are. MulSparse, its variants and
// FinishStep have two forms at the levels avx512, avx512vnni and amx, with the same bits. One
// gathers: a single instruction reads numbers from several places in memory. The other loads
// them one after the other. On some processors the first is faster, on others it takes more
// than twice as long, in particular where microcode keeps gathers from giving away what
// other programs have read. The first call of At that needs to know times both in the
// first-level cache, in rounds, until one of them is clearly ahead: mostly for a fraction of a
// millisecond, and for five where they are close. Loads are taken where gathers take over 1.15
// times as long, gathers otherwise and where neither gets ahead. The process keeps what it
// finds, and a program may keep it for the next process: see KeepChoices.
//
// PM_SIMD may ask for a form: gather=on or gather=off, by itself or behind a level and a
// comma, as in avx512,gather=off. Nothing is timed then. A part of PM_SIMD that names neither
// a level nor a choice is ignored, and Note says so.
//
// No choice is left for other instructions. Loops that keep some numbers of a vector and
// drop others move them to the front of a register and store all of it: to store the kept
// numbers by a single instruction is slow on some processors, and this is not. Where vectors
// of 512 bits gained nothing, in SumSparse, Finite, GrowBox and Float32s, the levels of
// AVX-512 use the loops of AVX2.
//
// # Reproducibility
//
// Every kernel but Dots and CentredDots has the same bits at every level, and on every
// architecture. Contracts say in which order numbers are added. Products are exact or
// rounded before they are added; nothing is fused but in FinishStep and in the kernels of
// float64 whose contracts say so. Nor do results depend on how work is split into calls, the sums of
// FinishStep apart. Dots and CentredDots have the same bits at one level, and an error
// bound between levels.
//
// # Errors
//
// Callers have checked the arguments of kernels when they made a matrix or a cell list.
// Kernels look at the ends of slices again, and panic where they do not fit. They do not
// look at the indices inside slices, which are columns of a matrix and row pointers: a
// wrong one reads foreign memory at the levels with assembly.
//
// # Calling
//
// A call costs a few nanoseconds and is not inlined, so give it much to do: a chunk of
// rows, or all candidates of a few points. The compiler lets every slice escape that is
// handed to a kernel: keep small ones in a workspace. Kernels allocate nothing, the
// scratch memory of MulSparseOffsets16 and Dots64 apart, which is kept for later calls, and
// what PackWords writes to.
//
// A product A x calls MulSparse once for each chunk of rows, straight into its
// destination. A step calls it for a tile of up to 1024 rows at a time, which leaves W x
// in the second-level cache, and then FinishStep, which reads x and W x, the degrees of
// the rows and the tables of the classes in the chunk; the sums of a chunk go on from
// tile to tile. To fetch entries of the next tile while a tile is finished gains 1 to 3
// percent at best, so nothing is fetched.
//
// MulSparseOffsets moves x to the base of a row and reads offsets where MulSparse reads
// columns. MulSparseOffsets16 has kernels for one and two columns on amd64, which convert
// values on the way. Otherwise it converts pieces of some 2000 values into the first-level
// cache.
// PackColumns has assembly for AVX-512 only.
//
// Widths 1, 2, 4, 8, 16 and, on amd64, 32 are single kernels. Others are put together from them, at
// the cost of a pass over a cached piece of the matrix for each: with 3 columns a stride
// of 4 and k = 4 is faster than k = 3.
//
// MulWords keeps places of some rows in the first-level cache while all columns pass, so
// columns that wait should be packed together. With few columns it is reading the panel that
// takes the time: it fetches ahead within a call, so a call should have some hundred rows. The
// levels take words apart in their own ways: avx512vnni and amx multiply bytes of them, avx2 and
// avx512 signed halves, neon signed bytes. Sums of pieces may wrap, because what counts is the
// remainder of 2^32.
//
// A cell list keeps its coordinates by axis. Points close together share their
// candidates, which Collect copies once for all of them. So a point takes one loop with
// no short vector at the end, where spans of a dozen points each would end in one.
// FindNear overwrites what is behind the last neighbour: it writes to scratch memory with
// room for all candidates, not to the matrix. The rows of a cluster of points are next to
// each other in the matrix: columns are copied, and Weights writes the values of all of
// them at once.
package simd
