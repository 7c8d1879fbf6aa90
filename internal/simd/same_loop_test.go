package simd

import (
	"reflect"
	"testing"
)

// SameLoop knows every method that computes, by the field it calls.
func TestSameLoopKnowsEveryMethod(t *testing.T) {
	kernels := reflect.TypeFor[*Kernels]()
	for i := range kernels.NumMethod() {
		name := kernels.Method(i).Name
		computes := name != "Level" && name != "Choices" && name != "String" && name != "SameLoop"
		if s := At(Best()); s.SameLoop(s, name) != computes {
			t.Errorf("%s: %v", name, !computes)
		}
	}
	for _, name := range []string{"", "None", "level", "Gather", "éa"} {
		if s := At(Generic); s.SameLoop(s, name) {
			t.Errorf("%q counts as a loop", name)
		}
	}
}

func TestSameLoop(t *testing.T) {
	plain := At(Generic)
	other := *plain
	other.finite = func(x []float32) bool { return finiteGo(x) }
	other.float32s = func(dst []float32, half []uint16) { float32sGo(dst, half) }
	other.mulSparseOffsets16 = nil
	for name, want := range map[string]bool{"Finite": false, "Float32s": false, "GrowBox": true, "MulSparseOffsets": true, "MulSparseOffsets16": false} {
		if plain.SameLoop(&other, name) != want || other.SameLoop(plain, name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	none := new(Kernels)
	if none.SameLoop(plain, "Finite") || !none.SameLoop(none, "MulSparseOffsets16") {
		t.Error("kernels without loops")
	}
}
