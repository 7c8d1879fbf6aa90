package wire

import (
	"encoding/binary"
	"unsafe"
)

// number is what slices in messages are made of.
type number interface {
	int32 | int64 | uint32 | float32 | float64
}

// hostBig tells whether this machine stores the high byte first. Messages store the
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

// allFinite tells whether no entry is NaN or infinite.
func allFinite[T float32 | float64](v []T) bool {
	// x - x is 0 or NaN, and a sum with NaN is NaN. Four sums do not wait for each other.
	var a, b, c, d T
	for ; len(v) >= 4; v = v[4:] {
		a += v[0] - v[0]
		b += v[1] - v[1]
		c += v[2] - v[2]
		d += v[3] - v[3]
	}
	for _, x := range v {
		a += x - x
	}
	return a+b+c+d == 0
}
