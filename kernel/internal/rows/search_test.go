package rows_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Allocate counts more than 2^32 weights without overflow, and refuses them.
func TestAllocateMoreThan32BitsOfWeights(t *testing.T) {
	counts := []uint64{0, 1 << 31, 1 << 31, 1 << 31, 5}
	r := &rows.Request{Memory: 1 << 30}
	_, err := r.Allocate(t.Context(), counts, 1000)
	var m *rows.MemoryError
	if !errors.As(err, &m) {
		t.Fatalf("err = %v", err)
	}
	if want := int64(8*(3<<31+5) + 8*5 + 1000); m.Need != want {
		t.Errorf("need %d bytes, want %d", m.Need, want)
	}
	if counts[4] != 3<<31+5 {
		t.Errorf("row pointers %v", counts)
	}
	if _, err := r.Allocate(t.Context(), []uint64{0, math.MaxUint64 / 2}, 0); !errors.As(err, &m) {
		t.Errorf("err = %v", err)
	}
	// Also where the memory is all that a machine may have.
	r.Memory = mem.AddressSpace - 1
	if _, err := r.Allocate(t.Context(), []uint64{0, mem.AddressSpace / 4}, 0); !errors.As(err, &m) {
		t.Errorf("err = %v", err)
	}
}

// Allocate refuses a matrix that needs one byte more than there is.
func TestAllocateWithinMemory(t *testing.T) {
	for _, c := range []struct {
		layout sparse.Layout
		need   int64
	}{
		// 10 weights and a row are 96 bytes, and 1000 bytes are held.
		{sparse.Auto, 1096},
		{sparse.Plain, 1096},
		// To convert them takes 34 bytes more.
		{sparse.Compact, 1130},
	} {
		for _, less := range []int64{0, 1} {
			r := &rows.Request{Memory: c.need - less, Layout: c.layout}
			a, err := r.Allocate(t.Context(), []uint64{0, 10}, 1000)
			var m *rows.MemoryError
			if refused := errors.As(err, &m); refused != (less > 0) || !refused && err != nil {
				t.Errorf("%v, %d bytes: err = %v", c.layout, r.Memory, err)
			} else if refused && m.Need != c.need || !refused && (len(a.Ind) != 10 || len(a.Val) != 10) {
				t.Errorf("%v, %d bytes: %+v, %v", c.layout, r.Memory, a, err)
			}
		}
	}
}
