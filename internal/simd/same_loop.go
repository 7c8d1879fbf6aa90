package simd

import (
	"reflect"
	"strings"
)

// SameLoop reports whether a method, given by its name, runs the same loop in both kernels:
// most loops are shared by several levels. Benchmarks use it, so that they do not find a
// loop slower than itself by chance. For a name without a method it returns false.
func (s *Kernels) SameLoop(other *Kernels, method string) bool {
	if method == "" {
		return false
	}
	names := []string{strings.ToLower(method[:1]) + method[1:]} // fields are named for methods
	if method == "MulSparseOffsets16" {                         // the methods it combines
		names = append(names, "mulSparseOffsets", "float32s")
	}
	a, b := reflect.ValueOf(s).Elem(), reflect.ValueOf(other).Elem()
	for _, name := range names {
		x, y := a.FieldByName(name), b.FieldByName(name)
		if x.Kind() != reflect.Func || x.Pointer() != y.Pointer() {
			return false
		}
	}
	return true
}
