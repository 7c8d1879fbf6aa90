//go:build cgo

package main

import (
	"errors"
	"math"
	"testing"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

func TestMatricesOfTheCaller(t *testing.T) {
	data := make([]float32, 12)
	p := unsafe.Pointer(&data[0])
	for _, c := range []struct {
		name               string
		data               unsafe.Pointer
		rows, cols, stride int64
		want               error
		entries            int
	}{
		{"all of it", p, 4, 3, 3, nil, 12},
		{"a gap after rows", p, 3, 2, 5, nil, 12},
		{"one row with a long stride", p, 1, 3, 1 << 40, nil, 3},
		{"no rows", nil, 0, 3, 3, nil, 0},
		{"no columns", nil, 3, 0, 0, nil, 0},
		{"NULL", nil, 1, 1, 1, errArgument, 0},
		{"not aligned", unsafe.Add(p, 2), 1, 1, 1, errArgument, 0},
		{"rows below 0", p, -1, 3, 3, points.ErrShape, 0},
		{"columns below 0", p, 1, -3, 3, points.ErrShape, 0},
		{"a short stride", p, 2, 3, 2, points.ErrShape, 0},
		{"a stride below 0", p, 2, 3, -3, points.ErrShape, 0},
		{"too many rows", p, math.MaxInt64, 3, 3, points.ErrShape, 0},
		{"rows that overflow", p, 1<<62 + 1, 4, 4, points.ErrShape, 0},
		{"a stride that overflows", p, 5, 4, math.MaxInt64, points.ErrShape, 0},
		{"columns that overflow", p, 2, math.MaxInt64, math.MaxInt64, points.ErrShape, 0},
		{"one more row than memory", p, 1, math.MaxInt64/4 + 1, math.MaxInt64/4 + 1, points.ErrShape, 0},
		{"rows without columns", p, math.MaxInt64, 0, 0, points.ErrShape, 0},
	} {
		m, err := general(c.data, c.rows, c.cols, c.stride, "x")
		if !errors.Is(err, c.want) || len(m.Data) != c.entries {
			t.Errorf("%s: %v, %d entries, want %v, %d", c.name, err, len(m.Data), c.want, c.entries)
		}
	}
}

// Structs of older headers are shorter, those of newer ones longer.
func TestSizedStructs(t *testing.T) {
	type first struct {
		size uintptr
		a    int64
	}
	type known struct {
		first
		b int64
	}
	type newer struct {
		known
		c int64
	}
	least := unsafe.Sizeof(first{})
	of := func(size uintptr, b, c int64) (known, error) {
		n := newer{known{first{size, 5}, b}, c}
		return sized((*known)(unsafe.Pointer(&n)), least, "pm_x")
	}
	for _, c := range []struct {
		name     string
		size     uintptr
		b, later int64
		want     error
		wantB    int64
	}{
		{"this version", unsafe.Sizeof(known{}), 7, 9, nil, 7},
		{"the first version", least, 7, 9, nil, 0},
		{"a part of a field", least + 4, 7, 0, nil, 7},
		{"a newer one", unsafe.Sizeof(newer{}), 7, 0, nil, 7},
		{"a newer one with something new", unsafe.Sizeof(newer{}), 7, 9, errArgument, 0},
		{"size not set", 0, 7, 9, errArgument, 0},
		{"shorter than the first version", least - 1, 7, 9, errArgument, 0},
		{"garbage", ^uintptr(0), 7, 9, errArgument, 0},
		{"longer than any", maxStruct + 1, 7, 9, errArgument, 0},
	} {
		got, err := of(c.size, c.b, c.later)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		} else if err == nil && (got.a != 5 || got.b != c.wantB) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
