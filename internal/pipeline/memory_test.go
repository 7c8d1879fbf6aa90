package pipeline

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func TestReserve(t *testing.T) {
	if rest, err := Reserve(100, 40, "x"); rest != 60 || err != nil {
		t.Errorf("%d, %v", rest, err)
	}
	for _, c := range []struct {
		limit int64
		own   float64
	}{{100, 100}, {100, 1e30}, {math.MaxInt64, mem.AddressSpace}, {math.MaxInt64, math.Inf(1)}} {
		_, err := Reserve(c.limit, c.own, "x")
		var m *kernel.MemoryError
		if !errors.As(err, &m) || m.What != "x" || m.Need < m.Limit || m.Limit > c.limit {
			t.Errorf("%d, %g: %v", c.limit, c.own, err)
		}
	}
}

func TestLabelBytes(t *testing.T) {
	if got := LabelBytes(10, 3, nil); got != 0 {
		t.Errorf("%g bytes for no labels", got)
	}
	labels, err := kernel.NewLabels([]int32{0, 1, 1, 4}, kernel.EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := LabelBytes(4, 2, labels), float64(4*2*8+4*8*2*3+labels.Bytes()); got != want {
		t.Errorf("%g, want %g", got, want)
	}
}
