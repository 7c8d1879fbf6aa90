//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"fmt"
	"math"
	"unicode/utf8"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// nowhere is the replacement of an invalid address, as in shim.h.
func nowhere() unsafe.Pointer { return unsafe.Pointer(&C.pmc_nowhere) }

// isNowhere reports whether the pointer in a struct of the caller is an invalid address.
func isNowhere(field unsafe.Pointer) bool {
	at := *(*uintptr)(field)
	return at != 0 && at < C.PMC_NOWHERE
}

// pointerAt returns the pointer in a struct of the caller, as pmc_array of shim.h does.
func pointerAt(field unsafe.Pointer) unsafe.Pointer {
	if isNowhere(field) {
		return nowhere()
	}
	return *(*unsafe.Pointer)(field)
}

// rowsOf returns rows of the caller, without a copy. name is for messages.
func rowsOf(x *C.pm_rows, name string) (blas32.General, error) {
	if x == nil {
		return blas32.General{}, argument("%s is NULL", name)
	}
	return general(pointerAt(unsafe.Pointer(&x.data)), int64(x.rows), int64(x.cols), int64(x.stride), name)
}

// given returns rows that the caller has passed, even if their number is 0: the engine would
// treat rows without memory as missing, and replace them by others.
func given(x blas32.General) blas32.General {
	if x.Data == nil {
		x.Data = []float32{}
	}
	return x
}

// matrixOf returns a matrix to write. It has entries, since the engine treats a matrix
// without entries as missing.
func matrixOf(x *C.pm_matrix, name string) (blas32.General, error) {
	if x == nil {
		return blas32.General{}, argument("%s is NULL", name)
	}
	m, err := general(pointerAt(unsafe.Pointer(&x.data)), int64(x.rows), int64(x.cols), int64(x.stride), name)
	if err == nil && (m.Rows == 0 || m.Cols == 0) {
		err = fmt.Errorf("%s: %w: %d rows of %d columns", name, points.ErrShape, m.Rows, m.Cols)
	}
	return m, err
}

// general returns a matrix in the caller's memory. It refuses impossible sizes before
// anything is read.
func general(data unsafe.Pointer, rows, cols, stride int64, name string) (m blas32.General, err error) {
	const most = math.MaxInt / 4 // entries that can be addressed
	switch {
	case rows < 0 || cols < 0:
		return m, fmt.Errorf("%s: %w: %d rows of %d columns", name, points.ErrShape, rows, cols)
	case stride < cols:
		return m, fmt.Errorf("%s: %w: a stride of %d for %d columns", name, points.ErrShape, stride, cols)
	case stride > most || rows > 1 && stride > 0 && rows-1 > (most-cols)/stride:
		return m, fmt.Errorf("%s: %w: %d rows with a stride of %d are more than memory can hold", name, points.ErrShape, rows, stride)
	case rows > most: // without columns
		return m, fmt.Errorf("%s: %w: %d rows", name, points.ErrShape, rows)
	}
	m = blas32.General{Rows: int(rows), Cols: int(cols), Stride: int(stride)}
	if rows == 0 || cols == 0 {
		return m, nil
	}
	entries := (rows-1)*stride + cols
	m.Data, err = array((*float32)(data), entries, name+".data")
	return m, err
}

// array returns the given number of entries of the caller's memory. It refuses NULL and
// memory that is not aligned for them. Without entries it returns nil.
func array[T any](data *T, entries int64, name string) ([]T, error) {
	var entry T
	size, align := int64(unsafe.Sizeof(entry)), uintptr(unsafe.Alignof(entry))
	switch {
	case entries < 0 || entries > math.MaxInt/size:
		return nil, fmt.Errorf("%s: %w: %d entries", name, points.ErrShape, entries)
	case entries == 0:
		return nil, nil
	case data == nil:
		return nil, argument("%s is NULL", name)
	case unsafe.Pointer(data) == nowhere():
		return nil, argument("%s is not an address of an array", name)
	case uintptr(unsafe.Pointer(data))%align != 0:
		return nil, argument("%s is not aligned to %d bytes", name, align)
	}
	return unsafe.Slice(data, entries), nil
}

// labelsOf returns the labels of the given number of rows, nil for NULL.
func labelsOf(labels *C.int32_t, rows int) ([]int32, error) {
	if labels == nil {
		return nil, nil
	}
	return array((*int32)(labels), int64(rows), "labels")
}

// maxText bounds texts of the caller: names, paths, units.
const maxText = 1 << 16

// textOf returns a text of the caller, "" for NULL. It refuses one that is too long or not
// UTF-8.
func textOf(text *C.char, name string) (string, error) {
	if text == nil {
		return "", nil
	}
	n := C.pmc_length(text, maxText)
	if n == maxText {
		return "", argument("%s is longer than %d bytes", name, maxText)
	}
	s := C.GoStringN(text, C.int(n))
	if !utf8.ValidString(s) {
		return "", argument("%s is not UTF-8", name)
	}
	return s, nil
}

// giveText writes a text with a NUL at its end to a buffer of the caller, if it fits, and
// sets needed to its size.
func giveText(text []byte, buffer *C.char, size C.size_t, needed *C.size_t) error {
	return giveBytes(append(text[:len(text):len(text)], 0), unsafe.Pointer(buffer), size, needed)
}

// giveBytes writes bytes to a buffer of the caller, if they fit, and sets needed to their
// number. With a buffer of NULL and 0 bytes it only sets needed.
func giveBytes(bytes []byte, buffer unsafe.Pointer, size C.size_t, needed *C.size_t) error {
	if err := checkNeeded(buffer, size, needed); err != nil {
		return err
	}
	*needed = C.size_t(len(bytes))
	switch {
	case buffer == nil && size == 0:
		return nil
	case buffer == nil:
		return argument("buffer is NULL but its size is not 0")
	case buffer == nowhere() && size > 0:
		return argument("buffer is not an address of an array")
	case int64(len(bytes)) > int64(size) && int64(size) >= 0:
		return fmt.Errorf("%w: %d bytes, want %d", errSize, size, len(bytes))
	}
	copy(unsafe.Slice((*byte)(buffer), len(bytes)), bytes)
	return nil
}

// checkNeeded refuses a missing place for the size, or one within the buffer.
func checkNeeded(buffer unsafe.Pointer, size C.size_t, needed *C.size_t) error {
	if needed == nil {
		return argument("needed is NULL")
	}
	if _, err := array(needed, 1, "needed"); err != nil {
		return err
	}
	whole := span{"buffer", uintptr(buffer), uintptr(buffer) + uintptr(size)}
	if buffer != nil && whole.begin <= whole.end && whole.meets(spanOf("needed", unsafe.Slice(needed, 1))) {
		return overlapping("needed", "buffer")
	}
	return nil
}

// A number is a result of a function that returns sizes, and where to write it, nil for nowhere.
type number struct {
	name  string
	to    *C.int64_t
	value int
}

// giveNumbers writes the results that the caller has asked for.
func giveNumbers(numbers ...number) error {
	var written []span
	for _, n := range numbers {
		to, err := wanted((*int64)(n.to), 1, n.name)
		if err != nil {
			return err
		}
		written = append(written, spanOf(n.name, to))
	}
	if err := checkOverlap(written, nil); err != nil {
		return err
	}
	for _, n := range numbers {
		if n.to != nil {
			*n.to = C.int64_t(n.value)
		}
	}
	return nil
}

// maxStruct bounds struct_size: every version of a struct is smaller.
const maxStruct = 1 << 12

// sized returns a copy of a struct whose first field is its size in the caller's header. The
// struct may come from an older header: least is its size in the first version, and missing
// fields are zero. It may come from a newer header if no field is set that this library does
// not know. arrays are offsets of pointers to arrays: an invalid address becomes NULL in the
// copy.
func sized[T any](p *T, least uintptr, name string, arrays ...uintptr) (out T, err error) {
	if uintptr(unsafe.Pointer(p))%unsafe.Alignof(out) != 0 {
		return out, argument("%s is not aligned", name)
	}
	size, known := *(*uintptr)(unsafe.Pointer(p)), unsafe.Sizeof(out)
	if size < least || size > maxStruct {
		return out, argument("%s->struct_size is %d, want %d; set it to sizeof(%s)", name, size, known, name)
	}
	theirs := unsafe.Slice((*byte)(unsafe.Pointer(p)), size)
	for _, b := range theirs[min(known, size):] {
		if b != 0 {
			return out, argument("%s comes from a newer header and has fields that this library does not know", name)
		}
	}
	ours, from := unsafe.Slice((*byte)(unsafe.Pointer(&out)), known), uintptr(0)
	for _, at := range arrays {
		if next := at + unsafe.Sizeof(at); next <= size && isNowhere(unsafe.Pointer(&theirs[at])) {
			copy(ours[from:at], theirs[from:])
			from = next
		}
	}
	copy(ours[from:], theirs[from:])
	return out, nil
}
