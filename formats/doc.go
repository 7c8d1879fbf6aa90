// Package formats reads and writes files of features, labels and sparse matrices. It has no
// numerical code, and uses the rest of the module only to map files.
//
//	m, err := formats.ReadMatrix("features.npy")
//	...
//	defer m.Close()
//	y, err := formats.ReadLabels("labels.csv")
//	...
//	err = formats.WriteMatrix(ctx, "features.fvecs", m.Rows, m.Cols, m.Data)
//
// # Formats
//
//	name                             contents                                              read as                   written by
//	.npy                             NumPy 1.0, 2.0, 3.0: f2 f4 f8 i1..i8 u1..u8 b1,       Matrix, Matrix64, labels  WriteMatrix (f4 f8 u1 i4 i8),
//	                                 either byte order, C and Fortran order, one or two                              WriteLabels (i4)
//	                                 dimensions; S and U as names of labels
//	.npz                             numpy.savez and savez_compressed: one such array      Matrix, Matrix64, labels
//	.fvecs .bvecs .ivecs             int32 d, then d float32, uint8 or int32, per row      Matrix, Matrix64, labels  WriteMatrix, WriteLabels (.ivecs)
//	.fbin .u8bin .i8bin .ibin        uint32 n, uint32 d, then n rows of d                  Matrix, Matrix64, labels  WriteMatrix (not .i8bin), WriteLabels (.ibin)
//	.idx, -ubyte                     IDX (MNIST), any number of dimensions, big-endian     Matrix, Matrix64, labels  WriteMatrix (u1 i4 f4 f8), WriteLabels (.idx)
//	.csv .tsv .txt .data             a row per line, with or without a header; columns     Table, Matrix, Matrix64,  WriteLabels (.csv)
//	                                 of numbers and one of labels                          labels
//	.npz                             scipy.sparse.save_npz of a CSR matrix                 CSR                       WriteCSR
//	.mtx                             Matrix Market coordinate, real                                                  WriteCSR
//
// The case of a name does not matter. All formats except vecs and .npz are also read with .gz
// after the name; IDX is also written with it. A file with another name is read as .npy or IDX
// if it begins like one. Labels are arrays of integers, or of floats with integral values, with
// one dimension or one column; ReadNamedLabels and ReadTable also accept names instead of
// numbers. The module formats/parquet reads Parquet, and its command parquet2npy converts it to
// .npy. ReadColumnNames reads names of columns from a separate file.
//
// # Guarantees
//
// Files are untrusted. The claims of a header are checked against the size of the file before
// memory is allocated. Products of dimensions are computed without overflow. Bytes after the
// data are an error. A reader takes at most a small multiple of the size of the file in memory,
// or of the decompressed size for compressed data (deflate expands up to 1032 times);
// TableSettings.Limit sets a lower limit. No input makes a reader panic.
//
// Every error is an *Error with the path and, where it applies, the row, line, offset or header
// field at fault, and wraps one of the sentinels (ErrFormat, ErrUnsupported, ...) or the error of
// the operating system. A message contains no text of the file, neither from rows nor from
// headers. Its numbers are positions, counts and sizes, and values of a header after a magic:
// version, type and dimensions of .npy and IDX, the directory of a .npz and its shape.npy. A
// header of the other formats may be data, so a message says what is wrong with it, but does
// not show it. Names of columns and arrays in a message are those that the caller asked for, or
// the default ones.
//
// Conversions do not change values silently: integers that do not fit, and finite values that
// overflow float32 are an ErrFormat. Rounding to the nearest float
// is allowed; NaN and infinities pass through, except in Matrix Market, which has no spelling for
// them.
//
// StreamMatrix and WriteRows read and write a matrix row by row, so that it need not fit in memory.
//
// Every writer uses WriteFile: the file is replaced as a whole or not at all, even when the
// context ends halfway.
//
// # Memory mapping
//
// A matrix stored as it would be in memory (.npy of float32 or float64, .fbin, on a machine of
// the same byte order) is mapped read-only instead of read: opening takes almost no time or
// memory, and pages are loaded when they are touched. This applies to Linux, macOS and the
// BSDs; elsewhere such files are read. A mapping shows the current contents of the file: a
// program that overwrites the file in place changes the matrix, and after a program truncates
// it, access to the lost pages faults. Files replaced by renaming, as WriteFile does, are not
// affected.
//
// # Concurrency
//
// All functions may be called from several goroutines at once. Of two WriteFile calls for one
// path each writes a whole file, and the file of the last one to finish stays.
package formats
