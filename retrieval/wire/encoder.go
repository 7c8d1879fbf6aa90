package wire

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
)

// pieceSize is how many bytes are gathered before they are written. A piece stays in
// the processor's cache while it is masked, summed and written.
const pieceSize = 32 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// An encoder writes a frame, field by field. The first error stays, of the writer or of a
// field: from then on nothing is written, and finish returns the error.
type encoder struct {
	w       io.Writer
	sum     checksum
	mask    cipher.Stream // of the bytes behind plain; nil where there is none
	piece   *[pieceSize]byte
	filled  int // bytes of piece
	plain   int // bytes of piece ahead of the mask
	written int64
	err     error
}

// newEncoder returns an encoder whose owner calls close.
func newEncoder(w io.Writer, sum checksum) *encoder {
	return &encoder{w: w, sum: sum, piece: pieces.Get().(*[pieceSize]byte)}
}

func (e *encoder) close() { pieces.Put(e.piece) }

// finish writes what is left and the checksum, and returns how many bytes were written.
func (e *encoder) finish() (int64, error) {
	e.flush()
	e.write(e.sum.Sum(nil))
	return e.written, e.err
}

// cover begins a mask, of all fields that follow.
func (e *encoder) cover(mask cipher.Stream) { e.mask, e.plain = mask, e.filled }

func (e *encoder) flush() {
	if e.mask != nil {
		masked := e.piece[e.plain:e.filled]
		e.mask.XORKeyStream(masked, masked)
	}
	e.put(e.piece[:e.filled])
	e.filled, e.plain = 0, 0
}

// put adds bytes to the checksum and writes them.
func (e *encoder) put(b []byte) {
	e.sum.Write(b)
	e.write(b)
}

func (e *encoder) write(b []byte) {
	if e.err != nil || len(b) == 0 {
		return
	}
	n, err := e.w.Write(b)
	switch {
	case n < 0 || n > len(b):
		n, err = 0, fmt.Errorf("a writer that says it took %d of %d bytes", n, len(b))
	case err == nil && n < len(b):
		err = io.ErrShortWrite
	}
	e.written += int64(n)
	if err != nil {
		e.fail(fmt.Errorf("wire: %w", err))
	}
}

// fail keeps the first error.
func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// next returns room for n bytes, which the caller fills.
func (e *encoder) next(n int) []byte {
	if pieceSize-e.filled < n {
		e.flush()
	}
	e.filled += n
	return e.piece[e.filled-n : e.filled]
}

func (e *encoder) uint16(v uint16) { binary.LittleEndian.PutUint16(e.next(2), v) }

func (e *encoder) uint64(v uint64) { binary.LittleEndian.PutUint64(e.next(8), v) }

// fixed writes bytes whose number both sides know. Long ones that have no mask are
// written from where they are.
func (e *encoder) fixed(v []byte) {
	if e.mask == nil && len(v) >= pieceSize {
		e.flush()
		e.put(v)
		return
	}
	for len(v) > 0 && e.err == nil {
		if e.filled == pieceSize {
			e.flush()
		}
		n := copy(e.piece[e.filled:], v)
		e.filled += n
		v = v[n:]
	}
}

// bytes writes a length and the bytes.
func (e *encoder) bytes(v []byte) {
	e.uint64(uint64(len(v)))
	e.fixed(v)
}

// encodeSlice writes a length and the numbers.
func encodeSlice[T number](e *encoder, v []T) {
	e.uint64(uint64(len(v)))
	encodeNumbers(e, v)
}

// encodeNumbers writes numbers whose count both sides know.
func encodeNumbers[T number](e *encoder, v []T) {
	if !hostBig {
		e.fixed(bytesOf(v))
		return
	}
	for i := range v {
		b := e.next(sizeOf[T]())
		copy(b, bytesOf(v[i:i+1]))
		slices.Reverse(b)
	}
}

// An appender is a writer that appends.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}
