package mem

import "testing"

func TestView(t *testing.T) {
	ids := make([]int64, 3)
	far := View[float64](ids)
	far[1] = 1
	if len(far) != 3 || ids[1] != 0x3ff0000000000000 || ids[0] != 0 || ids[2] != 0 {
		t.Errorf("%v, %v", far, ids)
	}
	short := make([]float32, 2)
	View[uint32](short)[0] = 0x3f800000
	if short[0] != 1 || short[1] != 0 {
		t.Errorf("%v", short)
	}
	if View[float64](short) != nil || View[uint32]([]float32(nil)) != nil || View[uint32]([]float32{}) != nil {
		t.Error("a view of another size, or of nothing")
	}
}
