package sections

import (
	"encoding/binary"
	"io"
	"unsafe"
)

// Number is a type of numbers in sections.
type Number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// hostBig reports whether this machine stores the high byte first. Files store the low byte
// first.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func sizeOf[T Number]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// bytesOf returns the memory of a slice, not a copy.
func bytesOf[T Number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*sizeOf[T]())
}

// WriteNumbers writes a section of numbers.
func WriteNumbers[T Number](w *Writer, name string, v []T) error {
	return w.Section(name, func(to io.Writer) error { return PutNumbers(to, v) })
}

// PutNumbers writes numbers in the form of a section, for sections that are written in parts.
func PutNumbers[T Number](to io.Writer, v []T) error {
	const atOnce = 1 << 13
	if !hostBig || sizeOf[T]() == 1 {
		_, err := to.Write(bytesOf(v))
		return err
	}
	for len(v) > 0 {
		part := append([]T(nil), v[:min(len(v), atOnce)]...)
		swap(bytesOf(part), sizeOf[T]())
		if _, err := to.Write(bytesOf(part)); err != nil {
			return err
		}
		v = v[len(part):]
	}
	return nil
}

// Numbers returns a section as numbers. The result is a view of the file if this machine stores
// numbers as the file does and they are aligned, and a copy otherwise. A view must not be
// changed, and is invalid after f is closed. The checksum is not compared, since that would
// read the whole section; Verify, VerifyAll and Load do that.
func Numbers[T Number](f *File, name string) ([]T, error) {
	raw, err := f.Raw(name)
	if err != nil {
		return nil, err
	}
	size := sizeOf[T]()
	if len(raw)%size != 0 {
		return nil, failf(f.path, ErrDamaged, "section %q has %d bytes, not a multiple of %d", name, len(raw), size)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	if begin := unsafe.Pointer(&raw[0]); (!hostBig || size == 1) && uintptr(begin)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(begin), len(raw)/size), nil
	}
	out := make([]T, len(raw)/size)
	copy(bytesOf(out), raw)
	if hostBig {
		swap(bytesOf(out), size)
	}
	return out, nil
}

// swap reverses the bytes of numbers of the given size.
func swap(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		for i, j := 0, size-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}
