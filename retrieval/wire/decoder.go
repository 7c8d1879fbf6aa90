package wire

import (
	"crypto/cipher"
	"encoding/binary"
	"slices"
)

// A decoder takes the fields of a body off its front, in the order in which they
// were written. The first error stays: from then on every field is empty, and
// done returns the error. No field takes memory for bytes that are not there, and no
// field but bytes shares memory with the frame.
type decoder struct {
	left []byte
	mask cipher.Stream // of the fields that follow; nil where there is none
	err  error
}

// fail keeps the first error.
func (d *decoder) fail(err error) {
	if d.err == nil {
		d.left, d.err = nil, err
	}
}

// take returns the next n bytes, without a copy and with their mask; nil when there are
// fewer.
func (d *decoder) take(field string, n uint64) []byte {
	if uint64(len(d.left)) < n {
		d.fail(refuse(field, "the message ends too early"))
		return nil
	}
	out := d.left[:n]
	d.left = d.left[n:]
	return out
}

// uncover copies bytes that were taken to dst and takes their mask off.
func (d *decoder) uncover(dst, taken []byte) {
	if d.mask != nil {
		d.mask.XORKeyStream(dst, taken)
	} else {
		copy(dst, taken)
	}
}

// fixed fills dst.
func (d *decoder) fixed(field string, dst []byte) {
	d.uncover(dst, d.take(field, uint64(len(dst))))
}

func (d *decoder) uint64(field string) uint64 {
	var b [8]byte
	d.fixed(field, b[:])
	if d.err != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

// whole reads a number from 0 to limit, which fits in an int of any machine if
// limit does.
func (d *decoder) whole(field string, limit int) int {
	v := d.uint64(field)
	if v > uint64(limit) {
		d.fail(refuse(field, "%d, at most %d is allowed", v, limit))
		return 0
	}
	return int(v)
}

// items returns the bytes of a slice of items of the given size, which are
// there.
func (d *decoder) items(field string, size int) []byte {
	n := d.uint64(field)
	if n > uint64(len(d.left)/size) {
		d.fail(refuse(field, "%d items in %d bytes", n, len(d.left)))
		return nil
	}
	return d.take(field, n*uint64(size))
}

// bytes returns what the encoder's bytes has written, without a copy. Such a field has
// no mask.
func (d *decoder) bytes(field string) []byte { return d.items(field, 1) }

// decodeSlice reads what encodeSlice has written. Numbers may be NaN or infinite: that is
// for the message to refuse.
func decodeSlice[T number](d *decoder, field string) []T {
	return decodeNumbers[T](d, d.items(field, sizeOf[T]()))
}

// decodeNumbers reads numbers from bytes that were taken.
func decodeNumbers[T number](d *decoder, taken []byte) []T {
	out := make([]T, len(taken)/sizeOf[T]())
	uncoverNumbers(d, out, taken)
	return out
}

// decodeInto fills dst with numbers whose count both sides know.
func decodeInto[T number](d *decoder, field string, dst []T) {
	if taken := d.take(field, uint64(len(dst)*sizeOf[T]())); taken != nil {
		uncoverNumbers(d, dst, taken)
	}
}

func uncoverNumbers[T number](d *decoder, dst []T, taken []byte) {
	memory := bytesOf(dst)
	d.uncover(memory, taken)
	if hostBig {
		for b := range slices.Chunk(memory, sizeOf[T]()) {
			slices.Reverse(b)
		}
	}
}

// done returns the first error, and refuses bytes that no field has taken.
func (d *decoder) done() error {
	if d.err == nil && len(d.left) > 0 {
		d.fail(refuse("", "%d bytes follow the last field", len(d.left)))
	}
	return d.err
}
