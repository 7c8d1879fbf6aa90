package formats

import (
	"bufio"
	"compress/gzip"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	bufferSize = 1 << 16 // bytes read at a time where elements are converted

	// maxExpansion is the largest expansion of deflate: a match of 258 bytes takes at least two
	// bits, so one byte expands to at most 1032.
	maxExpansion = 1032
)

// source is a stream of bytes whose length is known (a plain file) or bounded (compressed data),
// so that a header's claims are checked before anything is allocated for them.
type source struct {
	r     *bufio.Reader
	size  int64    // length of the stream if exact, otherwise an upper bound
	exact bool     // false for compressed data
	off   int64    // bytes read so far
	file  *os.File // set when the stream is the file itself, which may then be mapped
	limit int64    // bytes that the elements may take in memory if they are not mapped, 0 for no limit
}

// newSource returns the bytes of r as they are.
func newSource(r io.ReaderAt, size int64) *source {
	return &source{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), bufferSize), size: size, exact: true}
}

// boundedSource returns a stream of unknown length that is inflated from packed bytes.
func boundedSource(r io.Reader, packed int64) *source {
	size := int64(math.MaxInt64)
	if packed <= math.MaxInt64/maxExpansion {
		size = packed * maxExpansion
	}
	return &source{r: bufio.NewReaderSize(r, bufferSize), size: size}
}

// newGzipSource returns the decompressed bytes of r.
func newGzipSource(r io.ReaderAt, size int64) (*source, error) {
	z, err := gzip.NewReader(bufio.NewReaderSize(io.NewSectionReader(r, 0, size), bufferSize))
	if err != nil {
		return nil, streamError(err, 0)
	}
	return boundedSource(z, size), nil
}

// withSource opens the regular file at path and passes its bytes to read, inflated if the name
// ends in .gz. Errors name the path.
func withSource(path string, read func(*source) error) error {
	return withFile(path, func(f *os.File, size int64) error {
		s := newSource(f, size)
		s.file = f
		if strings.HasSuffix(strings.ToLower(path), ".gz") {
			var err error
			if s, err = newGzipSource(f, size); err != nil {
				return err
			}
		}
		return read(s)
	})
}

// withFile opens a regular file, whose size is known before reading. Errors name the path.
func withFile(path string, read func(f *os.File, size int64) error) error {
	info, err := os.Stat(path) // before opening, which would wait on a pipe
	if err != nil {
		return systemError(path, err)
	}
	switch {
	case info.IsDir():
		return named(path, failf(ErrUnsupported, "is a folder, not a file"))
	case !info.Mode().IsRegular():
		return named(path, failf(ErrUnsupported, "is not a regular file, so its size cannot be checked before reading; save it to a file first"))
	}
	f, err := os.Open(path)
	if err != nil {
		return systemError(path, err)
	}
	defer f.Close() // only read from, so nothing is lost if closing fails
	if info, err = f.Stat(); err != nil {
		return systemError(path, err)
	}
	return named(path, read(f, info.Size()))
}

// left returns how many bytes can still come, at most.
func (s *source) left() int64 { return s.size - s.off }

// readFull fills p.
func (s *source) readFull(p []byte) error {
	n, err := io.ReadFull(s.r, p)
	s.off += int64(n)
	if err != nil {
		return streamError(err, s.off)
	}
	return nil
}

// skip skips n bytes.
func (s *source) skip(n int64) error {
	for n > 0 {
		k, err := s.r.Discard(int(min(n, 1<<30)))
		s.off += int64(k)
		n -= int64(k)
		if err != nil {
			return streamError(err, s.off)
		}
	}
	return nil
}

// end checks that nothing is left. For compressed data this also verifies the checksum.
func (s *source) end() error {
	_, err := s.r.ReadByte()
	switch {
	case err == nil:
		return failf(ErrFormat, "bytes follow the data that the header describes").at(s.off)
	case err == io.EOF:
		return nil
	}
	return streamError(err, s.off)
}

// array is what a header says about the elements that follow it.
type array struct {
	shape    []uint64
	dtype    dtype
	fortran  bool // stored by columns
	unmarked bool // no magic distinguishes the header from data, so no message shows it
}

// product multiplies dimensions; ok is false when the result does not fit.
func product(dims []uint64) (n uint64, ok bool) {
	if slices.Contains(dims, 0) {
		return 0, true
	}
	n = 1
	for _, d := range dims {
		hi, lo := bits.Mul64(n, d)
		if hi != 0 {
			return 0, false
		}
		n = lo
	}
	return n, true
}

// claim returns the number of elements of a. It checks first that their bytes are those left in
// s (or may be left, for compressed data) and that they can be addressed.
func (s *source) claim(a array) (int, error) {
	count, ok := product(a.shape)
	hi, bytes := bits.Mul64(count, uint64(a.dtype.kind.size()))
	ok = ok && hi == 0
	left := uint64(s.left())
	switch {
	case !ok || bytes > left:
		amount := "more than 2^64 bytes"
		if ok {
			amount = strconv.FormatUint(bytes, 10) + " bytes"
		}
		has := "the file has"
		if !s.exact {
			has = "the compressed file can hold at most"
		}
		if a.unmarked {
			return 0, failf(errTruncated, "header claims more but %s %d bytes of data", has, left)
		}
		return 0, failf(errTruncated, "header claims %s %v (%s) but %s %d bytes of data", a, a.dtype.kind, amount, has, left)
	case s.exact && bytes < left:
		if a.unmarked {
			return 0, failf(ErrFormat, "header claims less but the file has %d bytes of data", left)
		}
		return 0, failf(ErrFormat, "header claims %s %v (%d bytes) but the file has %d bytes of data", a, a.dtype.kind, bytes, left)
	case count > math.MaxInt/8:
		return 0, failf(ErrUnsupported, "%s of %v is more than this machine can address", a, a.dtype.kind)
	}
	return int(count), nil
}

// String writes the shape as "3 x 4", if a message may show it.
func (a array) String() string {
	switch {
	case a.unmarked:
		return "the array"
	case len(a.shape) == 0:
		return "one"
	}
	var b strings.Builder
	for i, d := range a.shape {
		switch {
		case i == 8:
			return b.String() + " x ..."
		case i > 0:
			b.WriteString(" x ")
		}
		b.WriteString(strconv.FormatUint(d, 10))
	}
	return b.String()
}

// matrix returns the shape as rows and columns; all dimensions after the first count as columns.
func (a array) matrix() (rows, cols int, err error) {
	if len(a.shape) == 0 {
		return 0, 0, failf(errShape, "the array is a single number").in("shape")
	}
	r := a.shape[0]
	c, ok := product(a.shape[1:])
	switch {
	case r > 0 && ok && c == 0:
		return 0, 0, failf(errShape, "%s has rows without columns", a).in("shape")
	case r > math.MaxInt, !ok, c > math.MaxInt32:
		return 0, 0, failf(ErrUnsupported, "%s is too large a matrix", a).in("shape")
	}
	return int(r), int(c), nil
}

// readArray reads n elements. cols is only used to name the place of one that T cannot
// hold. Memory for compressed data grows with the data that is really there.
func readArray[T element](s *source, n, cols int, dt dtype) ([]T, error) {
	var dst []T
	if s.exact {
		dst = make([]T, 0, n)
	}
	scratch := newScratch(min(bufferSize, n*dt.kind.size()))
	for len(dst) < n {
		done := len(dst)
		step := min(n-done, bufferSize)
		if cap(dst)-done < step {
			grown := make([]T, done, min(n, max(2*cap(dst), step)))
			copy(grown, dst)
			dst = grown
		}
		dst = dst[:done+step]
		bad, err := fill(s, dst[done:], dt, scratch)
		if err != nil {
			return nil, err
		}
		if bad >= 0 {
			return nil, rangeError(done+bad, cols, dt.kind, native[T]().kind)
		}
	}
	return dst, s.end()
}

// fill reads len(dst) elements through scratch (of newScratch), or straight into dst when no conversion is
// needed. It returns the index of the first one that T cannot hold, or -1.
func fill[T element](s *source, dst []T, dt dtype, scratch []byte) (bad int, err error) {
	if dt == native[T]() {
		return -1, s.readFull(asBytes(dst))
	}
	size := dt.kind.size()
	for done := 0; done < len(dst); {
		step := min(len(dst)-done, len(scratch)/size)
		raw := scratch[:step*size]
		if err := s.readFull(raw); err != nil {
			return -1, err
		}
		if dt.big != hostBig {
			swap(raw, size)
		}
		if i := decode(dst[done:done+step], raw, dt.kind); i >= 0 {
			return done + i, nil
		}
		done += step
	}
	return -1, nil
}

// rangeError names the place of an element that does not fit in another kind.
func rangeError(i, cols int, from, to kind) error {
	what := "does not fit in"
	if from.float() {
		what = "is finite but overflows"
	}
	if cols > 1 {
		return failf(errRange, "column %d: the %v %s %v", i%cols+1, from, what, to).atRow(i / cols)
	}
	return failf(errRange, "the %v %s %v", from, what, to).atRow(i)
}
