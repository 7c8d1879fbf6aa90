package wire

import (
	"encoding/binary"
	"unsafe"
)

// number is what slices in messages are made of.
type number interface {
	int8 | int16 | uint16 | uint32 | float32
}

// hostBig reports whether this machine stores the high byte first. Messages store the
// low byte first.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// bytesOf returns the memory of a slice, not a copy.
func bytesOf[T number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*sizeOf[T]())
}

func sizeOf[T number]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// allFinite reports whether no entry is NaN or infinite.
func allFinite(v []float32) bool {
	// The bits of the exponents, of two numbers in a word: all of them are set in what is not
	// finite, and then one more in the lowest sets the bit of the sign. Otherwise that bit stays 0.
	const exponents, lowest, signs = 0x7f80_0000_7f80_0000, 0x80_0000_0080_0000, 0x8000_0000_8000_0000
	var found uint64
	b := bytesOf(v)
	for ; len(b) >= 32; b = b[32:] {
		found |= binary.NativeEndian.Uint64(b)&exponents + lowest
		found |= binary.NativeEndian.Uint64(b[8:])&exponents + lowest
		found |= binary.NativeEndian.Uint64(b[16:])&exponents + lowest
		found |= binary.NativeEndian.Uint64(b[24:])&exponents + lowest
	}
	for _, x := range v[len(v)-len(b)/4:] {
		if x-x != 0 {
			return false
		}
	}
	return found&signs == 0
}
