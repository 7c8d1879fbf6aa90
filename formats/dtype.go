package formats

import (
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"
)

// kind is the type of one stored element.
type kind uint8

const (
	noKind kind = iota
	f2
	f4
	f8
	i1
	i2
	i4
	i8
	u1
	u2
	u4
	u8
)

var kinds = [...]struct {
	size int
	name string
}{
	f2: {2, "float16"}, f4: {4, "float32"}, f8: {8, "float64"},
	i1: {1, "int8"}, i2: {2, "int16"}, i4: {4, "int32"}, i8: {8, "int64"},
	u1: {1, "uint8"}, u2: {2, "uint16"}, u4: {4, "uint32"}, u8: {8, "uint64"},
}

func (k kind) size() int      { return kinds[k].size }
func (k kind) String() string { return kinds[k].name }
func (k kind) float() bool    { return k == f2 || k == f4 || k == f8 }

// descr is the type as in a little-endian .npy file: "<f4", "|u1".
func (k kind) descr() string {
	order := "<"
	if k.size() == 1 {
		order = "|"
	}
	return order + k.String()[:1] + strconv.Itoa(k.size())
}

// dtype is a kind and a byte order. The order of one-byte kinds is always little.
type dtype struct {
	kind kind
	big  bool
}

// hostBig reports whether this machine stores the high byte first.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// float is the type of numbers in matrices, element the type that arrays are decoded to and
// encoded from.
type (
	float   interface{ float32 | float64 }
	element interface {
		float | uint8 | uint16 | int32 | int64 | uint32 | uint64
	}
	number interface {
		element | int8 | int16
	}
)

// native is the dtype whose bytes in a file are those of a T in memory.
func native[T element]() dtype {
	var zero T
	var k kind
	switch any(zero).(type) {
	case float32:
		k = f4
	case float64:
		k = f8
	case int32:
		k = i4
	case int64:
		k = i8
	case uint8:
		k = u1
	case uint16:
		k = u2
	case uint32:
		k = u4
	case uint64:
		k = u8
	}
	return dtype{k, hostBig && k.size() > 1}
}

// asBytes returns the memory of data.
func asBytes[T element](data []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

// swap reverses the bytes of every element of the given size in raw.
func swap(raw []byte, size int) {
	for ; len(raw) >= size; raw = raw[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			raw[i], raw[j] = raw[j], raw[i]
		}
	}
}

// newScratch returns a buffer of n bytes in which elements of any kind are aligned.
func newScratch(n int) []byte { return asBytes(make([]uint64, (n+7)/8))[:n] }

// view returns the first n elements of raw, which must be aligned for S and long enough.
func view[S number](raw []byte, n int) []S {
	return unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(raw))), n)
}

// decode converts len(dst) elements of kind k from the start of raw, a scratch buffer in the byte
// order of this machine. It returns the index of the first one that T cannot hold, or -1 when all
// fit. Integers become floats by rounding to nearest; a float64 may be rounded to float32 but a
// finite one may not become infinite; integers keep their value or do not fit.
func decode[T element](dst []T, raw []byte, k kind) int {
	n := len(dst)
	switch k {
	case f2:
		for i, h := range view[uint16](raw, n) {
			dst[i] = T(float16(h))
		}
		return -1
	case f4:
		return convert(dst, view[float32](raw, n))
	case f8:
		return convert(dst, view[float64](raw, n))
	case i1:
		return convert(dst, view[int8](raw, n))
	case i2:
		return convert(dst, view[int16](raw, n))
	case i4:
		return convert(dst, view[int32](raw, n))
	case i8:
		return convert(dst, view[int64](raw, n))
	case u1:
		return convert(dst, view[uint8](raw, n))
	case u2:
		return convert(dst, view[uint16](raw, n))
	case u4:
		return convert(dst, view[uint32](raw, n))
	default:
		return convert(dst, view[uint64](raw, n))
	}
}

// convert copies src to dst, up to the first value that does not fit.
func convert[T element, S number](dst []T, src []S) int {
	if isFloat[T]() && (!isFloat[S]() || unsafe.Sizeof(T(0)) >= unsafe.Sizeof(S(0))) { // all do
		for i, v := range src {
			dst[i] = T(v)
		}
		return -1
	}
	for i, v := range src {
		if !fits[T](v) {
			return i
		}
		dst[i] = T(v)
	}
	return -1
}

func isFloat[T number]() bool { return T(1)/2 != 0 }

// fits reports whether v may become a T under the rules of decode.
func fits[T element, S number](v S) bool {
	w := T(v)
	if isFloat[T]() {
		return !math.IsInf(float64(w), 0) || math.IsInf(float64(v), 0)
	}
	return S(w) == v && (w < 0) == (v < 0)
}
