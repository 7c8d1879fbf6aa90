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

// An encoder writes a frame, field by field. The first error of the writer stays: from
// then on nothing is written, and finish returns the error.
type encoder struct {
	w       io.Writer
	sum     checksum
	mask    cipher.Stream // of the fields that follow; nil where there is none
	piece   *[pieceSize]byte
	filled  int // bytes of piece
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
	e.mask = nil
	e.write(e.sum.Sum(nil))
	return e.written, e.err
}

func (e *encoder) flush() {
	e.put(e.piece[:e.filled])
	e.filled = 0
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
	e.written += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		e.err = fmt.Errorf("wire: %w", err)
	}
}

// next returns room for n bytes, which the caller fills and hands to cover.
func (e *encoder) next(n int) []byte {
	if pieceSize-e.filled < n {
		e.flush()
	}
	e.filled += n
	return e.piece[e.filled-n : e.filled]
}

func (e *encoder) cover(b []byte) {
	if e.mask != nil {
		e.mask.XORKeyStream(b, b)
	}
}

func (e *encoder) uint16(v uint16) {
	b := e.next(2)
	binary.LittleEndian.PutUint16(b, v)
	e.cover(b)
}

func (e *encoder) uint64(v uint64) {
	b := e.next(8)
	binary.LittleEndian.PutUint64(b, v)
	e.cover(b)
}

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
		b := e.next(min(len(v), pieceSize-e.filled))
		if e.mask != nil {
			e.mask.XORKeyStream(b, v[:len(b)])
		} else {
			copy(b, v)
		}
		v = v[len(b):]
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
		e.cover(b)
	}
}

// An appender is a writer that appends.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}
